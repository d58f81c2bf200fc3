// Applies a settlement of funding: one command for every strategy that holds the contract or held it before.
// The engine decides what was held at the settlement's time. The command's key gives a settlement its effect
// once, however often and by however many servers it is applied.
import type { Logger } from "pino";
import type { Desk, Executed } from "../desk/desk.ts";
import { fundingKey } from "../domain/command.ts";
import type { Settlement } from "../domain/market.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { PositionIndex } from "./position-index.ts";

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
const PASSING: readonly Refusal["refusal"][] = ["BUSY", "MARKET_SILENT"];

export class FundingSettler {
  readonly #desk: Pick<Desk, "execute">;
  readonly #holders: Pick<PositionIndex, "of">;
  readonly #ask: (strategyId: string) => void;
  readonly #log: Pick<Logger, "error">;

  constructor(parts: {
    desk: Pick<Desk, "execute">;
    holders: Pick<PositionIndex, "of">;
    /** Loads a strategy's state: another server has settled it. */
    ask: (strategyId: string) => void;
    log: Pick<Logger, "error">;
  }) {
    this.#desk = parts.desk;
    this.#holders = parts.holders;
    this.#ask = parts.ask;
    this.#log = parts.log;
  }

  async settle(settlement: Settlement): Promise<Settled> {
    const outcomes = new Map<string, Executed>();
    let isComplete = true;
    const settleFor = async (strategyId: string) => {
      const outcome = await this.#settleFor(strategyId, settlement);
      if (outcome === null || (isRefusal(outcome) && PASSING.includes(outcome.refusal))) isComplete = false;
      else if (!isRefusal(outcome)) outcomes.set(strategyId, outcome);
    };
    const holders = this.#holders.of(settlement.symbol);
    for (let first = 0; first < holders.length; first += ROUND_MAX) {
      await Promise.all(holders.slice(first, first + ROUND_MAX).map(settleFor));
    }
    return { outcomes, isComplete };
  }

  /** Null if it could not be committed. */
  async #settleFor(strategyId: string, settlement: Settlement): Promise<Executed | Refusal | null> {
    try {
      const key = fundingKey(settlement);
      const outcome = await this.#desk.execute(strategyId, { type: "SettleFunding", settlement }, { key });
      if (!isRefusal(outcome) && outcome.replayed) this.#ask(strategyId);
      return outcome;
    } catch (error) {
      // A failed commit stops the process; any other error may be transient.
      const { symbol, fundingTime } = settlement;
      this.#log.error(
        { err: error, strategyId, symbol, fundingTime },
        "a settlement of funding could not be committed",
      );
      return null;
    }
  }
}
