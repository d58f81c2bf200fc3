// A venue that changes its rules, or delists a symbol, between two orders: an order sized by the old rules is
// rejected, sized by the new ones, and sent once more.
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultProxy } from "../../../test/support/fault-proxy.ts";
import { contractRow } from "../../../test/support/own-contracts.ts";
import { decimal, type Price, type Rate } from "../../money/decimal.ts";
import { type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";
import { pairRow } from "../venue/testing/own-pairs.ts";

const ETH = "ETHUSDT";
/** Makes sizes of the copy that are on fine steps only. */
const SHARE = { share: decimal<Rate>("0.777") };

let stage: CopiesStage;
let proxy: FaultProxy;

beforeEach(async () => {
  stage = await openCopiesStage({
    through: async (url) => {
      proxy = await FaultProxy.open(url);
      return proxy.url;
    },
  });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

test("an order is sized by the new step, under the client id that was refused", async () => {
  const { strategy, copier } = await holding();
  makeCoarser();
  await stage.does(strategy, places("BUY", "0.02", { symbol: ETH }));
  await stage.does(strategy, places("SELL", "0.02", { symbol: ETH }));
  expect((await stage.log(copier)).slice(1)).toEqual([
    "PLACE BUY MARKET 0.01 FILLED executed 0.01",
    "PLACE SELL MARKET 0.01 FILLED executed 0.01",
  ]);
  const [, bought] = await stage.entries(copier);
  expect(bought).toMatchObject({ sends: 1, skip: null });
});

test("what is too small by the new rules is skipped with the figures", async () => {
  const { strategy, copier } = await holding();
  makeCoarser();
  await stage.does(strategy, places("BUY", "0.01", { symbol: ETH }));
  const [, skipped] = await stage.entries(copier);
  expect(skipped?.skip).toMatchObject({
    reason: "BELOW_MIN_QUANTITY",
    wanted: decimal("0.01"),
    had: expect.any(BigInt),
    venue: null,
  });
});

test("a copy that closes sells by the new step", async () => {
  const { strategy, copier } = await holding();
  makeCoarser();
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.waitFor("it is closed", async () => (await stage.copy(copier)).status === "STOPPED");
  expect(await stage.log(copier)).toContain("FLATTEN SELL MARKET 0.03 FILLED executed 0.03");
});

test("a symbol that the venue lists no more does not keep a copy from being closed", async () => {
  const { strategy, copier } = await holding();
  await stage.does(strategy, places("BUY", "0.01", { symbol: ETH, at: "1500" }));
  stage.pairs.delist(ETH);
  // Our own gateway takes orders back on any symbol.
  const body = JSON.stringify({ code: -1121, msg: "Invalid symbol." });
  for (let pass = 0; pass < 100; pass += 1)
    proxy.plan("DELETE /api/v3/order", { answer: { status: 400, body } });
  const began = stage.time.now();
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.waitFor("it is closed", async () => (await stage.copy(copier)).status === "STOPPED");
  expect(stage.time.now() - began).toBeLessThan(60_000);
  expect((await stage.entries(copier)).slice(1)).toMatchObject([
    { kind: "PLACE", status: "CANCELED", skip: { reason: "NOT_LISTED", venue: { code: -1121 } } },
    { kind: "FLATTEN", status: "SKIPPED", skip: { reason: "NOT_LISTED" } },
  ]);
});

test("a repair is sized by the new step", async () => {
  const { strategy, copier } = await holding();
  await stage.halt(strategy);
  await stage.does(strategy, places("SELL", "0.04", { symbol: ETH }));
  await stage.unhalt(strategy);
  makeCoarser();
  await stage.ask(copier, strategy, { kind: "REPAIR" });
  expect((await stage.log(copier)).at(-1)).toBe("REPAIR SELL MARKET 0.03 FILLED executed 0.03");
});

test("what the strategy is liquidated of is closed by the new step", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES", SHARE);
  await stage.does(strategy, places("BUY", "0.1", { symbol: ETH }));
  const filters = contractRow(ETH).filters.map((filter) =>
    filter.filterType.endsWith("LOT_SIZE") ? { ...filter, minQty: "0.01", stepSize: "0.01" } : filter,
  );
  stage.contracts.list(contractRow(ETH, { filters, quantityPrecision: 2 }));
  const seen = { seen: decimal<Price>("1500"), seenAt: stage.time.now() };
  await stage.does(strategy, { type: "LiquidatePosition", symbol: ETH, ...seen });
  expect((await stage.log(copier)).at(-1)).toBe("LIQUIDATE SELL MARKET 0.07 FILLED executed 0.07");
});

test("a leg's trigger is fitted to the new ticks", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  await stage.does(strategy, places("BUY", "0.1", { symbol: ETH }));
  await stage.halt(strategy);
  const leg = { side: "SELL", legType: "STOP_MARKET", triggerPrice: decimal<Price>("1801.5") } as const;
  await stage.does(strategy, { type: "PlaceLeg", symbol: ETH, clientLegId: "stop", ...leg });
  stage.contracts.list(contractRow(ETH, { filters: withTick("1.00") }));
  // Our own gateway takes a trigger between two ticks.
  const refusal = JSON.stringify({ code: -4014, msg: "Price not increased by tick size." });
  proxy.plan("POST /fapi/v1/algoOrder", { answer: { status: 400, body: refusal } });
  await stage.unhalt(strategy);
  const legs = async () =>
    (await stage.venue.store.loadAccount(copier.account.strategyId))?.account.openLegs ?? new Map();
  await stage.waitFor("the leg is placed", async () => (await legs()).size > 0);
  expect([...(await legs()).values()]).toMatchObject([{ triggerPrice: decimal("1801") }]);
});

/** A copy that has bought ETH by the old step. */
async function holding(): Promise<{ readonly strategy: string; readonly copier: Copier }> {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT", SHARE);
  await stage.does(strategy, places("BUY", "0.05", { symbol: ETH }));
  return { strategy, copier };
}

function withTick(tickSize: string) {
  const { filters } = contractRow(ETH);
  return filters.map((filter) => (filter.filterType === "PRICE_FILTER" ? { ...filter, tickSize } : filter));
}

function makeCoarser(): void {
  stage.pairs.list(pairRow(ETH, { step: "0.01" }));
}
