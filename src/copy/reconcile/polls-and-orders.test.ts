// Orders go out at once whatever polls are doing: at a venue that counts weight by address, and at one that
// does not answer polls.
import { afterEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import { decimal, type Rate } from "../../money/decimal.ts";
import { type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";
import { CountingVenue } from "../testing/counting-venue.ts";

let stage: CopiesStage;
let way: CountingVenue;
let strategy: string;

async function open(family: StrategyType): Promise<void> {
  stage = await openCopiesStage({
    waitsForFees: false,
    through: async (url) => {
      way = await CountingVenue.open(url, family);
      return way.url;
    },
  });
  way.now = () => stage.time.now();
  strategy = await stage.strategy(family);
  await stage.start();
}
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await way[Symbol.asyncDispose]();
});

async function copiers(count: number, family: StrategyType): Promise<readonly Copier[]> {
  const begun: Copier[] = [];
  for (let each = 0; each < count; each += 1) begun.push(await stage.copier(strategy, family));
  return begun;
}

/** Advances the clock in steps, and waits for the resulting work. */
async function passes(ms: number): Promise<void> {
  const STEP_MS = 500;
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    await stage.passes(STEP_MS);
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
  await stage.eventually("nothing is asked any more", async () => {
    const isQuiet = done === stage.doneSoFar() && way.pending === 0 && !stage.isBusy();
    const isInTime = performance.now() - checkedAt <= CHECK_MS_MAX;
    quietChecks = isQuiet ? quietChecks + (isInTime ? 1 : 0) : 0;
    done = stage.doneSoFar();
    checkedAt = performance.now();
    return quietChecks >= QUIET_CHECKS;
  });
}

describe.each([
  { family: "SPOT", count: 60, quantity: "0.0005" },
  { family: "FUTURES", count: 40, quantity: "0.002" },
] as const)("$count copies at one address, an open order of each, $family", ({ family, count, quantity }) => {
  test("get what the strategy does at once, in the middle of any minute", async () => {
    await open(family);
    const all = await copiers(count, family);
    await stage.does(strategy, places("BUY", quantity), false);
    await stage.does(strategy, places("BUY", quantity, { at: "90000" }), false);
    const intoMinute = stage.time.now() % 60_000;
    await passes(120_000 - intoMinute + 25_000);
    // Polls spread over the minute.
    expect(way.used).toBeLessThan(0.3 * way.limit);
    for (const side of ["BUY", "SELL"] as const) {
      way.ordersAt.length = 0;
      const at = stage.time.now();
      // The clock does not move from here until every copy has dealt with it.
      await stage.does(strategy, places(side, quantity));
      expect(way.ordersAt).toEqual(Array.from({ length: count }, () => at));
      await passes(10_000);
    }
    expect(way.refused).toBe(0);
    const ages = await Promise.all(
      all.map(async (copier) => stage.time.now() - ((await stage.copy(copier)).book.snapshot?.at ?? 0)),
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
    const copier = await stage.copier(strategy, "SPOT", { stopLoss });
    await stage.does(strategy, places("BUY", "0.001"));
    way.instead = (route) => (route === "GET /api/v3/account" ? answer : null);
    await passes(90_000);
    const at = stage.time.now();
    way.ordersAt.length = 0;
    await stage.does(strategy, places("SELL", "0.0005"));
    expect(way.ordersAt).toEqual([at]);
    await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await stage.waitFor("it is stopped", async () => (await stage.copy(copier)).status === "STOPPED");
    expect(stage.time.now() - at).toBeLessThan(5_000);
    expect((await stage.log(copier)).at(-1)).toContain("FLATTEN SELL MARKET");
  });
});

test("an order that needs more than the known balances does not wait for balances that never come", async () => {
  await open("SPOT");
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  way.instead = (route) => (route === "GET /api/v3/account" ? { status: 503, body: "down" } : null);
  const at = stage.time.now();
  await stage.does(strategy, places("SELL", "0.0001"), false);
  await stage.does(strategy, places("BUY", "0.00108"), false);
  await stage.does(strategy, places("SELL", "0.0005"), false);
  await stage.lead();
  await stage.waitFor("all is dealt with", async () => (await stage.copy(copier)).doneSeq === 4);
  expect(stage.time.now() - at).toBeLessThan(10_000);
  expect((await stage.log(copier)).at(-1)).toContain("PLACE SELL MARKET");
});

test("a copy of an empty account begins with what comes later, and no stop loss acts before", async () => {
  await open("SPOT");
  const body = '{"canTrade":true,"balances":[]}';
  way.instead = (route) => (route === "GET /api/v3/account" ? { status: 200, body } : null);
  const copier = await stage.copier(strategy, "SPOT", { stopLoss: decimal<Rate>("0.1") });
  await passes(40_000);
  expect(await stage.copy(copier)).toMatchObject({ status: "FOLLOWING", book: { startEquity: null } });
  way.instead = () => null;
  await passes(40_000);
  expect(await stage.copy(copier)).toMatchObject({
    status: "FOLLOWING",
    book: { startEquity: decimal("200"), startShare: decimal("1") },
  });
});

test("what is to be made up for keeps no exit back", async () => {
  await open("SPOT");
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  const orderId = await stage.does(strategy, places("BUY", "0.0001", { at: "90000" }));
  await stage.halt(strategy);
  await stage.does(strategy, { type: "CancelOrder", orderId });
  way.instead = (route) => (/account|openOrders/.test(route) ? "HELD" : null);
  await stage.unhalt(strategy);
  way.ordersAt.length = 0;
  // The clock does not move.
  await stage.does(strategy, places("SELL", "0.0005"));
  expect(way.ordersAt).toHaveLength(1);
  way.instead = () => null;
  await stage.waitFor("it is made up for", async () =>
    (await stage.log(copier)).includes("PLACE BUY LIMIT 0.0001 CANCELED OVERTAKEN"),
  );
});

test("a copy of a strategy that trades all the time gets balances nevertheless: its openings wait for them", async () => {
  await open("SPOT");
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.0005"));
  await passes(90_000);
  const from = stage.time.now();
  // With every request of the account the strategy buys, and the copy right after it, unless it waits for the
  // account.
  let bought = 0;
  way.before = async (route) => {
    if (route !== "GET /api/v3/account" || bought === BUYS) return;
    bought += 1;
    await stage.does(strategy, places("BUY", "0.0001"), false);
    stage.wake(strategy);
    const atRest = stage.restWatch();
    await stage.eventually("it is bought, or waits", () => atRest() >= REST_CHECKS);
  };
  const balancesAt = async () => (await stage.copy(copier)).book.snapshot?.at ?? 0;
  while (bought < BUYS && (await balancesAt()) <= from) await passes(5_000);
  expect(bought).toBeGreaterThan(0);
  expect(bought).toBeLessThan(BUYS);
});

test("an open order that the price has reached is known long before the next poll", async () => {
  await open("FUTURES");
  const copier = await stage.copier(strategy, "FUTURES");
  await stage.does(strategy, places("BUY", "0.002", { at: "90000" }));
  await passes(16_000);
  const polledAt = async () => (await stage.copy(copier)).book.snapshot?.at ?? 0;
  const before = await polledAt();
  while ((await polledAt()) === before) await passes(500);
  const [order] = await stage.venue.orders(copier.account, "BTCUSDT");
  await stage.venue.fill(copier.account, `${order?.orderId}`, "90000");
  // Near to it is near enough: between two looks at prices it may have been reached.
  stage.contracts.show("BTCUSDT", "90100", "90110");
  const at = stage.time.now();
  while ((await stage.holds(copier, "BTCUSDT")) === "0") await passes(500);
  expect(stage.time.now() - at).toBeLessThan(5_000);
});
