// Futures strategies on a fixture, and their state in words that a test can compare. A long of 1 BTC that was
// bought at 100 with the leverage of 20 is liquidated at 95.43: its wallet is 5 less the fee of 0.05, its
// maintenance margin 0.4 % of its value.
import type { StrategyType } from "../../domain/account.ts";
import type { Settlement } from "../../domain/market.ts";
import type { PriceRange } from "../../market/feed.ts";
import { decimal, formatDecimal, type Price, type Rate } from "../../money/decimal.ts";
import type { Store } from "../../store/store.ts";
import { START } from "./fixture.ts";

export const FUTURES: { readonly type: StrategyType } = { type: "FUTURES" };

export const MINUTE = 60_000;

/**
 * A strategy's state in BTC: its holding, the status of its legs, and the type of the order that closed its
 * position.
 */
export async function standingOf(store: Store, strategyId: string) {
  const position = (await store.loadAccount(strategyId))?.account.positions.get("BTCUSDT");
  const legs = await store.listLegs(strategyId, { symbol: "BTCUSDT", limit: 10 });
  const orders = await store.listOrders(strategyId, { symbol: "BTCUSDT", limit: 10 });
  const closing = orders.filter(({ type, closesPosition }) => type === "LIQUIDATION" || closesPosition);
  return {
    holds: position === undefined ? "0" : formatDecimal(position.quantity),
    stop: legs.find(({ type }) => type === "STOP_MARKET")?.status ?? null,
    profit: legs.find(({ type }) => type === "TAKE_PROFIT_MARKET")?.status ?? null,
    closedBy: closing.map(({ type }) => type),
  };
}

/** What a strategy has paid (negative) or received by funding, oldest first. */
export async function fundingOf(store: Store, strategyId: string): Promise<string[]> {
  const incomes = await store.listIncomes(strategyId, { type: "FUNDING_FEE", offset: 0, limit: 100 });
  return incomes.map(({ amount }) => formatDecimal(amount));
}

/** A minute's candle of prices, counted from the first full minute after the start. */
export function minute(number: number, lowest: string, highest: string): PriceRange {
  const from = minuteAt(number);
  return { from, to: from + MINUTE - 1, lowest: decimal(lowest), highest: decimal(highest) };
}

/** When a minute after the start begins, market time, Unix ms. */
export function minuteAt(number: number): number {
  return Math.ceil(START / MINUTE) * MINUTE + number * MINUTE;
}

/** A settlement of BTC at a mark price of 100 by default: a long of 1 pays the rate times that. */
export function settlementAt(
  fundingTime: number,
  rate: string,
  { symbol = "BTCUSDT", mark = "100" }: { readonly symbol?: string; readonly mark?: string } = {},
): Settlement {
  return { symbol, fundingTime, rate: decimal<Rate>(rate), markPrice: decimal<Price>(mark) };
}
