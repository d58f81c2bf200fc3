// The limits that a copier sets, as they act on an account.
import { afterEach, beforeEach, expect, test } from "vitest";
import { decimal, type Price } from "../../money/decimal.ts";
import { type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";

let stage: CopiesStage;

beforeEach(async () => {
  stage = await openCopiesStage();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

async function strategyOf(type: "SPOT" | "FUTURES"): Promise<string> {
  const strategy = await stage.strategy(type);
  await stage.start();
  return strategy;
}

test("more openings within a minute than permitted are skipped; a sale is not one", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await stage.copier(strategy, "SPOT", { ordersPerMinuteMax: 2 });
  await stage.does(strategy, places("BUY", "0.0002"));
  await stage.does(strategy, places("BUY", "0.0002"));
  await stage.does(strategy, places("BUY", "0.0002"));
  await stage.does(strategy, places("SELL", "0.0003"));
  const log = await stage.log(copier);
  expect(log[2]).toBe("PLACE BUY MARKET SKIPPED TOO_MANY_ORDERS");
  expect(log[3]).toContain("PLACE SELL MARKET 0.0002 FILLED");
  await stage.passes(61_000);
  await stage.does(strategy, places("BUY", "0.0002"));
  expect((await stage.log(copier)).at(-1)).toContain("PLACE BUY MARKET 0.0002 FILLED");
});

test("open orders of other contracts count towards the most that a copy may have at stake", async () => {
  const strategy = await strategyOf("FUTURES");
  const copier = await stage.copier(strategy, "FUTURES", { exposureMax: decimal("1") });
  await stage.does(strategy, places("BUY", "0.2", { symbol: "ETHUSDT", at: "1900" }));
  await stage.does(strategy, places("BUY", "0.008", { at: "90000" }));
  const [eth, btc] = await stage.log(copier);
  expect(eth).toBe("PLACE BUY LIMIT 0.2 RESTING");
  // 1,000 USDT less the 380 of the other order.
  expect(btc).toBe("PLACE BUY LIMIT 0.006 RESTING ABOVE_EXPOSURE_MAX");
});

test("after the loss of a day nothing is opened until the next one (UTC)", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await stage.copier(strategy, "SPOT", { lossPerDayMax: decimal("0.05") });
  await stage.does(strategy, places("BUY", "0.001"));
  const isDayKnown = async () => (await stage.copy(copier)).book.dayStart !== undefined;
  await stage.waitFor("what it is worth on this day is known", isDayKnown);
  // A loss of 20 of 200 USDT.
  stage.pairs.show("BTCUSDT", "79990", "80000");
  await stage.passes(4_000);
  await stage.does(strategy, places("BUY", "0.0002"));
  expect((await stage.log(copier)).at(-1)).toBe("PLACE BUY MARKET SKIPPED LOSS_OF_DAY");
  expect((await stage.entries(copier)).at(-1)?.skip).toMatchObject({ unit: "QUOTE" });
  await stage.does(strategy, places("SELL", "0.0005"));
  expect((await stage.log(copier)).at(-1)).toContain("PLACE SELL MARKET");
  const day = 86_400_000;
  await stage.stop();
  stage.time.advance(day - (stage.time.now() % day));
  await stage.start();
  await stage.passes(4_000);
  await stage.does(strategy, places("BUY", "0.0002"));
  expect((await stage.log(copier)).at(-1)).toContain("PLACE BUY MARKET 0.0002 FILLED");
});

test("a take profit closes everything within seconds of the price, and pauses the copy", async () => {
  const strategy = await strategyOf("SPOT");
  const copier = await stage.copier(strategy, "SPOT", { takeProfit: decimal("0.05") });
  await stage.does(strategy, places("BUY", "0.001"));
  stage.pairs.show("BTCUSDT", "112990", "113000");
  const at = stage.time.now();
  await stage.waitFor("it is paused", async () => (await stage.copy(copier)).status === "PAUSED");
  expect(stage.time.now() - at).toBeLessThan(10_000);
  expect(await stage.copy(copier)).toMatchObject({ reason: "TAKE_PROFIT" });
  expect((await stage.log(copier)).at(-1)).toContain("FLATTEN SELL MARKET 0.00099 FILLED");
  expect(stage.told).toEqual([{ copyId: copier.copyId, reason: "TAKE_PROFIT" }]);
});

test("an exit whose limit the strategy has filled is closed at the market after the seconds that the copier set", async () => {
  const strategy = await strategyOf("FUTURES");
  const copier = await stage.copier(strategy, "FUTURES", { closeAfterSeconds: 30 });
  const patient = await stage.copier(strategy, "FUTURES");
  await stage.does(strategy, places("BUY", "0.002"));
  const orderId = await stage.does(strategy, places("SELL", "0.002", { at: "101000" }));
  const seen = decimal<Price>("101000");
  await stage.does(strategy, { type: "FillRestingOrder", orderId, seen, seenAt: stage.time.now() });
  await stage.passes(20_000);
  expect(await stage.position(copier, "BTCUSDT")).toBe("0.002");
  const at = stage.time.now();
  await stage.waitFor("it is closed", async () => (await stage.position(copier, "BTCUSDT")) === "0");
  expect(stage.time.now() - at).toBeLessThan(20_000);
  const closed = "RECONCILE SELL MARKET 0.002 FILLED executed 0.002";
  await stage.eventually("the log says so", async () => (await stage.log(copier)).at(-1) === closed);
  expect((await stage.log(copier))[1]).toBe("PLACE SELL LIMIT 0.002 CANCELED OVERTAKEN");
  // A limit is a price promise unless the settings say otherwise.
  expect(await stage.position(patient, "BTCUSDT")).toBe("0.002");
});
