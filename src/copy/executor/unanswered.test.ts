// Leverages and prices that the venue does not answer for: no exit and no stop waits for them.
import { afterEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { Command } from "../../domain/command.ts";
import { decimal, type Price, type Quantity } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { CountingVenue } from "../testing/counting-venue.ts";

let fixture: CopiesFixture;
let way: CountingVenue;
let strategy: string;
let copier: Copier;

async function open(type: StrategyType): Promise<void> {
  fixture = await openCopiesFixture({
    through: async (url) => {
      way = await CountingVenue.open(url, type);
      return way.url;
    },
  });
  way.now = () => fixture.time.now();
  strategy = await fixture.strategy(type);
  await fixture.start();
  copier = await fixture.copier(strategy, type);
}
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await way[Symbol.asyncDispose]();
});

const DOWN = { status: 503, body: "down" };
const PRICES = { SPOT: "GET /api/v3/ticker/price", FUTURES: "GET /fapi/v1/premiumIndex" } as const;

/** From now on the venue does not set a leverage, of one contract or of all. */
function leavesLeverageOpen(symbol: string | null = null): void {
  way.instead = (route, parameters) => {
    const isAbout = symbol === null || parameters.get("symbol") === symbol;
    return route === "POST /fapi/v1/leverage" && isAbout ? DOWN : null;
  };
}

/** The strategy does something, and the copy may not be able to deal with it. */
async function does(command: Command): Promise<number> {
  const id = await fixture.does(strategy, command, false);
  fixture.wake(strategy);
  return id;
}

const stopAt = (price: string): Command => ({
  type: "PlaceLeg",
  symbol: "BTCUSDT",
  side: "SELL",
  legType: "STOP_MARKET",
  triggerPrice: decimal<Price>(price),
  clientLegId: `at-${price}`,
});
const legsAtVenue = async () => {
  const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
  return [...(account?.account.openLegs.values() ?? [])];
};
const position = () => fixture.position(copier, "BTCUSDT");
/** How long something takes, ms. */
async function takes(what: string, holds: () => Promise<boolean>): Promise<number> {
  const at = fixture.time.now();
  await fixture.waitFor(what, holds);
  return fixture.time.now() - at;
}

describe("an opening whose leverage the venue leaves open", () => {
  test("keeps neither stop nor exit waiting, and is given up for the exit", async () => {
    await open("FUTURES");
    await fixture.does(strategy, places("BUY", "0.002"));
    await fixture.passesAtRest(20_000);
    leavesLeverageOpen();
    await does(places("BUY", "0.001"));
    await fixture.passesAtRest(1_000);
    await does(stopAt("90000"));
    expect(await takes("the stop is there", async () => (await legsAtVenue()).length === 1)).toBeLessThan(
      8_000,
    );
    await does(places("SELL", "0.003"));
    expect(await takes("it is out", async () => (await position()) === "0")).toBeLessThan(8_000);
    await fixture.dealtWith(strategy);
    const log = await fixture.log(copier);
    expect(log[1]).toBe("PLACE BUY MARKET SKIPPED OVERTAKEN");
    expect(log[3]).toBe("PLACE SELL MARKET 0.002 FILLED executed 0.002");
    way.instead = () => null;
    await fixture.passesAtRest(20_000);
    expect(await position()).toBe("0");
  });

  test("is skipped after a minute", async () => {
    await open("FUTURES");
    leavesLeverageOpen();
    await does(places("BUY", "0.001"));
    const isSkipped = async () => `${await fixture.log(copier)}` === "PLACE BUY MARKET SKIPPED TOO_LATE";
    expect(await takes("it is skipped", isSkipped)).toBeLessThan(70_000);
  });

  test("is sent once the venue answers, if it is still open at the strategy: exits and cancels go before it", async () => {
    await open("FUTURES");
    await fixture.does(strategy, places("BUY", "0.002"));
    const other = await fixture.does(strategy, places("BUY", "0.001", { at: "80000" }));
    await fixture.passesAtRest(20_000);
    leavesLeverageOpen();
    await does(places("BUY", "0.004", { at: "90000" }));
    await fixture.passesAtRest(90_000);
    await does({ type: "CancelOrder", orderId: other });
    await does(places("SELL", "0.002"));
    expect(await takes("it is out", async () => (await position()) === "0")).toBeLessThan(8_000);
    const lines = async () => (await fixture.log(copier)).slice(1);
    expect((await lines()).slice(0, 2)).toEqual(["PLACE BUY LIMIT 0.001 CANCELED", "PLACE BUY LIMIT NEW"]);
    way.instead = () => null;
    await fixture.waitFor("it is sent", async () => `${(await lines())[1]}`.endsWith("RESTING"));
    expect(await lines()).toEqual([
      "PLACE BUY LIMIT 0.001 CANCELED",
      "PLACE BUY LIMIT 0.003 RESTING",
      "CANCEL BUY LIMIT 0.001 DONE",
      "PLACE SELL MARKET 0.002 FILLED executed 0.002",
    ]);
  });

  test("keeps no opening of another contract waiting", async () => {
    await open("FUTURES");
    leavesLeverageOpen("BTCUSDT");
    await does(places("BUY", "0.001"));
    await fixture.passesAtRest(1_000);
    await does(places("BUY", "0.1", { symbol: "ETHUSDT" }));
    const isThere = async () => (await fixture.position(copier, "ETHUSDT")) === "0.1";
    expect(await takes("it is there", isThere)).toBeLessThan(8_000);
  });
});

test("of an order through zero the closing part is sent, if the venue leaves the leverage open", async () => {
  await open("FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.passesAtRest(20_000);
  leavesLeverageOpen();
  await does(places("SELL", "0.003"));
  expect(await takes("it is out", async () => (await position()) === "0")).toBeLessThan(8_000);
  await fixture.dealtWith(strategy);
  expect((await fixture.log(copier))[1]).toBe("PLACE SELL MARKET 0.002 FILLED executed 0.002 LEVERAGE_UNFIT");
});

test("a change of the leverage that the venue leaves open keeps nothing waiting, and is made later", async () => {
  await open("FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "80000" }));
  leavesLeverageOpen();
  await does({ type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 30 });
  await fixture.passesAtRest(1_000);
  await does({ type: "CancelOrder", orderId });
  const isCanceled = async () => `${(await fixture.log(copier))[1]}`.endsWith("CANCELED");
  expect(await takes("it is canceled", isCanceled)).toBeLessThan(8_000);
  await does(places("SELL", "0.001"));
  expect(await takes("it is reduced", async () => (await position()) === "0.001")).toBeLessThan(8_000);
  way.instead = () => null;
  await fixture.waitFor("it is made", async () => (await fixture.log(copier))[2] === "SET_LEVERAGE DONE");
  const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
  expect(account?.account.leverages.get("BTCUSDT")).toBe(30);
});

describe.each([
  { type: "SPOT", bought: "0.001", sold: "0.00099" },
  { type: "FUTURES", bought: "0.002", sold: "0.002" },
] as const)("a venue that says no prices, $type", ({ type, bought, sold }) => {
  const isSold = async () => /SELL MARKET .* FILLED/.test(`${(await fixture.log(copier)).at(-1)}`);

  test.each([
    { how: "answers 503", answer: DOWN },
    { how: "does not answer", answer: "HELD" as const },
  ])("and $how gets exits within seconds", async ({ answer }) => {
    await open(type);
    await fixture.does(strategy, places("BUY", bought));
    await fixture.passesAtRest(5_000);
    way.instead = (route) => (route === PRICES[type] ? answer : null);
    await fixture.passesAtRest(10_000);
    await does(places("SELL", sold));
    expect(await takes("it is sold", isSold)).toBeLessThan(8_000);
    expect((await fixture.log(copier)).at(-1)).toBe(`PLACE SELL MARKET ${sold} FILLED executed ${sold}`);
    way.instead = () => null;
  });

  test("gets closings within seconds, and openings once it says them", async () => {
    await open(type);
    await fixture.does(strategy, places("BUY", bought));
    await fixture.passesAtRest(5_000);
    way.instead = (route) => (route === PRICES[type] ? DOWN : null);
    await fixture.passesAtRest(10_000);
    await does(places("BUY", "0.001", { at: "80000" }));
    await fixture.passesAtRest(20_000);
    expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY LIMIT NEW");
    way.instead = () => null;
    await fixture.waitFor("it is sent", async () =>
      `${(await fixture.log(copier)).at(-1)}`.endsWith("RESTING"),
    );
    way.instead = (route) => (route === PRICES[type] ? DOWN : null);
    await fixture.passesAtRest(10_000);
    const at = fixture.time.now();
    await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await fixture.waitFor("it is sold", isSold);
    expect(fixture.time.now() - at).toBeLessThan(12_000);
    way.instead = () => null;
  });
});

test("a repair that opens something is skipped a minute after it was sized", async () => {
  await open("FUTURES");
  // The copier of a strategy that has a position.
  const late = await fixture.strategy("FUTURES");
  await fixture.does(late, places("BUY", "0.004"));
  copier = await fixture.copier(late, "FUTURES");
  await fixture.passesAtRest(20_000);
  way.instead = (route) => (route === "POST /fapi/v1/order" ? DOWN : null);
  const asked = fixture.ask(copier, late, { kind: "REPAIR", mayIncrease: true });
  const at = fixture.time.now();
  await fixture.waitFor("it is sent", async () => `${await fixture.log(copier)}`.endsWith("SENT"));
  await fixture.passes(65_000 - (fixture.time.now() - at));
  way.instead = () => null;
  await asked;
  await fixture.passesAtRest(20_000);
  expect(await fixture.log(copier)).toEqual(["REPAIR BUY MARKET 0.004 SKIPPED TOO_LATE"]);
  expect(await position()).toBe("0");
});

describe("prices that the venue does not say", () => {
  test("keep no copy at another venue from its take profit", async () => {
    await open("FUTURES");
    const gains = await fixture.copier(strategy, "FUTURES", { takeProfit: decimal("0.01") });
    await fixture.does(strategy, places("BUY", "0.008"));
    const spot = await fixture.strategy("SPOT");
    await fixture.copier(spot, "SPOT");
    await fixture.does(spot, places("BUY", "0.001"));
    way.instead = (route) => (route === PRICES.SPOT ? "HELD" : null);
    const asked = () => way.seen.filter((route) => route === PRICES.SPOT).length;
    await fixture.passesAtRest(10_000);
    const before = asked();
    await fixture.waitFor("it is asked again", () => asked() > before);
    fixture.contracts.show("BTCUSDT", "101990", "102000", "102000");
    const isReached = async () => (await fixture.copy(gains)).reason === "TAKE_PROFIT";
    expect(await takes("it is reached", isReached)).toBeLessThan(4_000);
    way.instead = () => null;
  });

  test("are not taken for the prices that the copy has paid: no stop loss acts on them", async () => {
    await open("FUTURES");
    copier = await fixture.copier(strategy, "FUTURES", { stopLoss: decimal("0.02") });
    await fixture.does(strategy, places("BUY", "0.01"));
    fixture.contracts.show("BTCUSDT", "102990", "103000", "103000");
    await fixture.does(strategy, places("BUY", "0.5", { symbol: "ETHUSDT" }));
    fixture.contracts.show("ETHUSDT", "1949", "1950", "1950");
    await fixture.passesAtRest(5_000);
    await fixture.does(strategy, places("SELL", "0.5", { symbol: "ETHUSDT" }));
    way.instead = (route) => (route === PRICES.FUTURES ? DOWN : null);
    await fixture.passesAtRest(20_000);
    way.instead = () => null;
    await fixture.passesAtRest(5_000);
    expect(await fixture.copy(copier)).toMatchObject({ status: "FOLLOWING" });
    expect(await position()).toBe("0.01");
  });
});

test("an exit at the market that the venue has taken and not executed yet is not sent a second time", async () => {
  await open("FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.passesAtRest(5_000);
  let clientOrderId: string | null = null;
  let executed = { status: "NEW", executedQty: "0", cumQuote: "0" };
  way.instead = (route, parameters) => {
    if (!/ \/fapi\/v1\/order$/.test(route)) return null;
    clientOrderId ??= parameters.get("newClientOrderId");
    const order = { orderId: 99, clientOrderId, symbol: "BTCUSDT", origQty: "0.002", updateTime: way.now() };
    return { status: 200, body: JSON.stringify({ ...order, ...executed }) };
  };
  way.seen.length = 0;
  await does(places("SELL", "0.002"));
  await fixture.passesAtRest(20_000);
  executed = { status: "FILLED", executedQty: "0.002", cumQuote: "199.98" };
  await fixture.waitFor("it is executed", async () => `${(await fixture.log(copier))[1]}`.includes("FILLED"));
  expect((await fixture.log(copier)).slice(1)).toEqual(["PLACE SELL MARKET 0.002 FILLED executed 0.002"]);
  expect(way.seen.filter((route) => route === "POST /fapi/v1/order")).toHaveLength(1);
});

test.each(["SPOT", "FUTURES"] as const)(
  "an order at the market that the venue decides seconds late is not sent a second time: %s",
  async (type) => {
    await open(type);
    const place = type === "SPOT" ? "/api/v3/order" : "/fapi/v1/order";
    let late: string | null = null;
    let isDecided = false;
    way.instead = (route, parameters) => {
      if (route !== `POST ${place}` || late !== null) return null;
      late = parameters.get("newClientOrderId");
      return DOWN;
    };
    // The venue decides what comes later behind the order.
    way.before = async (route) => {
      if (route !== `DELETE ${place}` || late === null || isDecided) return;
      isDecided = true;
      const sent = { side: "BUY", quantity: decimal<Quantity>("0.001") } as const;
      await fixture.trades(copier, type, sent, late);
    };
    await fixture.does(strategy, places("BUY", "0.001"));
    expect((await fixture.log(copier)).at(-1)).toMatch(/^PLACE BUY MARKET 0.001 FILLED/);
    const orders = await fixture.venue.orders(copier.account, "BTCUSDT");
    expect(orders.map(({ clientOrderId }) => clientOrderId)).toEqual([late]);
  },
);

test.each(["SPOT", "FUTURES"] as const)(
  "an exit at the market goes out once a venue that takes no orders for a while does again: %s",
  async (type) => {
    await open(type);
    await fixture.does(strategy, places("BUY", "0.001"));
    await fixture.passesAtRest(5_000);
    const isTaken = (route: string) => /^(POST|DELETE) .*\/order$/.test(route);
    way.instead = (route) => (isTaken(route) ? DOWN : null);
    const held = type === "SPOT" ? "0.00099" : "0.001";
    await does(places("SELL", held));
    await fixture.passesAtRest(12_000);
    way.instead = () => null;
    const isOut = async () => (await fixture.log(copier)).at(-1)?.includes("FILLED") === true;
    expect(await takes("it is out", isOut)).toBeLessThan(10_000);
    expect(await fixture.venue.orders(copier.account, "BTCUSDT")).toHaveLength(2);
  },
);

test("without prices nothing counts as lost on a day, and open entries stay", async () => {
  await open("SPOT");
  const limited = await fixture.copier(strategy, "SPOT", { lossPerDayMax: decimal("0.1") });
  await fixture.does(strategy, places("BUY", "0.001"));
  fixture.pairs.show("BTCUSDT", "129990", "130000");
  await fixture.passes(4_000);
  await fixture.stop();
  const day = 86_400_000;
  fixture.time.advance(day - (fixture.time.now() % day));
  await fixture.start();
  const dayStart = async () => (await fixture.copy(limited)).book.dayStart?.equity ?? 0n;
  await fixture.waitFor("the day begins with what was won", async () => (await dayStart()) > decimal("220"));
  await fixture.does(strategy, places("BUY", "0.0002", { at: "70000" }));
  expect((await fixture.log(limited)).at(-1)).toBe("PLACE BUY LIMIT 0.0002 RESTING");
  await fixture.stop();
  way.instead = (route) => (route === PRICES.SPOT ? DOWN : null);
  await fixture.start();
  await fixture.passesAtRest(20_000);
  expect((await fixture.log(limited)).at(-1)).toBe("PLACE BUY LIMIT 0.0002 RESTING");
});
