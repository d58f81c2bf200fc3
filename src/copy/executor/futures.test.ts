// A futures strategy is mirrored: at its leverage, through zero, with its legs.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decimal, type Price } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";

let fixture: CopiesFixture;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  fixture = await openCopiesFixture();
  strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  copier = await fixture.copier(strategy, "FUTURES");
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const seen = (price: string) => ({ seen: decimal<Price>(price), seenAt: fixture.time.now() });

describe("positions", () => {
  test("are opened at the strategy's leverage, reduced by their share, and taken through zero", async () => {
    await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 7 });
    const half = await fixture.copier(strategy, "FUTURES", { share: decimal("0.5") });
    await fixture.does(strategy, places("BUY", "0.008"));
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0.008");
    expect(await fixture.position(half, "BTCUSDT")).toBe("0.004");
    const account = await fixture.venue.store.loadAccount(half.account.strategyId);
    expect(account?.account.leverages.get("BTCUSDT")).toBe(7);
    await fixture.does(strategy, places("SELL", "0.004"));
    expect(await fixture.position(half, "BTCUSDT")).toBe("0.002");
    await fixture.does(strategy, places("SELL", "0.008"));
    expect(await fixture.position(copier, "BTCUSDT")).toBe("-0.004");
    for (const each of [copier, half]) {
      expect(await fixture.holds(each, "BTCUSDT")).toBe(await fixture.position(each, "BTCUSDT"));
      const { book } = await fixture.copy(each);
      expect(decimal(await fixture.owned(each, "USDT"))).toBe(decimal("1000") + book.realized - book.fees);
    }
    expect((await fixture.log(copier))[0]).toBe("SET_LEVERAGE DONE");
  });

  test.each<"BUY" | "SELL">(["BUY", "SELL"])(
    "that take all there is at much leverage leave room for what the venue asks beside margin: %s",
    async (side) => {
      await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 100 });
      await fixture.does(strategy, places(side, "0.949"), false);
      // Before the copy executes the order, the market price and the mark price diverge by 0.1 %.
      const mark = side === "BUY" ? "99900" : "100090";
      fixture.contracts.show("BTCUSDT", "99990", "100000", mark);
      fixture.time.advance(2_000);
      await fixture.dealtWith(strategy);
      const [order] = (await fixture.entries(copier)).slice(-1);
      expect(order).toMatchObject({ kind: "PLACE", status: "FILLED", skip: null });
      // At 100,099.8 (or 100,290.18): margin, 0.2 % of 99,900 (100,090), and the fee.
      expect(await fixture.position(copier, "BTCUSDT")).toBe(side === "BUY" ? "0.799" : "-0.797");
    },
  );

  test("that the venue refuses for want of margin are logged with what is available there, not with what was known", async () => {
    // The first scheduled poll is done.
    await fixture.passes(1_000);
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    // The account's owner binds 950 of its 1,000 USDT; the copy has not polled the account since.
    await fixture.trades(copier, "FUTURES", { side: "BUY", quantity: decimal("0.19") });
    await fixture.does(strategy, { type: "ChangeLeverage", symbol: "ETHUSDT", leverage: 2 });
    await fixture.does(strategy, places("BUY", "0.25", { symbol: "ETHUSDT" }));
    const refused = (await fixture.entries(copier)).at(-1);
    expect(refused).toMatchObject({
      status: "SKIPPED",
      sends: 1,
      skip: { reason: "INSUFFICIENT_MARGIN", unit: "QUOTE", venue: { code: -2019 } },
    });
    const { wanted, had } = refused?.skip ?? {};
    // 0.25 × 2,000 / 2, and the allowance for the market's price and the fee.
    expect(wanted).toBeGreaterThan(decimal("250"));
    expect(wanted).toBeLessThan(decimal("253"));
    // 1,000 less margin and fee of 0.19 × 100,000 at 20 times.
    expect(had).toBeLessThanOrEqual(decimal("50"));
    expect(had).toBeGreaterThan(decimal("30"));
  });

  test("another leverage is set at once where something is held", async () => {
    await fixture.does(strategy, places("BUY", "0.002"));
    await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 25 });
    const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
    expect(account?.account.leverages.get("BTCUSDT")).toBe(25);
  });

  test("pay funding out of the wallet, which the next sizes follow, and the copy's result does not", async () => {
    await fixture.does(strategy, places("BUY", "0.1"));
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    const before = await fixture.copy(copier);
    await fixture.passes(60_000);
    // 0.1 × 100,000 × 1 %
    await fixture.venue.settleFunding(copier.account, "BTCUSDT", "0.01");
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    const { book } = await fixture.copy(copier);
    const paid = decimal("100");
    expect(book.snapshot?.wallet).toBe((before.book.snapshot?.wallet ?? 0n) - paid);
    expect(book.snapshot?.wallet).toBe(decimal(await fixture.owned(copier, "USDT")));
    expect(book.snapshot?.equity).toBe(before.book.snapshot?.equity);
    expect(book.holdings).toEqual(before.book.holdings);
    // The strategy has paid none: 0.01 × 895 / 995 is 0.0089…
    await fixture.does(strategy, places("BUY", "0.01"));
    expect((await fixture.log(copier)).at(-1)).toContain("PLACE BUY MARKET 0.008 FILLED");
  });

  test("a liquidation of the strategy closes the copy's own", async () => {
    await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 100 });
    await fixture.does(strategy, places("BUY", "0.1"));
    fixture.contracts.show("BTCUSDT", "98900", "98910", "98900");
    await fixture.does(strategy, { type: "LiquidatePosition", symbol: "BTCUSDT", ...seen("98900") });
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
    expect((await fixture.log(copier)).at(-1)).toContain("LIQUIDATE SELL MARKET");
    expect((await fixture.log(copier)).at(-1)).toContain("FILLED");
  });

  test("a cap on orders is said with its figures", async () => {
    for (let index = 0; index < 3; index += 1)
      await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
    // The strategy has as many open orders as the copy; the venue would get one more, of the copy's own.
    const [first] = await fixture.entries(copier);
    expect(first?.status).toBe("RESTING");
    expect(await fixture.venue.orders(copier.account, "BTCUSDT")).toHaveLength(3);
  });
});

describe("legs", () => {
  const withLegs = {
    reduceOnly: false,
    leverage: null,
    attached: { takeProfitPrice: decimal<Price>("110000"), stopLossPrice: decimal<Price>("90000") },
  };

  test("close the position at the venue by themselves, and once", async () => {
    await fixture.does(strategy, { ...places("BUY", "0.002"), entry: withLegs });
    expect(await fixture.log(copier)).toEqual([
      "PLACE BUY MARKET 0.002 FILLED executed 0.002",
      "PLACE_LEG SELL STOP_MARKET RESTING",
      "PLACE_LEG SELL TAKE_PROFIT_MARKET RESTING",
    ]);
    const [, , profit] = await fixture.entries(copier);
    fixture.contracts.show("BTCUSDT", "110000", "110010", "110000");
    await fixture.venue.fire(copier.account, profit?.venueOrderId ?? "", "110000");
    const legs = (await fixture.store.loadAccount(strategy))?.account.openLegs;
    const legId = [...(legs?.values() ?? [])].find(({ type }) => type === "TAKE_PROFIT_MARKET")?.legId ?? 0;
    await fixture.does(strategy, { type: "TriggerLeg", legId, ...seen("110000") });
    expect((await fixture.log(copier)).slice(1)).toEqual([
      expect.stringMatching(/^PLACE_LEG SELL STOP_MARKET (EXPIRED|CANCELED)$/),
      "PLACE_LEG SELL TAKE_PROFIT_MARKET FILLED executed 0.002",
      "FIRE_LEG SELL DONE",
      expect.stringContaining("CANCEL_LEG"),
    ]);
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
    const { book } = await fixture.copy(copier);
    expect(decimal(await fixture.owned(copier, "USDT"))).toBe(decimal("1000") + book.realized - book.fees);
  });

  test("that have not fired at the venue when the strategy's have: the position is closed, and they end with it", async () => {
    await fixture.does(strategy, { ...places("BUY", "0.002"), entry: withLegs });
    const legs = (await fixture.store.loadAccount(strategy))?.account.openLegs;
    const legId = [...(legs?.values() ?? [])].find(({ type }) => type === "STOP_MARKET")?.legId ?? 0;
    fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
    await fixture.does(strategy, { type: "TriggerLeg", legId, ...seen("90000") });
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
    const log = await fixture.log(copier);
    // The venue ends the legs of a position that is closed.
    expect(log[1]).toBe("PLACE_LEG SELL STOP_MARKET EXPIRED");
    expect(log).toContain("FIRE_LEG SELL MARKET 0.002 FILLED executed 0.002");
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  });

  test("wait for a position whose entry is still open, and are sent when it exists", async () => {
    const orderId = await fixture.does(strategy, {
      ...places("BUY", "0.002", { at: "95000" }),
      entry: withLegs,
    });
    await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen("95000") });
    expect(await fixture.log(copier)).toEqual([
      "PLACE BUY LIMIT 0.002 RESTING",
      "FILL BUY LIMIT DONE",
      "PLACE_LEG SELL STOP_MARKET RESTING",
      "PLACE_LEG SELL TAKE_PROFIT_MARKET RESTING",
    ]);
    expect((await fixture.entries(copier))[2]?.clientOrderId).toBeNull();
    const [entry] = await fixture.entries(copier);
    await fixture.venue.fill(copier.account, entry?.venueOrderId ?? "", "95000");
    await fixture.waitFor("the legs are at the venue", async () => {
      const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
      return account?.account.openLegs.size === 2;
    });
    await fixture.waitFor("the legs are recorded", async () =>
      (await fixture.entries(copier)).slice(2).every(({ venueOrderId }) => venueOrderId !== null),
    );
  });

  test("that wait end with the entry they wait for", async () => {
    const orderId = await fixture.does(strategy, {
      ...places("BUY", "0.002", { at: "95000" }),
      entry: withLegs,
    });
    await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen("95000") });
    await fixture.does(strategy, places("SELL", "0.002"));
    await fixture.waitFor("the legs are over", async () =>
      (await fixture.entries(copier)).every(({ status }) => status !== "RESTING"),
    );
    expect((await fixture.log(copier))[0]).toBe("PLACE BUY LIMIT 0.002 CANCELED OVERTAKEN");
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
  });
});
