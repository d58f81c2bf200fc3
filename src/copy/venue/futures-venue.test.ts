// Our side of a venue against a whole gateway of ours: futures. What is asserted is what the venue
// has on its books.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credentials } from "../../../test/support/servers/gateway.ts";
import { decimal } from "../../money/decimal.ts";
import { SETTINGS_AGE_MAX_MS } from "./account.ts";
import { openVenueFixture, order, type VenueFixture } from "./testing/venue-fixture.ts";
import type { VenueAnswer, VenueClient, VenueLeg } from "./venue.ts";

let fixture: VenueFixture;
let strategy: Credentials;
let client: VenueClient;

beforeAll(async () => {
  fixture = await openVenueFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  fixture.time.advance(60_000);
  fixture.contracts.show("BTCUSDT", "59990", "60000");
  strategy = await fixture.seed("FUTURES");
  client = fixture.client("FUTURES", strategy);
});

describe("an account", () => {
  test("is checked: balances, trading, positions of one side, and no withdrawals", async () => {
    const { balances, ...rights } = ok(await client.check());
    expect(rights).toEqual({ canTrade: true, canWithdraw: false, isHedgeMode: false });
    expect(balances).toMatchObject({ wallet: decimal("1000"), available: decimal("1000") });
  });

  test("shows its positions, with their sign, and its wallet", async () => {
    await client.setLeverage("BTCUSDT", 10);
    ok(
      await client.place(
        order({ type: "MARKET", side: "SELL", quantity: decimal("0.01"), clientOrderId: "short" }),
      ),
    );
    fixture.contracts.show("BTCUSDT", "60990", "61000");
    const balances = ok(await client.balances());
    expect(balances.held).toEqual(new Map([["BTCUSDT", decimal("-0.01")]]));
    // The fee of 0.29995; a loss of 10.10 on a short from 59,990 is not in the wallet.
    expect(balances.wallet).toBe(decimal("999.70005"));
    expect(balances.available < balances.wallet).toBe(true);
  });
});

describe("orders", () => {
  test("a MARKET order says what was paid, and its fees can be requested", async () => {
    const placed = ok(await client.place(market("BUY", "0.01", "one")));
    expect(placed).toMatchObject({
      status: "FILLED",
      executedQuantity: decimal("0.01"),
      executedQuote: decimal("600"),
    });
    expect(
      ok(await client.fills({ symbol: "BTCUSDT", venueOrderId: placed.venueOrderId, executed: null })),
    ).toEqual({
      fee: decimal("0.3"),
      feeInBase: 0n,
    });
  });

  test("the venue's liquidations are distinguished from orders", async () => {
    await client.setLeverage("BTCUSDT", 100);
    const { venueOrderId } = ok(await client.place(market("BUY", "0.01", "one")));
    fixture.contracts.show("BTCUSDT", "59000", "59010");
    await fixture.liquidate(strategy, "BTCUSDT", "59010");
    const since = fixture.time.now() - 60_000;
    const trades = ok(await client.trades("BTCUSDT", { since, known: new Set([venueOrderId]) }));
    expect(trades).toMatchObject([
      { by: "KNOWN", side: "BUY", quantity: decimal("0.01"), quote: decimal("600") },
      { by: "VENUE", side: "SELL", quantity: decimal("0.01") },
    ]);
  });

  test("a LIMIT order is open, is found, and is canceled once", async () => {
    const limit = order({ type: "LIMIT", price: decimal("50000"), clientOrderId: "limit" });
    expect(ok(await client.place(limit)).status).toBe("RESTING");
    expect(ok(await client.find("BTCUSDT", "limit"))).toMatchObject({ status: "RESTING" });
    expect([...ok(await client.openOrders()).keys()].sort()).toEqual(["limit"]);
    expect(ok(await client.cancel("BTCUSDT", "limit"))).toMatchObject({ status: "CANCELED" });
    expect(ok(await client.cancel("BTCUSDT", "limit"))).toBeNull();
    expect(ok(await client.find("BTCUSDT", "never"))).toBeNull();
  });

  test("reduceOnly never opens: refused without a position, and cut to it with one", async () => {
    const closing = { ...market("SELL", "0.01", "closing"), reduceOnly: true };
    expect(await client.place(closing)).toMatchObject({ kind: "REFUSED", code: -2022 });
    ok(await client.place(market("BUY", "0.004", "open")));
    ok(await client.place({ ...closing, quantity: decimal("0.004"), clientOrderId: "close" }));
    expect(ok(await client.balances()).held).toEqual(new Map());
  });

  test("too little margin is a refusal, and nothing is there", async () => {
    await client.setLeverage("BTCUSDT", 1);
    expect(await client.place(market("BUY", "0.5", "poor"))).toMatchObject({ kind: "REFUSED", code: -2019 });
    expect(await fixture.orders(strategy, "BTCUSDT")).toEqual([]);
  });
});

describe("leverage", () => {
  test("is set when it changes, and periodically since its owner may change it too", async () => {
    const venue = fixture.venues.venue(fixture.url, "FUTURES");
    const answersOf = async (leverage: number) => {
      const before = venue.health().answers.ok;
      expect(ok(await client.setLeverage("BTCUSDT", leverage))).toBeNull();
      return venue.health().answers.ok - before;
    };
    expect(await answersOf(7)).toBeGreaterThanOrEqual(2);
    expect(await answersOf(7)).toBe(0);
    expect(await answersOf(8)).toBe(2);
    fixture.time.advance(SETTINGS_AGE_MAX_MS - 1);
    expect(await answersOf(8)).toBe(0);
    fixture.time.advance(1);
    expect(await answersOf(8)).toBeGreaterThanOrEqual(1);
    const account = await fixture.store.loadAccount(strategy.strategyId);
    expect(account?.account.leverages.get("BTCUSDT")).toBe(8);
  });

  test("that the venue refuses is requested again the next time", async () => {
    ok(await client.setLeverage("BTCUSDT", 20));
    ok(await client.place(market("BUY", "0.01", "open")));
    const refused = { kind: "REFUSED", code: -4161 };
    expect(await client.setLeverage("BTCUSDT", 5)).toMatchObject(refused);
    expect(await client.setLeverage("BTCUSDT", 5)).toMatchObject(refused);
    expect(ok(await client.setLeverage("BTCUSDT", 25))).toBeNull();
  });
});

describe("legs", () => {
  const leg = (clientOrderId: string, said: Partial<VenueLeg> = {}): VenueLeg => ({
    symbol: "BTCUSDT",
    side: "SELL",
    type: "STOP_MARKET",
    triggerPrice: decimal("55000"),
    clientOrderId,
    ...said,
  });

  test("one is placed on a position, found, shown among what is open, and taken back", async () => {
    ok(await client.place(market("BUY", "0.01", "open")));
    expect(ok(await client.placeLeg(leg("stop")))).toMatchObject({
      clientOrderId: "stop",
      status: "RESTING",
    });
    expect(ok(await client.findLeg("BTCUSDT", "stop"))).toMatchObject({ status: "RESTING" });
    expect([...ok(await client.openOrders()).keys()].sort()).toEqual(["stop"]);
    expect(ok(await client.cancelLeg("BTCUSDT", "stop"))).toMatchObject({ status: "CANCELED" });
    expect(ok(await client.cancelLeg("BTCUSDT", "stop"))).toBeNull();
    expect(ok(await client.findLeg("BTCUSDT", "stop"))).toMatchObject({ status: "CANCELED" });
  });

  test("one that fired is the order that it became, with its fees", async () => {
    ok(await client.place(market("BUY", "0.01", "open")));
    const placed = ok(await client.placeLeg(leg("stop")));
    ok(await client.placeLeg(leg("profit", { type: "TAKE_PROFIT_MARKET", triggerPrice: decimal("70000") })));
    fixture.contracts.show("BTCUSDT", "54990", "55000");
    await fixture.fire(strategy, placed.venueOrderId, "55000");
    const fired = ok(await client.findLeg("BTCUSDT", "stop"));
    expect(fired).toMatchObject({
      clientOrderId: "stop",
      status: "FILLED",
      quantity: 0n,
      executedQuantity: decimal("0.01"),
      executedQuote: decimal("549.9"),
    });
    expect(fired?.venueOrderId).not.toBe(placed.venueOrderId);
    expect(
      ok(await client.fills({ symbol: "BTCUSDT", venueOrderId: fired?.venueOrderId ?? "", executed: null })),
    ).toMatchObject({
      fee: decimal("0.27495"),
    });
    expect(ok(await client.cancelLeg("BTCUSDT", "stop"))).toBeNull();
    expect(ok(await client.findLeg("BTCUSDT", "profit"))).toMatchObject({ status: "CANCELED" });
    expect(ok(await client.balances()).held).toEqual(new Map());
  });

  test("refusals: no position, a second of its kind, one that would fire at once", async () => {
    expect(await client.placeLeg(leg("early"))).toMatchObject({ kind: "REFUSED", code: -4509 });
    ok(await client.place(market("BUY", "0.01", "open")));
    expect(await client.placeLeg(leg("late", { triggerPrice: decimal("65000") }))).toMatchObject({
      code: -2021,
    });
    ok(await client.placeLeg(leg("first")));
    expect(await client.placeLeg(leg("second"))).toMatchObject({ kind: "REFUSED", code: -4130 });
    expect(ok(await client.findLeg("BTCUSDT", "second"))).toBeNull();
  });
});

describe("what is the same for all accounts", () => {
  test("rules and mark prices", async () => {
    const venue = fixture.venues.venue(fixture.url, "FUTURES");
    expect(ok(await venue.rules("BTCUSDT"))).toMatchObject({
      symbol: "BTCUSDT",
      notional: { minNotional: decimal("50") },
      maxNumOrders: 3,
      maxNumAlgoOrders: 10,
    });
    expect(ok(await venue.rules("NONEUSDT"))).toBeNull();
    expect(ok(await venue.prices()).get("BTCUSDT")).toBe(decimal("60000"));
  });
});

function market(side: "BUY" | "SELL", quantity: string, clientOrderId: string) {
  return order({ type: "MARKET", side, quantity: decimal(quantity), clientOrderId });
}

function ok<Value>(answer: VenueAnswer<Value>): Value {
  if (answer.kind !== "OK") throw new Error(`the venue should have taken it: ${JSON.stringify(answer)}`);
  return answer.value;
}
