// What the order desk refuses, in the dashboard's words.
import type { Executed } from "../desk/desk.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import { wireError } from "../http/refusals.ts";
import { DashboardError } from "./errors.ts";

const UNAVAILABLE_MIN = 500;

/** What was carried out. Throws STATE_CHANGED, BUSY, or REFUSED_BY_ENGINE with the desk's own reason. */
export function carriedOut(executed: Executed | Refusal): Executed {
  if (!isRefusal(executed)) return executed;
  const { refusal } = executed;
  if (refusal === "ORDER_NOT_OPEN" || refusal === "ORDER_UNKNOWN") {
    throw new DashboardError("STATE_CHANGED", { message: "It is not open any more." });
  }
  if (refusal === "STRATEGY_CLOSED" || refusal === "STRATEGY_NOT_LIVE") {
    throw new DashboardError("STATE_CHANGED", { message: "The strategy is closed." });
  }
  const { status, msg } = wireError(executed);
  if (status >= UNAVAILABLE_MIN) throw new DashboardError("BUSY");
  throw new DashboardError("REFUSED_BY_ENGINE", { message: msg });
}
