// A venue that changes its rules, or delists a symbol, between two orders: an order sized by the old rules is
// rejected, sized by the new ones, and sent once more.
import { afterEach, beforeEach, expect, test } from "vitest";
import { contractRow } from "../../../test/support/own-contracts.ts";
import { FaultProxy } from "../../../test/support/servers/fault-proxy.ts";
import { decimal, type Price, type Rate } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { pairRow } from "../venue/testing/own-pairs.ts";

const ETH = "ETHUSDT";
/** Makes sizes of the copy that are on fine steps only. */
const SHARE = { share: decimal<Rate>("0.777") };

let fixture: CopiesFixture;
let proxy: FaultProxy;

beforeEach(async () => {
  fixture = await openCopiesFixture({
    through: async (url) => {
      proxy = await FaultProxy.open(url);
      return proxy.url;
    },
  });
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

test("an order is sized by the new step, under the client id that was refused", async () => {
  const { strategy, copier } = await holding();
  makeCoarser();
  await fixture.does(strategy, places("BUY", "0.02", { symbol: ETH }));
  await fixture.does(strategy, places("SELL", "0.02", { symbol: ETH }));
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE BUY MARKET 0.01 FILLED executed 0.01",
    "PLACE SELL MARKET 0.01 FILLED executed 0.01",
  ]);
  const [, bought] = await fixture.entries(copier);
  expect(bought).toMatchObject({ sends: 1, skip: null });
});

test("what is too small by the new rules is skipped with the figures", async () => {
  const { strategy, copier } = await holding();
  makeCoarser();
  await fixture.does(strategy, places("BUY", "0.01", { symbol: ETH }));
  const [, skipped] = await fixture.entries(copier);
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
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect(await fixture.log(copier)).toContain("FLATTEN SELL MARKET 0.03 FILLED executed 0.03");
});

test("a symbol that the venue lists no more does not keep a copy from being closed", async () => {
  const { strategy, copier } = await holding();
  await fixture.does(strategy, places("BUY", "0.01", { symbol: ETH, at: "1500" }));
  fixture.pairs.delist(ETH);
  // Our own gateway takes orders back on any symbol.
  const body = JSON.stringify({ code: -1121, msg: "Invalid symbol." });
  for (let pass = 0; pass < 100; pass += 1)
    proxy.plan("DELETE /api/v3/order", { answer: { status: 400, body } });
  const began = fixture.time.now();
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect(fixture.time.now() - began).toBeLessThan(60_000);
  expect((await fixture.entries(copier)).slice(1)).toMatchObject([
    { kind: "PLACE", status: "CANCELED", skip: { reason: "NOT_LISTED", venue: { code: -1121 } } },
    { kind: "FLATTEN", status: "SKIPPED", skip: { reason: "NOT_LISTED" } },
  ]);
});

test("a repair is sized by the new step", async () => {
  const { strategy, copier } = await holding();
  await fixture.halt(strategy);
  await fixture.does(strategy, places("SELL", "0.04", { symbol: ETH }));
  await fixture.unhalt(strategy);
  makeCoarser();
  await fixture.ask(copier, strategy, { kind: "REPAIR" });
  expect((await fixture.log(copier)).at(-1)).toBe("REPAIR SELL MARKET 0.03 FILLED executed 0.03");
});

test("what the strategy is liquidated of is closed by the new step", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES", SHARE);
  await fixture.does(strategy, places("BUY", "0.1", { symbol: ETH }));
  const filters = contractRow(ETH).filters.map((filter) =>
    filter.filterType.endsWith("LOT_SIZE") ? { ...filter, minQty: "0.01", stepSize: "0.01" } : filter,
  );
  fixture.contracts.list(contractRow(ETH, { filters, quantityPrecision: 2 }));
  const seen = { seen: decimal<Price>("1500"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "LiquidatePosition", symbol: ETH, ...seen });
  expect((await fixture.log(copier)).at(-1)).toBe("LIQUIDATE SELL MARKET 0.07 FILLED executed 0.07");
});

test("a leg's trigger is fitted to the new ticks", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.1", { symbol: ETH }));
  await fixture.halt(strategy);
  const leg = { side: "SELL", legType: "STOP_MARKET", triggerPrice: decimal<Price>("1801.5") } as const;
  await fixture.does(strategy, { type: "PlaceLeg", symbol: ETH, clientLegId: "stop", ...leg });
  fixture.contracts.list(contractRow(ETH, { filters: withTick("1.00") }));
  // Our own gateway takes a trigger between two ticks.
  const refusal = JSON.stringify({ code: -4014, msg: "Price not increased by tick size." });
  proxy.plan("POST /fapi/v1/algoOrder", { answer: { status: 400, body: refusal } });
  await fixture.unhalt(strategy);
  const legs = async () =>
    (await fixture.venue.store.loadAccount(copier.account.strategyId))?.account.openLegs ?? new Map();
  await fixture.waitFor("the leg is placed", async () => (await legs()).size > 0);
  expect([...(await legs()).values()]).toMatchObject([{ triggerPrice: decimal("1801") }]);
});

/** A copy that has bought ETH by the old step. */
async function holding(): Promise<{ readonly strategy: string; readonly copier: Copier }> {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT", SHARE);
  await fixture.does(strategy, places("BUY", "0.05", { symbol: ETH }));
  return { strategy, copier };
}

function withTick(tickSize: string) {
  const { filters } = contractRow(ETH);
  return filters.map((filter) => (filter.filterType === "PRICE_FILTER" ? { ...filter, tickSize } : filter));
}

function makeCoarser(): void {
  fixture.pairs.list(pairRow(ETH, { step: "0.01" }));
}
