import { queryOptions } from "@tanstack/react-query";
import type { KeyShape } from "../../../src/dashboard/shapes.ts";
import { call } from "./call.ts";

/** All API keys of the person, the revoked ones as well. Invalidate ["keys"] after changing any. */
export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: () => call<{ readonly rows: readonly KeyShape[] }>("GET", "/keys"),
});
