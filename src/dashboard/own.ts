// What a route is about must be the caller's own. Somebody else's is not found, the same as one that there is not.
import type { OwnedStrategy } from "../store/people-store.ts";
import { DashboardError } from "./errors.ts";
import { type DashboardCall, personOf } from "./route.ts";

/** The strategy that `:strategyId` names, of whatever status. Throws NOT_FOUND unless it is the caller's. */
export async function ownStrategy(
  call: Pick<DashboardCall, "parts" | "params" | "signedIn">,
): Promise<OwnedStrategy> {
  const { strategyId = "" } = call.params;
  const strategy = await call.parts.gateway.store.people.findStrategy(strategyId);
  if (strategy === null || strategy.ownerId !== personOf(call).personId)
    throw new DashboardError("NOT_FOUND");
  return strategy;
}
