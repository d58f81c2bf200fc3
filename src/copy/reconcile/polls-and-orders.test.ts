// Orders go out at once whatever polls are doing: at a venue that counts weight by address, and at one that
// does not answer polls.
import { afterEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import { decimal, type Price, type Rate } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { CountingVenue } from "../testing/counting-venue.ts";
import { WEIGHTS } from "../venue/limits.ts";

let fixture: CopiesFixture;
let way: CountingVenue;
let strategy: string;

async function open(type: StrategyType): Promise<void> {
  fixture = await openCopiesFixture({
    waitsForFees: false,
    through: async (url) => {
      way = await CountingVenue.open(url, type);
      return way.url;
    },
  });
  way.now = () => fixture.time.now();
  strategy = await fixture.strategy(type);
  await fixture.start();
}
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await way[Symbol.asyncDispose]();
});

async function copiers(count: number, type: StrategyType): Promise<readonly Copier[]> {
  const begun: Copier[] = [];
  for (let each = 0; each < count; each += 1) begun.push(await fixture.copier(strategy, type));
  return begun;
}

/** Advances the clock in steps, and waits for the resulting work. */
async function passes(ms: number): Promise<void> {
  const STEP_MS = 500;
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    await fixture.passes(STEP_MS);
    await settled();
  }
}

/** Orders of a strategy that trades all the time: half of what ten polls without balances would take. */
const BUYS = 15;
/** After so many consecutive checks without activity a copy waits for a timer. */
const REST_CHECKS = 20;
/** During that many checks no request may be sent. */
const QUIET_CHECKS = 3;
/**
 * A check that is this late after the one before does not count: the machine was busy with something else,
 * ms.
 */
const CHECK_MS_MAX = 15;

/** Waits until no more requests are sent while the clock does not move. */
async function settled(): Promise<void> {
  let [done, quietChecks, checkedAt] = [-1, 0, 0];
  await fixture.eventually("nothing is asked any more", async () => {
    const isQuiet = done === fixture.doneSoFar() && way.pending === 0 && !fixture.isBusy();
    const isInTime = performance.now() - checkedAt <= CHECK_MS_MAX;
    quietChecks = isQuiet ? quietChecks + (isInTime ? 1 : 0) : 0;
    done = fixture.doneSoFar();
    checkedAt = performance.now();
    return quietChecks >= QUIET_CHECKS;
  });
}

describe.each([
  { type: "SPOT", count: 60, quantity: "0.0005" },
  { type: "FUTURES", count: 40, quantity: "0.002" },
] as const)("$count copies at one address, an open order of each, $type", ({ type, count, quantity }) => {
  test("get what the strategy does at once, in the middle of any minute", async () => {
    await open(type);
    const all = await copiers(count, type);
    await fixture.does(strategy, places("BUY", quantity), false);
    await fixture.does(strategy, places("BUY", quantity, { at: "90000" }), false);
    const intoMinute = fixture.time.now() % 60_000;
    await passes(120_000 - intoMinute + 25_000);
    // Polls spread over the minute.
    expect(way.used).toBeLessThan(0.3 * way.limit);
    for (const side of ["BUY", "SELL"] as const) {
      way.ordersAt.length = 0;
      const at = fixture.time.now();
      // The clock does not move from here until every copy has dealt with it.
      await fixture.does(strategy, places(side, quantity));
      expect(way.ordersAt).toEqual(Array.from({ length: count }, () => at));
      await passes(10_000);
    }
    expect(way.refused).toBe(0);
    const ages = await Promise.all(
      all.map(async (copier) => fixture.time.now() - ((await fixture.copy(copier)).book.snapshot?.at ?? 0)),
    );
    expect(Math.max(...ages)).toBeLessThan(60_000);
  });
});

describe("a venue that does not return balances", () => {
  test.each([
    { name: "answers 503", answer: { status: 503, body: "down" } },
    { name: "refuses", answer: { status: 400, body: '{"code":-4109,"msg":"This account is inactive."}' } },
    { name: "says nothing", answer: "HELD" as const },
  ])("and $name gets exits at once, and closings", async ({ answer }) => {
    await open("SPOT");
    const stopLoss = decimal<Rate>("0.1");
    const copier = await fixture.copier(strategy, "SPOT", { stopLoss });
    await fixture.does(strategy, places("BUY", "0.001"));
    way.instead = (route) => (route === "GET /api/v3/account" ? answer : null);
    await passes(90_000);
    const at = fixture.time.now();
    way.ordersAt.length = 0;
    await fixture.does(strategy, places("SELL", "0.0005"));
    expect(way.ordersAt).toEqual([at]);
    await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
    expect(fixture.time.now() - at).toBeLessThan(5_000);
    expect((await fixture.log(copier)).at(-1)).toContain("FLATTEN SELL MARKET");
  });
});

test("an order that needs more than the known balances does not wait for balances that never come", async () => {
  await open("SPOT");
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  way.instead = (route) => (route === "GET /api/v3/account" ? { status: 503, body: "down" } : null);
  const at = fixture.time.now();
  await fixture.does(strategy, places("SELL", "0.0001"), false);
  await fixture.does(strategy, places("BUY", "0.00108"), false);
  await fixture.does(strategy, places("SELL", "0.0005"), false);
  await fixture.lead();
  await fixture.waitFor("all is dealt with", async () => (await fixture.copy(copier)).doneSeq === 4);
  expect(fixture.time.now() - at).toBeLessThan(10_000);
  expect((await fixture.log(copier)).at(-1)).toContain("PLACE SELL MARKET");
});

test("a copy of an empty account begins with what comes later, and no stop loss acts before", async () => {
  await open("SPOT");
  const body = '{"canTrade":true,"balances":[]}';
  way.instead = (route) => (route === "GET /api/v3/account" ? { status: 200, body } : null);
  const copier = await fixture.copier(strategy, "SPOT", { stopLoss: decimal<Rate>("0.1") });
  await passes(40_000);
  expect(await fixture.copy(copier)).toMatchObject({ status: "FOLLOWING", book: { startEquity: null } });
  way.instead = () => null;
  await passes(40_000);
  expect(await fixture.copy(copier)).toMatchObject({
    status: "FOLLOWING",
    book: { startEquity: decimal("200"), startShare: decimal("1") },
  });
});

test("what is to be made up for keeps no exit back", async () => {
  await open("SPOT");
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  const orderId = await fixture.does(strategy, places("BUY", "0.0001", { at: "90000" }));
  await fixture.halt(strategy);
  await fixture.does(strategy, { type: "CancelOrder", orderId });
  way.instead = (route) => (/account|openOrders/.test(route) ? "HELD" : null);
  await fixture.unhalt(strategy);
  way.ordersAt.length = 0;
  // The clock does not move.
  await fixture.does(strategy, places("SELL", "0.0005"));
  expect(way.ordersAt).toHaveLength(1);
  way.instead = () => null;
  await fixture.waitFor("it is made up for", async () =>
    (await fixture.log(copier)).includes("PLACE BUY LIMIT 0.0001 CANCELED OVERTAKEN"),
  );
});

test("a copy of a strategy that trades all the time gets balances nevertheless: its openings wait for them", async () => {
  await open("SPOT");
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0005"));
  await passes(90_000);
  const from = fixture.time.now();
  // With every request of the account the strategy buys, and the copy right after it, unless it waits for the
  // account.
  let bought = 0;
  way.before = async (route) => {
    if (route !== "GET /api/v3/account" || bought === BUYS) return;
    bought += 1;
    await fixture.does(strategy, places("BUY", "0.0001"), false);
    fixture.wake(strategy);
    const atRest = fixture.restWatch();
    await fixture.eventually("it is bought, or waits", () => atRest() >= REST_CHECKS);
  };
  const balancesAt = async () => (await fixture.copy(copier)).book.snapshot?.at ?? 0;
  while (bought < BUYS && (await balancesAt()) <= from) await passes(5_000);
  expect(bought).toBeGreaterThan(0);
  expect(bought).toBeLessThan(BUYS);
});

test("an open order that the price has reached is known long before the next poll", async () => {
  await open("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002", { at: "90000" }));
  await passes(16_000);
  const polledAt = async () => (await fixture.copy(copier)).book.snapshot?.at ?? 0;
  const before = await polledAt();
  while ((await polledAt()) === before) await passes(500);
  const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  // Near to it is near enough: between two looks at prices it may have been reached.
  fixture.contracts.show("BTCUSDT", "90100", "90110");
  const at = fixture.time.now();
  while ((await fixture.holds(copier, "BTCUSDT")) === "0") await passes(500);
  expect(fixture.time.now() - at).toBeLessThan(5_000);
});

test("a poll that got no balances is repeated long before the next turn", async () => {
  await open("SPOT");
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0005"));
  await passes(16_000);
  const polledAt = async () => (await fixture.copy(copier)).book.snapshot?.at ?? 0;
  const before = await polledAt();
  const account = "GET /api/v3/account";
  way.instead = (route) => (route === account ? { status: 503, body: "down" } : null);
  way.seen.length = 0;
  while (!way.seen.includes(account)) await passes(500);
  // The poll ends.
  await passes(6_000);
  way.instead = () => null;
  const at = fixture.time.now();
  while ((await polledAt()) === before) await passes(500);
  expect(fixture.time.now() - at).toBeLessThan(7_000);
});

test("a position in doubt is asked for also where the polls' part of the weight is used up", async () => {
  await open("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: null };
  const entry = { reduceOnly: false, leverage: 10, attached };
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry });
  await fixture.does(strategy, places("BUY", "0.001", { at: "80000" }));
  await passes(16_000);
  way.loses = (route) => route === "POST /fapi/v1/order";
  const body = '{"code":-2013,"msg":"Order does not exist."}';
  way.instead = (route) => (route === "GET /fapi/v1/order" ? { status: 400, body } : null);
  await fixture.does(strategy, places("BUY", "0.002", { at: "90000" }), false);
  fixture.wake(strategy);
  await fixture.waitFor("nobody knows of it", async () =>
    `${await fixture.log(copier)}`.includes("UNCONFIRMED"),
  );
  // A minute of which the part of polls is used up from the beginning, and half of that of what is in doubt.
  await passes(62_000 - (fixture.time.now() % 60_000));
  way.used = way.limit / 2;
  const [order] = (await fixture.venue.orders(copier.account, "BTCUSDT")).slice(-1);
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  const at = fixture.time.now();
  while ((await fixture.holds(copier, "BTCUSDT")) !== "0.004") await passes(500);
  expect(fixture.time.now() - at).toBeLessThan(20_000);
});

test("a position that the venue says is not there is asked for where the polls' part of the weight is used up", async () => {
  await open("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  await passes(16_000);
  await passes(62_000 - (fixture.time.now() % 60_000));
  way.used = way.limit / 2;
  // The account's owner closes it by hand.
  await fixture.trades(copier, "FUTURES", { side: "SELL", quantity: decimal("0.002") });
  const at = fixture.time.now();
  await fixture.does(strategy, places("SELL", "0.001"));
  expect((await fixture.log(copier)).at(-1)).toContain("NOTHING_HELD");
  while ((await fixture.holds(copier, "BTCUSDT")) !== "0") await passes(500);
  expect(fixture.time.now() - at).toBeLessThan(20_000);
});

test("a stop whose placement has no answer is sent again while no question may be asked", async () => {
  await open("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES");
  await passes(75_000 - (fixture.time.now() % 60_000));
  const isStop = (route: string) => route === "POST /fapi/v1/algoOrder";
  way.instead = (route) => {
    if (!isStop(route)) return null;
    way.used = way.limit * 0.96;
    way.instead = () => null;
    return { status: 503, body: "" };
  };
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("90000") };
  const entry = { reduceOnly: false, leverage: 10, attached };
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry }, false);
  fixture.wake(strategy);
  const at = fixture.time.now();
  while (way.seen.filter(isStop).length < 2) await passes(500);
  expect(fixture.time.now() - at).toBeLessThan(5_000);
  await passes(1_000);
  expect((await fixture.log(copier)).at(-1)).toContain("PLACE_LEG SELL STOP_MARKET");
  expect((await fixture.entries(copier)).at(-1)).toMatchObject({
    kind: "PLACE_LEG",
    status: "RESTING",
    sends: 2,
  });
});

test("an order that the price was near for long is asked for at once when the price reaches it", async () => {
  await open("FUTURES");
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002", { at: "90000" }));
  await passes(16_000);
  const down = { status: 503, body: "down" };
  way.instead = (route) => (/account|openOrders/.test(route) ? down : null);
  fixture.contracts.show("BTCUSDT", "90100", "90110");
  const queries = () => way.seen.filter((route) => route === "GET /fapi/v1/order").length;
  const before = queries();
  while (queries() < before + 6) await passes(500);
  const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  const at = fixture.time.now();
  while ((await fixture.holds(copier, "BTCUSDT")) === "0") await passes(500);
  expect(fixture.time.now() - at).toBeLessThan(5_000);
});

test("an opening is sized after a poll if its balances are old, and does not wait long for that", async () => {
  await open("SPOT");
  await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0005"));
  const [account, order] = ["GET /api/v3/account", "POST /api/v3/order"];
  way.instead = (route) => (route === account ? { status: 503, body: "down" } : null);
  await passes(130_000);
  const at = fixture.time.now();
  way.ordersAt.length = 0;
  await fixture.does(strategy, places("BUY", "0.0001"), false);
  fixture.wake(strategy);
  while (way.ordersAt.length === 0) await passes(500);
  expect(fixture.time.now() - at).toBeLessThan(4_000);
  way.instead = () => null;
  await fixture.does(strategy, places("SELL", "0.0001"));
  way.seen.length = 0;
  await fixture.does(strategy, places("BUY", "0.0001"));
  const asked = way.seen.filter((route) => route === account || route === order);
  expect([asked[0], asked.at(-1)]).toEqual([account, order]);
});

test.each([
  ["SPOT", /GET \/api\/v3\/(account|openOrders)$/],
  ["FUTURES", /GET \/fapi\/v[13]\/(account|openOrders|openAlgoOrders)$/],
] as const)("what a poll counts in the budget is what it costs: %s", async (type, isOfPoll) => {
  await open(type);
  const copier = await fixture.copier(strategy, type);
  const quantity = type === "SPOT" ? "0.0005" : "0.002";
  await fixture.does(strategy, places("BUY", quantity, { at: "90000" }));
  await passes(16_000);
  const polledAt = async () => (await fixture.copy(copier)).book.snapshot?.at ?? 0;
  const before = await polledAt();
  way.seen.length = 0;
  while ((await polledAt()) === before) await passes(500);
  const weights = WEIGHTS[type];
  const costs = way.seen
    .filter((route) => isOfPoll.test(route))
    .map((route) => (route.endsWith("account") ? weights.account : weights.openOrders.ofOne));
  const resting = { orders: new Set(["BTCUSDT"]), legs: new Set<string>() };
  const counted = fixture.venue.client(type, copier.account).pollWeight(resting);
  expect(counted).toBe(costs.reduce((sum, cost) => sum + cost, 0));
});
