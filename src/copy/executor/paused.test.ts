// A paused copy follows exits and opens nothing, whatever orders are open.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";

let fixture: CopiesFixture;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  fixture = await openCopiesFixture();
  strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function fillAll(): Promise<void> {
  fixture.contracts.show("BTCUSDT", "109990", "110000", "110000");
  for (const { orderId, status } of await fixture.venue.orders(copier.account, "BTCUSDT")) {
    if (status === "NEW") await fixture.venue.fill(copier.account, String(orderId), "110000");
  }
  await fixture.ask(copier, strategy, { kind: "LOOK" });
}

test("two limits of the strategy that each close all of it never open the other side", async () => {
  await fixture.changeCopy(copier, strategy, "PAUSED", "COPIER");
  await fixture.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await fixture.does(strategy, places("SELL", "0.002", { at: "106000" }));
  const orders = await fixture.venue.orders(copier.account, "BTCUSDT");
  const sells = orders.filter(({ side }) => side === "SELL");
  expect(sells.map((sell) => sell.reduceOnly)).toEqual([true, true]);
  await fillAll();
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
});

test("entries that are open when it is paused are canceled, exits stay", async () => {
  await fixture.does(strategy, places("BUY", "0.002", { at: "90000" }));
  await fixture.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await fixture.changeCopy(copier, strategy, "PAUSED", "COPIER");
  await fixture.waitFor("the bid is taken back", async () =>
    (await fixture.log(copier)).includes("PLACE BUY LIMIT 0.002 CANCELED PAUSED"),
  );
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE SELL LIMIT 0.002 RESTING");
  await fixture.changeCopy(copier, strategy, "FOLLOWING", null);
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  const open = (await fixture.venue.orders(copier.account, "BTCUSDT")).filter(
    ({ status }) => status === "NEW",
  );
  expect(open.map(({ side }) => side)).toEqual(["SELL"]);
});

test("what was placed before the pause, and may go through zero, counts", async () => {
  await fixture.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await fixture.changeCopy(copier, strategy, "PAUSED", "COPIER");
  await fixture.does(strategy, places("SELL", "0.002", { at: "106000" }));
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE SELL LIMIT SKIPPED NOTHING_HELD");
  await fillAll();
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
});

test("as long as it follows, it goes with the strategy", async () => {
  await fixture.does(strategy, places("SELL", "0.002", { at: "105000" }));
  await fixture.does(strategy, places("SELL", "0.002", { at: "106000" }));
  await fillAll();
  expect(await fixture.position(copier, "BTCUSDT")).toBe("-0.002");
});

test("what was missed is closed before an order through zero, which then opens at the strategy's leverage", async () => {
  await fixture.halt(strategy);
  await fixture.does(strategy, places("SELL", "0.002"));
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 3 });
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.unhalt(strategy);
  await fixture.does(strategy, places("SELL", "0.004"));
  const log = await fixture.log(copier);
  // With the old position the venue would refuse another leverage.
  expect(log.at(-1)).toBe("RECONCILE SELL MARKET 0.002 FILLED executed 0.002");
  expect(log.at(-2)).toBe("PLACE SELL MARKET 0.002 FILLED executed 0.002");
  expect(await fixture.position(copier, "BTCUSDT")).toBe("-0.002");
});
