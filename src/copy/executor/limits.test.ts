// The limits that a copier sets, as they act on an account.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { CopySettings } from "../../domain/copying.ts";
import { decimal, formatDecimal, type Price, type Rate, shareOf, ZERO } from "../../money/decimal.ts";
import {
  audit,
  type Copier,
  type CopiesFixture,
  openCopiesFixture,
  places,
} from "../testing/copies-fixture.ts";
import { CountingVenue } from "../testing/counting-venue.ts";

let fixture: CopiesFixture;

beforeEach(async () => {
  fixture = await openCopiesFixture();
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function strategyOf(type: StrategyType): Promise<string> {
  const strategy = await fixture.strategy(type);
  await fixture.start();
  return strategy;
}

/** Until it is known what the copy is worth on this day, from which a loss counts. */
async function dayBegins(copier: Copier): Promise<void> {
  const isKnown = async () => (await fixture.copy(copier)).book.dayStart !== undefined;
  await fixture.waitFor("what it is worth on this day is known", isKnown);
}

test("more openings within a minute than permitted are skipped; a sale is not one", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await fixture.copier(strategy, "SPOT", { ordersPerMinuteMax: 2 });
  await fixture.does(strategy, places("BUY", "0.0002"));
  await fixture.does(strategy, places("BUY", "0.0002"));
  await fixture.does(strategy, places("BUY", "0.0002"));
  await fixture.does(strategy, places("SELL", "0.0003"));
  const log = await fixture.log(copier);
  expect(log[2]).toBe("PLACE BUY MARKET SKIPPED TOO_MANY_ORDERS");
  expect(log[3]).toContain("PLACE SELL MARKET 0.0002 FILLED");
  await fixture.passes(61_000);
  await fixture.does(strategy, places("BUY", "0.0002"));
  expect((await fixture.log(copier)).at(-1)).toContain("PLACE BUY MARKET 0.0002 FILLED");
});

test("open orders of other contracts count towards the most that a copy may have at stake", async () => {
  const strategy = await strategyOf("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES", { exposureMax: decimal("1") });
  await fixture.does(strategy, places("BUY", "0.2", { symbol: "ETHUSDT", at: "1900" }));
  await fixture.does(strategy, places("BUY", "0.008", { at: "90000" }));
  const [eth, btc] = await fixture.log(copier);
  expect(eth).toBe("PLACE BUY LIMIT 0.2 RESTING");
  // 1,000 USDT less the 380 of the other order.
  expect(btc).toBe("PLACE BUY LIMIT 0.006 RESTING ABOVE_EXPOSURE_MAX");
});

test("what the first order of a day costs is part of the loss of that day", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  expect((await fixture.copy(copier)).book.dayStart).toBeUndefined();
  await fixture.does(strategy, places("BUY", "0.001"));
  await dayBegins(copier);
  const { dayStart } = (await fixture.copy(copier)).book;
  expect(formatDecimal(dayStart?.equity ?? ZERO)).toBe("200.00000000");
});

test("after the loss of a day nothing is opened until the next one (UTC)", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await fixture.copier(strategy, "SPOT", { lossPerDayMax: decimal("0.05") });
  await fixture.does(strategy, places("BUY", "0.001"));
  await dayBegins(copier);
  // A loss of 20 of 200 USDT.
  fixture.pairs.show("BTCUSDT", "79990", "80000");
  await fixture.passes(4_000);
  await fixture.does(strategy, places("BUY", "0.0002"));
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET SKIPPED LOSS_OF_DAY");
  expect((await fixture.entries(copier)).at(-1)?.skip).toMatchObject({ unit: "QUOTE" });
  await fixture.does(strategy, places("SELL", "0.0005"));
  expect((await fixture.log(copier)).at(-1)).toContain("PLACE SELL MARKET");
  const day = 86_400_000;
  await fixture.stop();
  fixture.time.advance(day - (fixture.time.now() % day));
  await fixture.start();
  await fixture.passes(4_000);
  await fixture.does(strategy, places("BUY", "0.0002"));
  expect((await fixture.log(copier)).at(-1)).toContain("PLACE BUY MARKET 0.0002 FILLED");
});

test("after the loss of a day open entries are canceled, and exits stay", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await fixture.copier(strategy, "SPOT", { lossPerDayMax: decimal("0.05") });
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.does(strategy, places("SELL", "0.0005", { at: "120000" }));
  await fixture.does(strategy, places("BUY", "0.0002", { at: "70000" }));
  await fixture.does(strategy, places("BUY", "0.01", { at: "1000", symbol: "ETHUSDT" }));
  await dayBegins(copier);
  await fixture.passes(10_000);
  expect((await fixture.log(copier)).slice(2)).toEqual([
    "PLACE BUY LIMIT 0.0002 RESTING",
    "PLACE BUY LIMIT 0.01 RESTING",
  ]);
  fixture.pairs.show("BTCUSDT", "79990", "80000");
  const canceled = async () =>
    (await fixture.entries(copier)).filter(({ status, skip }) => status === "CANCELED" && skip !== null);
  await fixture.waitFor("both are canceled", async () => (await canceled()).length === 2);
  for (const { skip } of await canceled())
    expect(skip).toMatchObject({ reason: "LOSS_OF_DAY", unit: "QUOTE", bound: decimal("0.05") });
  const open = async (symbol: string) =>
    (await fixture.venue.orders(copier.account, symbol)).filter(({ status }) => status === "NEW");
  expect([(await open("BTCUSDT")).map(({ side }) => side), await open("ETHUSDT")]).toEqual([["SELL"], []]);
});

describe("a repair with consent", () => {
  test("opens nothing after the loss of a day, and its line says so", async () => {
    const strategy = await strategyOf("SPOT");
    const copier = await fixture.copier(strategy, "SPOT", { lossPerDayMax: decimal("0.05") });
    await fixture.does(strategy, places("BUY", "0.001"));
    await dayBegins(copier);
    fixture.pairs.show("BTCUSDT", "79990", "80000");
    await fixture.passes(4_000);
    await fixture.does(strategy, places("BUY", "0.0005"));
    await fixture.ask(copier, strategy, { kind: "REPAIR", mayIncrease: true });
    expect((await fixture.log(copier)).slice(1)).toEqual([
      "PLACE BUY MARKET SKIPPED LOSS_OF_DAY",
      expect.stringMatching(/^REPAIR BUY MARKET [\d.]+ SKIPPED LOSS_OF_DAY$/),
    ]);
    expect((await fixture.entries(copier)).at(-1)?.skip).toMatchObject({ unit: "QUOTE" });
  });

  test("opens no more within a minute than permitted", async () => {
    const strategy = await strategyOf("FUTURES");
    await fixture.does(strategy, places("BUY", "0.002"));
    await fixture.does(strategy, places("BUY", "0.1", { symbol: "ETHUSDT" }));
    const copier = await fixture.copier(strategy, "FUTURES", { ordersPerMinuteMax: 1 });
    await fixture.ask(copier, strategy, { kind: "REPAIR", mayIncrease: true });
    const outcomes = (await fixture.entries(copier)).map(({ status, skip }) => [
      status,
      skip?.reason ?? null,
    ]);
    expect(outcomes.toSorted()).toEqual([
      ["FILLED", null],
      ["SKIPPED", "TOO_MANY_ORDERS"],
    ]);
    await fixture.does(strategy, places("BUY", "0.001"));
    expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET SKIPPED TOO_MANY_ORDERS");
  });

  test("takes what it needs off what the next orders may use", async () => {
    const strategy = await strategyOf("FUTURES");
    await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 5 });
    await fixture.does(strategy, places("BUY", "0.015"));
    const settings = {
      size: { by: "FIXED_RATIO", ratio: decimal<Rate>("1") },
      share: decimal<Rate>("0.5"),
    } as const;
    const copier = await fixture.copier(strategy, "FUTURES", settings);
    await fixture.ask(copier, strategy, { kind: "REPAIR", mayIncrease: true });
    expect(await fixture.log(copier)).toEqual(["REPAIR BUY MARKET 0.015 FILLED executed 0.015"]);
    await fixture.does(strategy, places("BUY", "0.015"));
    // 300 of the 500 that it may use are in use.
    expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET 0.015 SKIPPED INSUFFICIENT_MARGIN");
  });
});

test("openings that the process before has sent count towards the most within a minute", async () => {
  const strategy = await strategyOf("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES", { ordersPerMinuteMax: 2 });
  await fixture.does(strategy, places("BUY", "0.002"));
  // Closed again, which is no opening.
  await fixture.does(strategy, places("SELL", "0.002"));
  await fixture.stop();
  await fixture.start();
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.does(strategy, places("BUY", "0.001"));
  expect((await fixture.log(copier)).slice(2)).toEqual([
    "PLACE BUY MARKET 0.002 FILLED executed 0.002",
    "PLACE BUY MARKET SKIPPED TOO_MANY_ORDERS",
  ]);
  await fixture.passesAtRest(61_000);
  await fixture.does(strategy, places("BUY", "0.001"));
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET 0.001 FILLED executed 0.001");
});

/** Its owner sets something else, and the account is polled after that. */
async function sets(copier: Copier, strategy: string, changed: Partial<CopySettings>): Promise<void> {
  const { settings: from } = await fixture.copy(copier);
  const to = { ...from, ...changed };
  await fixture.store.copying.changeSettings(copier.copyId, { from, to }, audit(copier.copyId));
  await fixture.peopleChanged(strategy);
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  await fixture.ask(copier, strategy, { kind: "LOOK" });
}

test("another share is no loss of the day, and what was lost of the day before is the same part of it", async () => {
  const strategy = await strategyOf("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES", { lossPerDayMax: decimal("0.1") });
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 3 });
  await fixture.does(strategy, places("BUY", "0.001"));
  const dayStart = async () => (await fixture.copy(copier)).book.dayStart;
  await fixture.waitFor("the day is known", async () => (await dayStart()) !== undefined);
  const before = (await dayStart())?.equity ?? ZERO;
  await sets(copier, strategy, { share: decimal("0.3") });
  expect(await dayStart()).toMatchObject({ equity: shareOf(before, 3n, 10n) });
  await fixture.does(strategy, places("BUY", "0.004"));
  expect((await fixture.log(copier)).at(-1)).toContain("PLACE BUY MARKET 0.001 FILLED");
  // A loss of 40 of 300.
  fixture.contracts.show("BTCUSDT", "79990", "80000");
  await fixture.passes(4_000);
  await sets(copier, strategy, { share: decimal("1") });
  await fixture.does(strategy, places("BUY", "0.002"));
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET SKIPPED LOSS_OF_DAY");
});

test("a loss per day that is set during a day counts from its beginning", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  await dayBegins(copier);
  fixture.pairs.show("BTCUSDT", "79990", "80000");
  await fixture.passes(4_000);
  await sets(copier, strategy, { lossPerDayMax: decimal("0.05") });
  await fixture.does(strategy, places("BUY", "0.0002"));
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET SKIPPED LOSS_OF_DAY");
});

test("a take profit closes everything within seconds of the price, and pauses the copy", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await fixture.copier(strategy, "SPOT", { takeProfit: decimal("0.05") });
  await fixture.does(strategy, places("BUY", "0.001"));
  fixture.pairs.show("BTCUSDT", "112990", "113000");
  const at = fixture.time.now();
  await fixture.waitFor("it is paused", async () => (await fixture.copy(copier)).status === "PAUSED");
  expect(fixture.time.now() - at).toBeLessThan(10_000);
  expect(await fixture.copy(copier)).toMatchObject({ reason: "TAKE_PROFIT" });
  expect((await fixture.log(copier)).at(-1)).toContain("FLATTEN SELL MARKET 0.00099 FILLED");
  await fixture.eventually("the copiers are notified", () => fixture.notified.length >= 1);
  expect(fixture.notified).toEqual([{ copyId: copier.copyId, reason: "TAKE_PROFIT" }]);
});

test("an exit whose limit the strategy has filled is closed at the market after the seconds that the copier set", async () => {
  const strategy = await strategyOf("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES", { closeAfterSeconds: 30 });
  const patient = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  const orderId = await fixture.does(strategy, places("SELL", "0.002", { at: "101000" }));
  const seen = decimal<Price>("101000");
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, seen, seenAt: fixture.time.now() });
  await fixture.passes(20_000);
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.002");
  const at = fixture.time.now();
  await fixture.waitFor("it is closed", async () => (await fixture.position(copier, "BTCUSDT")) === "0");
  expect(fixture.time.now() - at).toBeLessThan(20_000);
  const closed = "RECONCILE SELL MARKET 0.002 FILLED executed 0.002";
  await fixture.eventually("the log says so", async () => (await fixture.log(copier)).at(-1) === closed);
  expect((await fixture.log(copier))[1]).toBe("PLACE SELL LIMIT 0.002 CANCELED OVERTAKEN");
  // A limit is a price promise unless the settings say otherwise.
  expect(await fixture.position(patient, "BTCUSDT")).toBe("0.002");
});

test("the seconds of an exit do not count from one before it that was filled in time", async () => {
  const strategy = await strategyOf("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES", { closeAfterSeconds: 60 });
  await fixture.does(strategy, places("BUY", "0.002"));
  const asks = async () =>
    (await fixture.venue.orders(copier.account, "BTCUSDT")).filter(({ type }) => type === "LIMIT");
  const sells = async () => {
    const orderId = await fixture.does(strategy, places("SELL", "0.001", { at: "101000" }));
    const seen = decimal<Price>("101000");
    await fixture.does(strategy, { type: "FillRestingOrder", orderId, seen, seenAt: fixture.time.now() });
    await fixture.passesAtRest(20_000);
    return (await asks()).at(-1);
  };
  const first = await sells();
  await fixture.venue.fill(copier.account, `${first?.orderId}`, "101000");
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.001");
  await fixture.passesAtRest(60_000);
  expect((await sells())?.status).toBe("NEW");
});

describe("an opening that is in flight", () => {
  let way: CountingVenue;
  let hold: PromiseWithResolvers<void>;

  /** A copier of a strategy that buys BTC; the venue takes the order, and does not answer yet. */
  async function buys(type: StrategyType, settings: Partial<CopySettings>, quantity: string) {
    await fixture[Symbol.asyncDispose]();
    fixture = await openCopiesFixture({
      through: async (url) => {
        way = await CountingVenue.open(url, type);
        return way.url;
      },
    });
    way.now = () => fixture.time.now();
    const strategy = await strategyOf(type);
    const copier = await fixture.copier(strategy, type, settings);
    hold = Promise.withResolvers<void>();
    let orders = 0;
    way.before = async (route) => {
      if (!/^POST .*\/order$/.test(route)) return;
      orders += 1;
      if (orders === 1) await hold.promise;
    };
    await fixture.does(strategy, places("BUY", quantity), false);
    fixture.wake(strategy);
    await fixture.eventually("it is sent", () => orders === 1);
    return { strategy, copier };
  }
  const next = async (strategy: string, copier: Copier, quantity: string) => {
    await fixture.does(strategy, places("BUY", quantity, { symbol: "ETHUSDT" }), false);
    fixture.wake(strategy);
    const line = async () => (await fixture.log(copier))[1];
    await fixture.waitFor("the next one is dealt with", async () => /FILLED|SKIPPED/.test(`${await line()}`));
    hold.resolve();
    await fixture.dealtWith(strategy);
    return await line();
  };
  afterEach(() => way[Symbol.asyncDispose]());

  test("counts towards the most that a copy may have at stake", async () => {
    const { strategy, copier } = await buys("FUTURES", { exposureMax: decimal("1") }, "0.008");
    expect(await next(strategy, copier, "0.2")).toBe(
      "PLACE BUY MARKET 0.1 FILLED executed 0.1 ABOVE_EXPOSURE_MAX",
    );
  });

  test("counts towards the budget", async () => {
    const size = { by: "FIXED_RATIO", ratio: decimal<Rate>("1") } as const;
    const { strategy, copier } = await buys("SPOT", { budget: decimal("100"), size }, "0.0009");
    expect(await next(strategy, copier, "0.03")).toBe("PLACE BUY MARKET 0.03 SKIPPED INSUFFICIENT_BALANCE");
  });

  test("counts towards the most within a minute, unless the venue refuses it", async () => {
    const { strategy, copier } = await buys("FUTURES", { ordersPerMinuteMax: 1 }, "0.004");
    expect(await next(strategy, copier, "0.1")).toBe("PLACE BUY MARKET SKIPPED TOO_MANY_ORDERS");
    await fixture.passesAtRest(61_000);
    const refused = { status: 400, body: '{"code":-1008,"msg":"Server is overloaded."}' };
    way.instead = (route) => (route === "POST /fapi/v1/order" ? refused : null);
    await fixture.does(strategy, places("BUY", "0.001"));
    way.instead = () => null;
    await fixture.does(strategy, places("BUY", "0.002"));
    expect((await fixture.log(copier)).slice(2)).toEqual([
      "PLACE BUY MARKET 0.001 FAILED REFUSED",
      "PLACE BUY MARKET 0.002 FILLED executed 0.002",
    ]);
  });
});
