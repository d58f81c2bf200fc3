// Leverage and margin mode of a copy's contracts, which its owner can change at the venue at any time.
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultProxy } from "../../../test/support/servers/fault-proxy.ts";
import { type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";

let fixture: CopiesFixture;
let proxy: FaultProxy;
let strategy: string;

beforeEach(async () => {
  fixture = await openCopiesFixture({
    through: async (url) => {
      proxy = await FaultProxy.open(url);
      return proxy.url;
    },
  });
  strategy = await fixture.strategy("FUTURES");
  await fixture.start();
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

test("what its owner has set by hand is set back before the next entry", async () => {
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.does(strategy, places("SELL", "0.002"));
  await fixture.venue.client("FUTURES", copier.account).setLeverage("BTCUSDT", 50);
  await fixture.passes(15_000);
  await fixture.does(strategy, places("BUY", "0.002"));
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET 0.002 FILLED executed 0.002");
  const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
  expect(account?.account.leverages.get("BTCUSDT")).toBe(20);
});

test("of a position that its owner has taken to cross margin nothing more is opened: the venue's words say why", async () => {
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.passes(15_000);
  const msg = "Margin type cannot be changed if there exists position.";
  proxy.plan("POST /fapi/v1/marginType", {
    answer: { status: 400, body: JSON.stringify({ code: -4048, msg }) },
  });
  await fixture.does(strategy, places("BUY", "0.002"));
  expect((await fixture.entries(copier)).at(-1)).toMatchObject({
    status: "SKIPPED",
    skip: { reason: "LEVERAGE_UNFIT", venue: { code: -4048, message: msg } },
  });
});

test("a burst of entries sets both once, and what reduces sets neither", async () => {
  await fixture.copier(strategy, "FUTURES");
  for (const side of ["BUY", "BUY", "BUY"] as const) await fixture.does(strategy, places(side, "0.001"));
  await fixture.passes(15_000);
  await fixture.does(strategy, places("SELL", "0.002"));
  const sent = proxy.seen.filter((route) => route.startsWith("POST "));
  expect(sent.slice(0, 2).toSorted()).toEqual(["POST /fapi/v1/leverage", "POST /fapi/v1/marginType"]);
  expect(sent.slice(2)).toEqual(Array(4).fill("POST /fapi/v1/order"));
});
