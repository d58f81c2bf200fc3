// The history of a strategy for a report: its trades, oldest first, and the incomes of a range.
// Everything committed up to a version of an account is numbered below the account's next numbers and never
// changes. So one read of the account decides what belongs to a report, and trades need to be read only once:
// those of recent strategies are cached, at most `TRADES_KEPT_MAX` of all together. Long histories are read a
// page at a time, with other work in between, since an embedded database answers without yielding.
import { setImmediate } from "node:timers/promises";
import type { Account } from "../domain/account.ts";
import type { Income } from "../domain/income.ts";
import type { Trade } from "../domain/order.ts";
import type { TradingStore } from "../store/ports/trading.ts";

/** Maximum of trades in a report: the oldest are left out. */
export const TRADES_PER_REPORT_MAX = 50_000;
const TRADES_KEPT_MAX = 100_000;
const PAGE = 1_000;

export type Trades = {
  /** In the order of their ids; their times do not descend. */
  readonly trades: readonly Trade[];
  /** Whether they begin with the first. */
  readonly isWhole: boolean;
};

type HistoryStore = Pick<TradingStore, "listTradedSymbols" | "listTrades" | "listIncomes">;

export class TradeHistory {
  readonly #store: HistoryStore;
  /** The last used are last. */
  readonly #kept = new Map<string, readonly Trade[]>();
  #keptCount = 0;

  constructor(store: HistoryStore) {
    this.#store = store;
  }

  /** The trades of an account up to its present state; the newest `max`. */
  async trades({ strategyId, nextTradeId }: Account, max: number): Promise<Trades> {
    const first = Math.max(1, nextTradeId - max);
    const kept = this.#kept.get(strategyId) ?? [];
    const isKeptEnough = (kept[0]?.tradeId ?? Number.POSITIVE_INFINITY) <= first;
    const known = isKeptEnough ? kept : [];
    const from = (known.at(-1)?.tradeId ?? first - 1) + 1;
    const read = from < nextTradeId ? await this.#read(strategyId, from, nextTradeId) : [];
    const all = read.length === 0 ? known : inOrderOfTime([...known, ...read]);
    this.#keep(strategyId, all);
    // A concurrent caller may have read further.
    const trades = all.filter(({ tradeId }) => tradeId >= first && tradeId < nextTradeId);
    return { trades, isWhole: first === 1 };
  }

  async #read(strategyId: string, from: number, until: number): Promise<readonly Trade[]> {
    const found: Trade[] = [];
    for (const symbol of await this.#store.listTradedSymbols(strategyId)) {
      for (let fromTradeId = from; fromTradeId < until; ) {
        const page = await this.#store.listTrades(strategyId, { symbol, fromTradeId, limit: PAGE });
        found.push(...page.filter(({ tradeId }) => tradeId < until));
        if (page.length < PAGE) break;
        fromTradeId = (page.at(-1)?.tradeId ?? until) + 1;
        await setImmediate();
      }
    }
    return found.sort((one, other) => one.tradeId - other.tradeId);
  }

  #keep(strategyId: string, trades: readonly Trade[]): void {
    this.#forget(strategyId);
    this.#kept.set(strategyId, trades);
    this.#keptCount += trades.length;
    for (const [oldest] of this.#kept) {
      if (this.#keptCount <= TRADES_KEPT_MAX) return;
      this.#forget(oldest);
    }
  }

  #forget(strategyId: string): void {
    this.#keptCount -= this.#kept.get(strategyId)?.length ?? 0;
    this.#kept.delete(strategyId);
  }

  /**
   * The incomes of an account since a time, up to its present state, in order of time; those of trades at the
   * trades' time.
   */
  async incomes(
    { strategyId, nextIncomeId }: Account,
    startTime: number,
    trades: readonly Trade[],
  ): Promise<readonly Income[]> {
    const found = new Map<number, Income>();
    let from = { startTime, offset: 0 };
    for (;;) {
      const page = await this.#store.listIncomes(strategyId, { ...from, limit: PAGE });
      for (const income of page) if (income.incomeId < nextIncomeId) found.set(income.incomeId, income);
      if (page.length < PAGE) break;
      // From the last time on, which comes twice and is the same: to pass over rows takes as long as to read
      // them. Of more at one time than a page holds they are passed over, and one that is booked late shifts
      // those after it.
      const lastTime = page.at(-1)?.at ?? from.startTime;
      from =
        lastTime > from.startTime
          ? { startTime: lastTime, offset: 0 }
          : { startTime: lastTime, offset: from.offset + PAGE };
      await setImmediate();
    }
    const times = new Map(trades.map(({ tradeId, at }) => [tradeId, at]));
    return [...found.values()]
      .map((income) => ({ ...income, at: times.get(income.tradeId ?? 0) ?? income.at }))
      .sort((one, other) => one.at - other.at);
  }
}

/**
 * A clock that was set back, or that of another server, must not confuse the order: that is the order of ids.
 */
function inOrderOfTime(trades: readonly Trade[]): readonly Trade[] {
  let latest = 0;
  return trades.map((trade) => {
    latest = Math.max(latest, trade.at);
    return trade.at === latest ? trade : { ...trade, at: latest };
  });
}
