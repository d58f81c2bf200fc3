// What the order desk refuses, in the dashboard's words.
import type { Executed } from "../desk/desk.ts";
import { isRefusal, type Refusal, type RefusalName } from "../domain/refusal.ts";
import { wireError } from "../http/refusals.ts";
import { DashboardError } from "./errors.ts";

const UNAVAILABLE_MIN = 500;

type Words = { readonly message: string; readonly action: string };

const NOT_OPEN: Words = {
  message: "It is no longer open.",
  action: "Reload the page: it was filled, triggered or canceled in the meantime.",
};

/**
 * What is refused because the strategy is no longer as the page has shown it: all that cancelling and closing
 * may be refused with.
 */
const CHANGED: { readonly [Name in RefusalName]?: Words } = {
  ORDER_NOT_OPEN: NOT_OPEN,
  ORDER_UNKNOWN: NOT_OPEN,
  STRATEGY_CLOSED: {
    message: "The strategy is closed.",
    action: "There is nothing left to do. Its history stays available.",
  },
  STRATEGY_NOT_LIVE: {
    message: "The strategy is closed, or is being closed.",
    action: "Reload the page: open orders are canceled when a strategy closes.",
  },
};

/** What was carried out. Throws STATE_CHANGED, BUSY, or REFUSED_BY_ENGINE with the desk's own reason. */
export function carriedOut(executed: Executed | Refusal): Executed {
  if (!isRefusal(executed)) return executed;
  const words = CHANGED[executed.refusal];
  if (words !== undefined) throw new DashboardError("STATE_CHANGED", words);
  const { status, msg } = wireError(executed);
  if (status >= UNAVAILABLE_MIN) throw new DashboardError("BUSY");
  throw new DashboardError("REFUSED_BY_ENGINE", { message: msg });
}
