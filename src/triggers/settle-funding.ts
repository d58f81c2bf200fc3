// Applies a settlement of funding: one command for every strategy that holds the contract or held it before.
// The engine decides what was held at the settlement's time. The command's key gives a settlement its effect
// once, however often and by however many servers it is applied.
import type { Logger } from "pino";
import type { Desk, Executed } from "../desk/desk.ts";
import { fundingKey } from "../domain/command.ts";
import type { Settlement } from "../domain/market.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";

/**
 * The outcomes of a settlement by strategy, and whether all strategies have it; if not, it is to be applied
 * again.
 */
export type Settled = { readonly outcomes: ReadonlyMap<string, Executed>; readonly isComplete: boolean };

/** Strategies that are settled at once, few enough that requests run in between. */
const ROUND_MAX = 200;

/**
 * Rejections that may be different next time; any other means that the settlement does not concern the
 * strategy.
 */
const TRANSIENT: readonly Refusal["refusal"][] = ["BUSY", "MARKET_SILENT"];

/** Applies a settlement to these strategies. */
export async function settleFunding(
  settlement: Settlement,
  strategies: readonly string[],
  { desk, log }: { readonly desk: Pick<Desk, "execute">; readonly log: Pick<Logger, "error"> },
): Promise<Settled> {
  const outcomes = new Map<string, Executed>();
  let isComplete = true;
  const settleFor = async (strategyId: string) => {
    try {
      const key = fundingKey(settlement);
      const outcome = await desk.execute(strategyId, { type: "SettleFunding", settlement }, { key });
      if (!isRefusal(outcome)) outcomes.set(strategyId, outcome);
      else if (TRANSIENT.includes(outcome.refusal)) isComplete = false;
    } catch (error) {
      // A failed commit stops the process; any other error may be transient.
      const { symbol, fundingTime } = settlement;
      log.error(
        { err: error, strategyId, symbol, fundingTime },
        "a settlement of funding could not be committed",
      );
      isComplete = false;
    }
  };
  for (let first = 0; first < strategies.length; first += ROUND_MAX) {
    await Promise.all(strategies.slice(first, first + ROUND_MAX).map(settleFor));
  }
  return { outcomes, isComplete };
}
