// A bot's orders on the recorded market, and their expected states by the oracle.

import { expect } from "vitest";
import type { SeededStrategy } from "../../src/keys/seed.ts";
import type { Tape } from "../../src/market/tape/open.ts";
import { decimal, formatDecimal } from "../../src/money/decimal.ts";
import { eventual, type Life } from "./fixture.ts";
import { type Fate, fateHeard, type Terms } from "./oracle.ts";
import { countUntil, type Message, SYMBOL } from "./recorded.ts";

/**
 * Worth more than the smallest notional that the pair allows, and a thirtieth of what a strategy begins with.
 */
const QUANTITY = "0.0001";

type State = {
  readonly status: string;
  /** Market time, Unix ms; -1 for a stop before its trigger. */
  readonly workingAt: number;
  readonly fill: { readonly at: number; readonly price: string } | null;
};

/** An order whose course is followed. */
export type Followed = {
  readonly strategy: SeededStrategy;
  readonly orderId: number;
  /** What it waits for now. */
  terms: Terms;
  /** Since when it waits for that, market time in Unix ms. */
  since: number;
  /** Its expected state. */
  wanted: State;
};

/** Places an order that the market does not meet yet; it has to wait. */
export async function placeOrder(life: Life, strategy: SeededStrategy, terms: Terms): Promise<Followed> {
  const order = await life.call(strategy, "POST", "/api/v3/order", parametersOf(terms));
  const since = life.market.now();
  const workingAt = terms.stop === null ? since : -1;
  const followed = {
    strategy,
    orderId: order.orderId,
    terms,
    since,
    wanted: { status: "NEW", workingAt, fill: null },
  };
  expect(order).toMatchObject({ status: "NEW", time: since, workingTime: workingAt });
  return followed;
}

/** An order as a bot writes it. */
export function parametersOf({ side, limit, stop }: Terms): Readonly<Record<string, string>> {
  const type = [...(stop === null ? [] : ["STOP_LOSS"]), ...(limit === null ? [] : ["LIMIT"])].join("_");
  return {
    symbol: SYMBOL,
    side,
    type: type === "" ? "MARKET" : type,
    quantity: QUANTITY,
    ...(stop === null ? {} : { stopPrice: formatDecimal(stop) }),
    ...(limit === null ? {} : { price: formatDecimal(limit), timeInForce: "GTC" }),
  };
}

/** Notes what has to have become of an order at a market time. */
export function note(order: Followed, { isTriggered, fill }: Fate, at: number): void {
  if (isTriggered) {
    order.terms = { ...order.terms, stop: null };
    order.since = at;
    order.wanted = { ...order.wanted, workingAt: at };
  }
  if (fill !== null) {
    order.wanted = { ...order.wanted, status: "FILLED", fill: { at, price: formatDecimal(fill.price) } };
  }
}

export function isOpen({ wanted }: Followed): boolean {
  return wanted.status === "NEW";
}

/**
 * Plays to a market time. After each message that triggers or fills an order by the oracle, that must have
 * happened before the next message.
 */
export async function playThrough(
  life: Life,
  tape: Tape,
  messages: readonly Message[],
  orders: readonly Followed[],
  until: number,
): Promise<void> {
  const start = countUntil(messages, tape.clock.now());
  const end = countUntil(messages, until);
  const due = new Map<number, (() => Followed)[]>();
  const happens = (index: number, happening: () => Followed) =>
    due.set(index, [...(due.get(index) ?? []), happening]);
  for (const order of orders.filter(isOpen)) {
    const { triggeredBy, filledBy, fill } = fateHeard(order.terms, messages, start, end);
    const noted = (fate: Fate, index: number) => () => {
      note(order, fate, messages[index]?.at ?? 0);
      return order;
    };
    if (triggeredBy !== null) {
      const isAtOnce = triggeredBy === filledBy;
      happens(triggeredBy, noted({ isTriggered: true, fill: isAtOnce ? fill : null }, triggeredBy));
    }
    if (filledBy !== null && filledBy !== triggeredBy) {
      happens(filledBy, noted({ isTriggered: false, fill }, filledBy));
    }
  }
  const instants = new Set([...due.keys()].map((index) => messages[index]?.at ?? 0));
  for (const at of [...instants].toSorted((one, other) => one - other)) {
    await life.playInstant(messages, at, async (index) => {
      for (const happening of due.get(index) ?? []) await expectAsWanted(life, happening());
    });
  }
  await life.playTo(until);
}

/** Waits for an order that has to change; any other must have its state already. */
export async function expectAsWanted(life: Life, order: Followed): Promise<void> {
  const state = await eventual(
    () => stateOf(life, order),
    ({ status, workingAt }) => status === order.wanted.status && workingAt === order.wanted.workingAt,
  );
  expect({ ...order.terms, ...state }).toEqual({ ...order.terms, ...order.wanted });
}

/** Of each strategy there are as many fills as filled orders, and `more` that were made besides. */
export async function expectNoFillTwice(
  life: Life,
  orders: readonly Followed[],
  more: number,
): Promise<void> {
  for (const strategy of new Set(orders.map((order) => order.strategy))) {
    const filled = orders.filter((order) => order.strategy === strategy && !isOpen(order));
    const trades = await life.call(strategy, "GET", "/api/v3/myTrades", { symbol: SYMBOL });
    expect(trades).toHaveLength(filled.length + more);
  }
}

/** The state of an order. */
export async function stateOf(
  life: Life,
  { strategy, orderId }: Pick<Followed, "strategy" | "orderId">,
): Promise<State> {
  const order = await life.call(strategy, "GET", "/api/v3/order", { symbol: SYMBOL, orderId: `${orderId}` });
  const { status, workingTime, updateTime } = order;
  return {
    status,
    workingAt: workingTime,
    fill: status === "FILLED" ? { at: updateTime, price: averagePrice(order) } : null,
  };
}

/** What was paid for one, on average. */
export function averagePrice(order: { cummulativeQuoteQty: string; executedQty: string }): string {
  return formatDecimal((decimal(order.cummulativeQuoteQty) * ONE) / decimal(order.executedQty));
}

const ONE = decimal("1");
