// Copies of strategies under `strict`, whose orders are filled in parts, at the strategy and at the venue at
// different times. Whatever the strategy closes in between, the copy has its position in the end.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { MatchTrade } from "../../domain/command.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import type { Side } from "../../domain/order.ts";
import { BUNDLED_TIERS, STRICT_DEFAULTS, strictProfile } from "../../engine/matching/terms.ts";
import { bookViewOf, type Levels } from "../../engine/testing/market-stub.ts";
import { decimal, type Price, type Quantity, SCALE, ZERO } from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";

const SYMBOL = "BTCUSDT";
/** Longer than the reconciler waits before it reduces an excess, or drops a target without a position, ms. */
const RECONCILED_MS = 15_000;
/** What the exchange displays at its best prices, which no order here is as large as. */
const DEEP = "1";

let fixture: CopiesFixture;
let strategy: string;
let copier: Copier;
let trades: number;

afterEach(() => fixture[Symbol.asyncDispose]());

function strict(type: StrategyType): FillProfile {
  const profile = strictProfile(type, { ...STRICT_DEFAULTS, latency: 0 }, BUNDLED_TIERS);
  if (profile === null) throw new Error("the first tier of fees is always known");
  return profile;
}

async function open(type: StrategyType, profiles: Parameters<typeof openCopiesFixture>[0]): Promise<void> {
  trades = 0;
  fixture = await openCopiesFixture(profiles);
  displays();
  strategy = await fixture.strategy(type);
  await fixture.start();
  copier = await fixture.copier(strategy, type);
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
}

/** The book that strategies under `strict` take from; the best prices of the venue stay what they are. */
function displays({ asks = [["100000", DEEP]], bids = [["99990", DEEP]] }: Shown = {}): void {
  for (const feed of [fixture.pairs, fixture.contracts])
    feed.setBook(SYMBOL, bookViewOf(fixture.time.now(), { ASK: asks, BID: bids }));
}
type Shown = { readonly asks?: Levels; readonly bids?: Levels };

/** A trade of the market through the limit of the orders of a side, which fills so much of them. */
function tradeThrough(side: Side, quantity: string): MatchTrade {
  trades += 1;
  // An order is filled only by what is traded after it.
  fixture.time.advance(1);
  const [price, taken] = side === "BUY" ? (["50000", "BID"] as const) : (["200000", "ASK"] as const);
  const trade = {
    ...{ aggregateId: trades, price: decimal<Price>(price), quantity: decimal<Quantity>(quantity) },
    ...{ side: taken, time: fixture.time.now() },
  };
  return { type: "MatchTrade", symbol: SYMBOL, trade, queues: new Map() };
}

const fillsLead = (side: Side, quantity: string) => fixture.does(strategy, tradeThrough(side, quantity));
async function fillsCopy(side: Side, quantity: string): Promise<void> {
  const before = await fixture.holds(copier, SYMBOL);
  await fixture.venue.match(copier.account, tradeThrough(side, quantity));
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, SYMBOL)) !== before);
}

/**
 * What the strategy and the copy hold once nothing is left to be done, in tenths of an order: fees on spot
 * are far less than one.
 */
async function heldInTheEnd({ type, tenth }: Sizes): Promise<{ lead: number; copy: number }> {
  await fixture.passesAtRest(RECONCILED_MS);
  const account = (await fixture.store.loadAccount(strategy))?.account;
  const { book } = await fixture.copy(copier);
  const own = book.holdings.get(SYMBOL)?.quantity ?? ZERO;
  const position = account?.positions.get(SYMBOL)?.quantity ?? ZERO;
  const theirs = type === "SPOT" ? ownedOf(account?.balances ?? new Map(), "BTC") : position;
  const inTenths = (quantity: bigint) => Math.round(Number(quantity) / Number(SCALE) / tenth);
  return { lead: inTenths(theirs), copy: inTenths(own) };
}

const kindsOf = async () => (await fixture.entries(copier)).map(({ kind }) => kind);

type Sizes = {
  readonly type: StrategyType;
  /** The side that opens, and its limit. */
  readonly side: Side;
  readonly at: string;
  /** A tenth of an order. */
  readonly tenth: number;
};
const CASES: readonly (readonly [what: string, sizes: Sizes])[] = [
  ["a spot pair", { type: "SPOT", side: "BUY", at: "90000", tenth: 0.0001 }],
  ["a long", { type: "FUTURES", side: "BUY", at: "90000", tenth: 0.01 }],
  ["a short", { type: "FUTURES", side: "SELL", at: "110000", tenth: 0.01 }],
];

describe.each(CASES)("of %s", (_what, sizes) => {
  const { type, side, at, tenth } = sizes;
  const away: Side = side === "BUY" ? "SELL" : "BUY";
  const tenths = (count: number) => (count * tenth).toFixed(5);
  const held = (count: number) => ({
    lead: side === "BUY" ? count : -count,
    copy: side === "BUY" ? count : -count,
  });
  /** A sale on spot is for what the fees of its purchase have left. */
  const exit = (count: number) => places(away, (count * tenth - (type === "SPOT" ? 0.00001 : 0)).toFixed(5));

  describe("that both fill in parts", () => {
    beforeEach(() => open(type, { profiles: { leads: strict, accounts: strict } }));

    test("what is filled after an exit is held whole, also by a copy that is filled first", async () => {
      await fixture.does(strategy, places(side, tenths(10), { at }));
      await fillsCopy(side, tenths(4));
      await fillsLead(side, tenths(4));
      await fixture.does(strategy, exit(2));
      await fillsLead(side, tenths(3));
      await fillsCopy(side, tenths(6));
      await fillsLead(side, tenths(3));
      expect(await heldInTheEnd(sizes)).toEqual(held(8));
      expect(await kindsOf()).not.toContain("RECONCILE");
    });

    test("what is filled after an exit is held whole, also by a process that is started in between", async () => {
      await fixture.does(strategy, places(side, tenths(10), { at }));
      await fillsLead(side, tenths(4));
      await fixture.does(strategy, exit(4));
      await fixture.restart();
      await fillsLead(side, tenths(6));
      await fillsCopy(side, tenths(10));
      expect(await heldInTheEnd(sizes)).toEqual(held(6));
    });

    test("an exit between two fills takes its part of the first alone, at a copy that is filled later", async () => {
      await fixture.does(strategy, places(side, tenths(10), { at }));
      await fillsLead(side, tenths(5));
      await fixture.does(strategy, exit(3));
      await fillsLead(side, tenths(5));
      await fillsCopy(side, tenths(10));
      expect(await heldInTheEnd(sizes)).toEqual(held(7));
    });

    test("the rest of an order is canceled after an exit", async () => {
      await fixture.does(strategy, places(side, tenths(10), { at }));
      await fillsLead(side, tenths(4));
      await fillsCopy(side, tenths(4));
      await fixture.does(strategy, exit(2));
      const [order] = (await fixture.store.loadAccount(strategy))?.account.openOrders.values() ?? [];
      await fixture.does(strategy, { type: "CancelOrder", orderId: order?.orderId ?? 0 });
      expect(await heldInTheEnd(sizes)).toEqual(held(2));
      expect(await kindsOf()).not.toContain("RECONCILE");
    });

    test("the rest of an order is canceled after an exit, and the copy was filled ahead of it", async () => {
      await fixture.does(strategy, places(side, tenths(10), { at }));
      await fillsLead(side, tenths(4));
      await fillsCopy(side, tenths(10));
      await fixture.does(strategy, exit(2));
      const [order] = (await fixture.store.loadAccount(strategy))?.account.openOrders.values() ?? [];
      await fixture.does(strategy, { type: "CancelOrder", orderId: order?.orderId ?? 0 });
      expect(await heldInTheEnd(sizes)).toEqual(held(2));
    });
  });

  test("an order that the strategy's book fills in part at once, and that is sold before the copy has any", async () => {
    await open(type, { profiles: { leads: strict } });
    const level = [[at, tenths(4)]] as const;
    displays(side === "BUY" ? { asks: level } : { bids: level });
    await fixture.does(strategy, places(side, tenths(10), { at }));
    displays();
    await fixture.does(strategy, exit(4));
    const [order] = await fixture.venue.orders(copier.account, SYMBOL);
    await fixture.venue.fill(copier.account, `${order?.orderId}`, at);
    await fillsLead(side, tenths(6));
    expect(await heldInTheEnd(sizes)).toEqual(held(6));
  });
});

describe("of a limit order through zero", () => {
  const sizes: Sizes = { type: "FUTURES", side: "SELL", at: "110000", tenth: 0.01 };
  beforeEach(async () => {
    await open("FUTURES", { profiles: { leads: strict, accounts: strict } });
    await fixture.does(strategy, places("BUY", "0.010"));
    await fixture.does(strategy, places("SELL", "0.030", { at: sizes.at }));
  });

  test("the copy is filled after the strategy", async () => {
    for (const quantity of ["0.005", "0.025"]) await fillsLead("SELL", quantity);
    for (const quantity of ["0.015", "0.015"]) await fillsCopy("SELL", quantity);
    expect(await heldInTheEnd(sizes)).toEqual({ lead: -2, copy: -2 });
    expect(await kindsOf()).not.toContain("RECONCILE");
  });

  test("the copy is filled right before the strategy", async () => {
    // The strategy's fill is what makes the copy ask for its own.
    await fixture.venue.match(copier.account, tradeThrough("SELL", "0.030"));
    for (const quantity of ["0.005", "0.025"]) await fillsLead("SELL", quantity);
    expect(await heldInTheEnd(sizes)).toEqual({ lead: -2, copy: -2 });
    expect(await kindsOf()).not.toContain("RECONCILE");
  });
});
