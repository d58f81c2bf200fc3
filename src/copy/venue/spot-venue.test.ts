// Our side of a venue against a whole gateway of ours: spot. What is asserted is what the venue
// has on its books.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credentials } from "../../../test/support/servers/gateway.ts";
import { decimal } from "../../money/decimal.ts";
import { CONFIRM_AFTER_MS } from "./answers.ts";
import { openVenueFixture, order, type VenueFixture } from "./testing/venue-fixture.ts";
import type { VenueAnswer, VenueClient } from "./venue.ts";
import { RULES_DOUBT_MS } from "./venues.ts";

let fixture: VenueFixture;
let strategy: Credentials;
let client: VenueClient;

beforeAll(async () => {
  fixture = await openVenueFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  fixture.time.advance(60_000);
  fixture.pairs.show("BTCUSDT", "59990", "60000");
  strategy = await fixture.seed("SPOT");
  client = fixture.client("SPOT", strategy);
});

describe("an account is checked", () => {
  test("its balances, that it may trade, and that nothing can be withdrawn", async () => {
    const { balances, ...rights } = ok(await client.check());
    expect(rights).toEqual({ canTrade: true, canWithdraw: false, isHedgeMode: null });
    expect(balances).toMatchObject({ wallet: decimal("200"), available: decimal("200") });
    expect(balances.held).toEqual(new Map());
  });

  test("a wrong secret and a revoked key are rejected, and say nothing of what was sent", async () => {
    const wrong = { ...strategy, apiSecret: "0".repeat(64) };
    const answers: VenueAnswer<unknown>[] = [await fixture.client("SPOT", wrong).check()];
    await fixture.store.revokeKey(strategy.apiKey, fixture.time.now());
    answers.push(await client.check());
    // Once is not believed of a running copy.
    expect(await client.balances()).toMatchObject({ kind: "DELAYED", why: "REJECTED" });
    fixture.time.advance(CONFIRM_AFTER_MS);
    answers.push(await client.balances(), await client.place(marketBuy("later")));
    for (const answer of answers) {
      expect(answer).toMatchObject({ kind: "REJECTED", code: -2015 });
      expect(JSON.stringify(answer)).not.toMatch(new RegExp(`${strategy.apiKey}|${strategy.apiSecret}`));
    }
    expect(await fixture.orders(strategy, "BTCUSDT")).toEqual([]);
  });

  test("a key with characters that no header takes is rejected, and nothing is sent", async () => {
    const unfit = fixture.client("SPOT", { ...strategy, apiKey: "key\r\nX-Other: 1" });
    expect(await unfit.balances()).toMatchObject({ kind: "REJECTED", code: -2014 });
  });

  test("a key of the other type is refused in the venue's words", async () => {
    const other = fixture.client("FUTURES", strategy);
    expect(await other.check()).toMatchObject({ kind: "REFUSED", code: -2010 });
  });
});

describe("orders of every type", () => {
  test("a MARKET order is filled, with a fee that is taken in what arrives", async () => {
    const placed = ok(await client.place(marketBuy("market")));
    expect(placed).toMatchObject({
      clientOrderId: "market",
      status: "FILLED",
      quantity: decimal("0.001"),
      executedQuantity: decimal("0.001"),
      executedQuote: decimal("60"),
    });
    expect(
      ok(await client.fills({ symbol: "BTCUSDT", venueOrderId: placed.venueOrderId, executed: null })),
    ).toEqual({
      fee: decimal("0.06"),
      feeInBase: decimal("0.000001"),
    });
    const balances = ok(await client.balances());
    expect(balances.wallet).toBe(decimal("140"));
    expect(balances.held).toEqual(new Map([["BTC", decimal("0.000999")]]));

    const sold = ok(
      await client.place(
        order({ type: "MARKET", side: "SELL", quantity: decimal("0.00099"), clientOrderId: "sold" }),
      ),
    );
    expect(
      ok(await client.fills({ symbol: "BTCUSDT", venueOrderId: sold.venueOrderId, executed: null })),
    ).toEqual({
      // 0.00099 at the bid brings 59.3901, of which a thousandth.
      fee: decimal("0.0593901"),
      feeInBase: decimal("0"),
    });
  });

  test("executions since a time are listed with their sides, those of named orders as such", async () => {
    const bought = ok(await client.place(marketBuy("bought")));
    const sells = order({ type: "MARKET", side: "SELL", quantity: decimal("0.0005"), clientOrderId: "sold" });
    fixture.time.advance(1_000);
    const sold = ok(await client.place(sells));
    const known = new Set([bought.venueOrderId]);
    const since = fixture.time.now() - 1_000;
    expect(ok(await client.trades("BTCUSDT", { since, known }))).toMatchObject([
      { by: "KNOWN", side: "BUY", quantity: decimal("0.001"), quote: decimal("60") },
      { by: "OTHER", side: "SELL", quantity: decimal("0.0005"), venueOrderId: sold.venueOrderId },
    ]);
    expect(ok(await client.trades("BTCUSDT", { since: since + 1, known }))).toHaveLength(1);
    expect(ok(await client.trades("NONEUSDT", { since, known }))).toBeNull();
  });

  test("a LIMIT order is open, is found, is filled later, and has then ended", async () => {
    const limit = order({ type: "LIMIT", price: decimal("50000"), clientOrderId: "limit" });
    const placed = ok(await client.place(limit));
    expect(placed).toMatchObject({ status: "RESTING", executedQuantity: 0n });
    expect([...ok(await client.openOrders()).keys()].sort()).toEqual(["limit"]);
    const { available, wallet } = ok(await client.balances());
    expect([wallet, available]).toEqual([decimal("200"), decimal("150")]);

    await fixture.fill(strategy, placed.venueOrderId, "50000");
    expect(ok(await client.find("BTCUSDT", "limit"))).toMatchObject({
      status: "FILLED",
      executedQuantity: decimal("0.001"),
      executedQuote: decimal("50"),
      venueOrderId: placed.venueOrderId,
    });
    expect(ok(await client.cancel("BTCUSDT", "limit"))).toBeNull();
    expect([...ok(await client.openOrders()).keys()]).toEqual([]);
  });

  test("STOP_LOSS and STOP_LOSS_LIMIT wait for their trigger and can be taken back", async () => {
    const stop = order({ type: "STOP_LOSS", stopPrice: decimal("70000"), clientOrderId: "stop" });
    const limited = order({
      ...stop,
      type: "STOP_LOSS_LIMIT",
      price: decimal("70100"),
      clientOrderId: "stop-limit",
    });
    const stopped = ok(await client.place(stop));
    expect(stopped.status).toBe("RESTING");
    expect(ok(await client.place(limited)).status).toBe("RESTING");
    expect([...ok(await client.openOrders()).keys()].sort()).toEqual(["stop", "stop-limit"]);
    expect(ok(await client.cancel("BTCUSDT", "stop-limit"))).toMatchObject({
      clientOrderId: "stop-limit",
      status: "CANCELED",
    });

    fixture.pairs.show("BTCUSDT", "70010", "70020");
    await fixture.trigger(strategy, stopped.venueOrderId, "70010");
    expect(ok(await client.find("BTCUSDT", "stop"))).toMatchObject({
      status: "FILLED",
      executedQuote: decimal("70.02"),
    });
    const kinds = (await fixture.orders(strategy, "BTCUSDT")).map(({ type, status }) => [type, status]);
    expect(kinds).toEqual([
      ["STOP_LOSS", "FILLED"],
      ["STOP_LOSS_LIMIT", "CANCELED"],
    ]);
  });

  test("what the venue refuses is a refusal with its words, and nothing is there", async () => {
    const answers = [
      await client.place(order({ type: "MARKET", quantity: decimal("1"), clientOrderId: "poor" })),
      await client.place(order({ type: "MARKET", quantity: decimal("0.00001"), clientOrderId: "small" })),
      await client.place(order({ type: "MARKET", symbol: "NONEUSDT", clientOrderId: "none" })),
    ];
    expect(answers).toMatchObject([
      { kind: "REFUSED", code: -2010, message: "Account has insufficient balance for requested action." },
      { kind: "REFUSED", code: -1013, message: "Filter failure: NOTIONAL" },
      { kind: "REFUSED", code: -1121 },
    ]);
    expect(ok(await client.find("BTCUSDT", "poor"))).toBeNull();
    expect(ok(await client.find("NONEUSDT", "none"))).toBeNull();
    expect(ok(await client.cancel("BTCUSDT", "poor"))).toBeNull();
    expect(await fixture.orders(strategy, "BTCUSDT")).toEqual([]);
  });

  test("legs and leverage are not of spot: refused without asking", async () => {
    expect(await client.setLeverage("BTCUSDT", 3)).toMatchObject({ kind: "REFUSED" });
    expect(ok(await client.findLeg("BTCUSDT", "leg"))).toBeNull();
    expect(ok(await client.cancelLeg("BTCUSDT", "leg"))).toBeNull();
  });
});

describe("the venue's clock", () => {
  test.each([
    ["behind", -7_000],
    ["ahead", 90_000],
  ])(
    "may be %s from the start, and be corrected in the middle: orders are placed once",
    async (_, aheadMs) => {
      const fresh = await fixture.seed("SPOT");
      fixture.setAhead(aheadMs);
      const own = fixture.client("SPOT", fresh);
      expect(ok(await own.place(marketBuy("one"))).status).toBe("FILLED");
      fixture.setAhead(0);
      expect(ok(await own.place(marketBuy("two"))).status).toBe("FILLED");
      expect(await fixture.orders(fresh, "BTCUSDT")).toHaveLength(2);
    },
  );
});

describe("what is the same for all accounts", () => {
  test("rules are requested once an hour, of a missing symbol once a minute", async () => {
    const venue = fixture.venues.venue(fixture.url, "SPOT");
    const answersBefore = venue.health().answers;
    const rules = ok(await venue.rules("ETHUSDT"));
    expect(rules).toMatchObject({
      symbol: "ETHUSDT",
      baseAsset: "ETH",
      lotSize: { stepSize: decimal("0.00001") },
    });
    expect(ok(await venue.rules("ETHUSDT"))).toBe(rules);
    expect(ok(await venue.rules("NONEUSDT"))).toBeNull();
    fixture.time.advance(59_000);
    expect(ok(await venue.rules("NONEUSDT"))).toBeNull();
    const { ok: took, refused } = venue.health().answers;
    expect([took - answersBefore.ok, refused - answersBefore.refused]).toEqual([1, 1]);
    fixture.time.advance(1_000);
    expect(ok(await venue.rules("NONEUSDT"))).toBeNull();
    fixture.time.advance(3_600_000);
    expect(ok(await venue.rules("ETHUSDT"))).not.toBe(rules);
  });

  test("doubted rules are requested again, but not twice in short time for the same reason", async () => {
    const venue = fixture.venues.venue(fixture.url, "SPOT");
    const asked = async (symbol: string) => {
      const before = venue.health().answers.ok;
      ok(await venue.rules(symbol));
      return venue.health().answers.ok - before;
    };
    await asked("ETHUSDT");
    expect(await asked("ETHUSDT")).toBe(0);
    venue.doubtRules("ETHUSDT");
    expect(await asked("ETHUSDT")).toBe(1);
    fixture.time.advance(RULES_DOUBT_MS - 1);
    venue.doubtRules("ETHUSDT");
    expect(await asked("ETHUSDT")).toBe(0);
    fixture.time.advance(1);
    venue.doubtRules("ETHUSDT");
    expect(await asked("ETHUSDT")).toBe(1);
  });

  test("prices are at most two seconds old, and requested once for many", async () => {
    const venue = fixture.venues.venue(fixture.url, "SPOT");
    const before = venue.health().answers.ok;
    const [one, other] = await Promise.all([venue.prices(), venue.prices()]);
    expect(ok(one).get("BTCUSDT")).toBe(decimal("60000"));
    expect(other).toBe(one);
    fixture.pairs.show("BTCUSDT", "60990", "61000");
    fixture.time.advance(1_999);
    expect(ok(await venue.prices()).get("BTCUSDT")).toBe(decimal("60000"));
    fixture.time.advance(1);
    expect(ok(await venue.prices()).get("BTCUSDT")).toBe(decimal("61000"));
    expect(venue.health().answers.ok - before).toBe(2);
    expect(venue.health()).toMatchObject({ isReachable: true, pausedUntil: 0, clockOffsetMs: 0 });
  });
});

function marketBuy(clientOrderId: string) {
  return order({ type: "MARKET", clientOrderId });
}

function ok<Value>(answer: VenueAnswer<Value>): Value {
  if (answer.kind !== "OK") throw new Error(`the venue should have taken it: ${JSON.stringify(answer)}`);
  return answer.value;
}
