// A paused copy follows exits and opens nothing, whatever orders are open.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";

let stage: CopiesStage;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  stage = await openCopiesStage();
  strategy = await stage.strategy("FUTURES");
  await stage.start();
  copier = await stage.copier(strategy, "FUTURES");
  await stage.does(strategy, places("BUY", "0.002"));
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

async function fillAll(): Promise<void> {
  stage.contracts.show("BTCUSDT", "109990", "110000", "110000");
  for (const { orderId, status } of await stage.venue.orders(copier.account, "BTCUSDT")) {
    if (status === "NEW") await stage.venue.fill(copier.account, String(orderId), "110000");
  }
  await stage.ask(copier, strategy, { kind: "LOOK" });
}

test("two limits of the strategy that each close all of it never open the other side", async () => {
  await stage.changeCopy(copier, strategy, "PAUSED", "COPIER");
  await stage.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await stage.does(strategy, places("SELL", "0.002", { at: "106000" }));
  const orders = await stage.venue.orders(copier.account, "BTCUSDT");
  const sells = orders.filter(({ side }) => side === "SELL");
  expect(sells.map((sell) => sell.reduceOnly)).toEqual([true, true]);
  await fillAll();
  expect(await stage.position(copier, "BTCUSDT")).toBe("0");
  expect(await stage.holds(copier, "BTCUSDT")).toBe("0");
});

test("entries that are open when it is paused are canceled, exits stay", async () => {
  await stage.does(strategy, places("BUY", "0.002", { at: "90000" }));
  await stage.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await stage.changeCopy(copier, strategy, "PAUSED", "COPIER");
  await stage.waitFor("the bid is taken back", async () =>
    (await stage.log(copier)).includes("PLACE BUY LIMIT 0.002 CANCELED PAUSED"),
  );
  expect((await stage.log(copier)).at(-1)).toBe("PLACE SELL LIMIT 0.002 RESTING");
  await stage.changeCopy(copier, strategy, "FOLLOWING", null);
  await stage.ask(copier, strategy, { kind: "LOOK" });
  const open = (await stage.venue.orders(copier.account, "BTCUSDT")).filter(({ status }) => status === "NEW");
  expect(open.map(({ side }) => side)).toEqual(["SELL"]);
});

test("what was placed before the pause, and may go through zero, counts", async () => {
  await stage.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await stage.changeCopy(copier, strategy, "PAUSED", "COPIER");
  await stage.does(strategy, places("SELL", "0.002", { at: "106000" }));
  expect((await stage.log(copier)).at(-1)).toBe("PLACE SELL LIMIT SKIPPED NOTHING_HELD");
  await fillAll();
  expect(await stage.position(copier, "BTCUSDT")).toBe("0");
});

test("as long as it follows, it goes with the strategy", async () => {
  await stage.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await stage.does(strategy, places("SELL", "0.002", { at: "106000" }));
  await fillAll();
  expect(await stage.position(copier, "BTCUSDT")).toBe("-0.002");
});

test("what was missed is closed before an order through zero, which then opens at the strategy's leverage", async () => {
  await stage.halt(strategy);
  await stage.does(strategy, places("SELL", "0.002"));
  await stage.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 3 });
  await stage.does(strategy, places("BUY", "0.002"));
  await stage.unhalt(strategy);
  await stage.does(strategy, places("SELL", "0.004"));
  const log = await stage.log(copier);
  // With the old position the venue would refuse another leverage.
  expect(log.at(-1)).toBe("RECONCILE SELL MARKET 0.002 FILLED executed 0.002");
  expect(log.at(-2)).toBe("PLACE SELL MARKET 0.002 FILLED executed 0.002");
  expect(await stage.position(copier, "BTCUSDT")).toBe("-0.002");
});
