import { queryOptions } from "@tanstack/react-query";
import type { StrategyShape } from "../../../src/dashboard/shapes.ts";
import { call } from "./call.ts";

/** All strategies of the person, for their list and for whatever names one. Invalidate ["strategies"] after changing any. */
export const strategiesQuery = queryOptions({
  queryKey: ["strategies"],
  queryFn: () => call<{ readonly rows: readonly StrategyShape[] }>("GET", "/strategies"),
});
