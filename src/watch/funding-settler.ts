// A settlement of funding, applied: a command to every strategy that holds the contract or held it before. What was held at
// the settlement's time the engine decides. The key of the command lets a settlement have its effect once, however often
// and by however many servers it is applied.
import type { Logger } from "pino";
import type { Desk, Executed } from "../desk/desk.ts";
import { fundingKey } from "../domain/command.ts";
import type { Settlement } from "../domain/market.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { Holders } from "./holders.ts";

/** What a settlement did, by strategy, and whether all of them have it now: else it is to be applied again. */
export type Settled = { readonly outcomes: ReadonlyMap<string, Executed>; readonly isComplete: boolean };

/** Strategies that are settled side by side: requests shall get their turns between them. */
const ROUND_MAX = 200;

/** Refusals that may be different the next time; any other says that the settlement does not concern the strategy. */
const PASSING: readonly Refusal["refusal"][] = ["BUSY", "MARKET_SILENT"];

export class FundingSettler {
  readonly #desk: Pick<Desk, "execute">;
  readonly #holders: Pick<Holders, "of">;
  readonly #ask: (strategyId: string) => void;
  readonly #log: Pick<Logger, "error">;

  constructor(parts: {
    desk: Pick<Desk, "execute">;
    holders: Pick<Holders, "of">;
    /** Asked to have it told how a strategy stands: another server has settled it. */
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
      // A failed commit has the process stopped; anything else may mend.
      const { symbol, fundingTime } = settlement;
      this.#log.error(
        { err: error, strategyId, symbol, fundingTime },
        "a settlement of funding could not be committed",
      );
      return null;
    }
  }
}
