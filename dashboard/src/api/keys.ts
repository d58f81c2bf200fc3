import { queryOptions } from "@tanstack/react-query";
import type { KeyShape } from "../../../src/dashboard/shapes.ts";
import { call } from "./call.ts";

/** Whether a key can be bound to a strategy: it is live, and manages none or one that is closed. */
export function isFreeKey({ revokedAt, strategy }: Pick<KeyShape, "revokedAt" | "strategy">): boolean {
  return revokedAt === null && (strategy === null || strategy.status === "CLOSED");
}

/** All API keys of the person, the revoked ones as well. Invalidate ["keys"] after changing any. */
export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: () => call<{ readonly rows: readonly KeyShape[] }>("GET", "/keys"),
});
