// Stops of spot pairs, which a copy has at the venue as long as its strategy has them.
import { afterEach, beforeEach, expect, test } from "vitest";
import { decimal, formatBriefly, type Price, type Quantity } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { CountingVenue } from "../testing/counting-venue.ts";

const BTC = "BTCUSDT";
const PLACES = "POST /api/v3/order";
const CANCELS = "DELETE /api/v3/order";
const BUSY = { status: 400, body: '{"code":-1008,"msg":"Server is currently overloaded."}' };
const LOST = { status: 503, body: "" };

let fixture: CopiesFixture;
let way: CountingVenue;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  fixture = await openCopiesFixture({
    through: async (url) => {
      way = await CountingVenue.open(url, "SPOT");
      return way.url;
    },
  });
  way.now = () => fixture.time.now();
  strategy = await fixture.strategy("SPOT");
  await fixture.start();
  copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0018"));
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await way[Symbol.asyncDispose]();
});

const stops = async () =>
  (await fixture.venue.orders(copier.account, BTC))
    .filter(({ type }) => type === "STOP_LOSS")
    .map(({ quantity, status }) => `${formatBriefly(quantity)} ${status}`);
const areStops = (count: number) => async () => (await stops()).length === count;
const lastLine = async () => (await fixture.log(copier)).at(-1) ?? "";

/** The strategy places a stop for nearly all that it has; resolves with its number once it has a line. */
async function placesStop(): Promise<number> {
  const stop = await fixture.does(strategy, places("SELL", "0.0017", { stop: "95000" }), false);
  fixture.wake(strategy);
  await fixture.waitFor("it has its line", async () =>
    / (FAILED|SKIPPED|UNCONFIRMED|RESTING)/.test(await lastLine()),
  );
  return stop;
}

/** The copier cancels the order of the newest line at the venue. */
async function ownerCancels(): Promise<void> {
  const { clientOrderId } = (await fixture.entries(copier)).at(-1) ?? {};
  await fixture.venue.client("SPOT", copier.account).cancel(BTC, `${clientOrderId}`);
}

/** The venue answers the next orders like that, so many times. */
function answers(answer: Awaited<ReturnType<typeof way.instead>>, times: number): () => number {
  let answered = 0;
  way.instead = (route) => {
    if (route !== PLACES || answered >= times) return null;
    answered += 1;
    return answer;
  };
  return () => answered;
}

test.each([
  ["that the venue has refused once", BUSY],
  ["that was lost on its way", LOST],
])("a stop %s is placed, once", async (_what, answer) => {
  answers(answer, 1);
  const at = fixture.time.now();
  await placesStop();
  await fixture.waitFor("it is placed", areStops(1));
  expect(fixture.time.now() - at).toBeLessThan(70_000);
  await fixture.passesAtRest(120_000);
  expect(await stops()).toEqual(["0.0017 NEW"]);
});

test("a stop that was missed under a kill switch is placed as soon as that is lifted", async () => {
  await fixture.halt(strategy);
  await placesStop();
  expect(await lastLine()).toBe("PLACE SELL STOP_LOSS SKIPPED HALTED");
  await fixture.unhalt(strategy);
  const at = fixture.time.now();
  await fixture.waitFor("it is placed", areStops(1));
  expect(fixture.time.now() - at).toBeLessThan(5_000);
});

test("a stop that the venue refuses for a while has two lines, and is sent less and less often", async () => {
  const answered = answers(BUSY, Number.POSITIVE_INFINITY);
  const stop = await placesStop();
  await fixture.passesAtRest(600_000);
  expect(answered()).toBeGreaterThan(4);
  expect(answered()).toBeLessThan(9);
  const lines = (await fixture.log(copier)).filter((line) => line.startsWith("PLACE SELL"));
  expect(lines).toEqual(Array(2).fill("PLACE SELL STOP_LOSS 0.0017 FAILED REFUSED"));
  way.instead = () => null;
  await fixture.waitFor("it is placed", areStops(1));
  // The strategy's cancel finds the one that there is.
  await fixture.does(strategy, { type: "CancelOrder", orderId: stop });
  await fixture.passesAtRest(120_000);
  expect(await stops()).toEqual(["0.0017 CANCELED"]);
});

test("a stop that the process before was sending is placed, once", async () => {
  answers(BUSY, 1);
  await placesStop();
  const held = answers("HELD", 1);
  await fixture.waitFor("it is sent again", () => held() === 1);
  fixture.abandon();
  await fixture.start();
  await fixture.waitFor("it is placed", areStops(1));
  await fixture.passesAtRest(120_000);
  expect(await stops()).toEqual(["0.0017 NEW"]);
});

test("a stop that its owner has canceled stays canceled", async () => {
  await placesStop();
  await ownerCancels();
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  await fixture.passesAtRest(180_000);
  expect(await stops()).toEqual(["0.0017 CANCELED"]);
});

test("a stop that its owner has canceled stays canceled, also if the venue no longer shows it", async () => {
  await placesStop();
  await ownerCancels();
  const unknown = { status: 400, body: '{"code":-2013,"msg":"Order does not exist."}' };
  way.instead = (route) => (route === "GET /api/v3/order" ? unknown : null);
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  await fixture.passesAtRest(180_000);
  expect(await stops()).toEqual(["0.0017 CANCELED"]);
});

test("a stop that was refused once does not wait for another that its owner has canceled", async () => {
  await fixture.does(strategy, places("SELL", "0.0005", { stop: "90000" }));
  await ownerCancels();
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  await fixture.passesAtRest(125_000);
  answers(BUSY, 1);
  const at = fixture.time.now();
  await fixture.does(strategy, places("SELL", "0.001", { stop: "95000" }), false);
  fixture.wake(strategy);
  await fixture.waitFor("it is placed", areStops(2));
  expect(fixture.time.now() - at).toBeLessThan(25_000);
});

test("a stop that was lost is placed, once, although its owner has an open sale of other coins", async () => {
  await fixture.trades(copier, "SPOT", { side: "BUY", quantity: decimal("0.0002") });
  const sale = { side: "SELL", type: "LIMIT", quantity: decimal<Quantity>("0.0001") } as const;
  const prices = { price: decimal<Price>("120000"), stopPrice: decimal<Price>("0") };
  const terms = { symbol: BTC, reduceOnly: false, clientOrderId: "mine", askedAt: fixture.time.now() };
  await fixture.venue.client("SPOT", copier.account).place({ ...sale, ...prices, ...terms });
  await fixture.passesAtRest(60_000);
  answers(LOST, 1);
  const at = fixture.time.now();
  await placesStop();
  await fixture.waitFor("it is placed", areStops(1));
  expect(fixture.time.now() - at).toBeLessThan(70_000);
  await fixture.passesAtRest(120_000);
  expect(await stops()).toEqual(["0.0017 NEW"]);
});

test("a stop is placed again for all that is left, while an older purchase waits for the venue's prices", async () => {
  let refusals = 1;
  way.instead = (route, parameters) => {
    if (route === "GET /api/v3/ticker/price") return { status: 503, body: "" };
    return route === PLACES && parameters.get("type") === "STOP_LOSS" && refusals-- > 0 ? BUSY : null;
  };
  await fixture.passesAtRest(10_000);
  const trades = async (command: ReturnType<typeof places>, ms: number) => {
    await fixture.does(strategy, command, false);
    fixture.wake(strategy);
    await fixture.passesAtRest(ms);
  };
  await trades(places("BUY", "0.0001", { at: "90000" }), 5_000);
  await trades(places("SELL", "0.0014"), 15_000);
  await trades(places("SELL", "0.00039", { stop: "95000" }), 120_000);
  expect(await stops()).toEqual(["0.00039 NEW"]);
});

/** The owner sells some coins, so an exit needs coins that a stop locks. */
async function needsCoins(): Promise<number> {
  const stop = await fixture.does(strategy, places("SELL", "0.0009", { stop: "80000" }));
  await fixture.trades(copier, "SPOT", { side: "SELL", quantity: decimal("0.0002") });
  await fixture.does(strategy, places("SELL", "0.0008"), false);
  fixture.wake(strategy);
  return stop;
}

test("a stop whose coins were needed for an exit is placed again, at its share of what is left", async () => {
  const stop = await needsCoins();
  await fixture.waitFor("it is placed again", areStops(2));
  await fixture.passesAtRest(120_000);
  expect(await stops()).toEqual(["0.0009 CANCELED", "0.00072 NEW"]);
  await fixture.does(strategy, { type: "CancelOrder", orderId: stop });
  expect((await stops())[1]).toBe("0.00072 CANCELED");
});

test("a stop whose coins were needed is placed again, although the process has ended while it was canceled", async () => {
  let cancels = 0;
  way.loses = (route) => route === CANCELS;
  way.instead = (route) => (route === CANCELS && cancels++ > 0 ? "HELD" : null);
  await needsCoins();
  await fixture.waitFor("it is canceled", () => cancels > 1);
  expect(await stops()).toEqual(["0.0009 CANCELED"]);
  way.loses = () => false;
  way.instead = () => null;
  fixture.abandon();
  await fixture.start();
  await fixture.waitFor("it is placed again", areStops(2));
  expect((await stops())[1]).toMatch(/ NEW$/);
});

test("a stop is not canceled again and again for an exit that the venue refuses", async () => {
  let cancels = 0;
  way.before = async (route) => {
    if (route === CANCELS) cancels += 1;
  };
  const body = '{"code":-2010,"msg":"Account has insufficient balance for requested action."}';
  way.instead = (route, parameters) =>
    route === PLACES && parameters.get("type") === "MARKET" ? { status: 400, body } : null;
  await needsCoins();
  await fixture.passesAtRest(300_000);
  expect(cancels).toBe(1);
  expect((await fixture.log(copier)).length).toBeLessThan(6);
  way.instead = () => null;
  await fixture.waitFor("it is sold", async () => {
    return (await fixture.log(copier)).some((line) => /^RECONCILE.*FILLED/.test(line));
  });
  await fixture.waitFor("the stop is there", async () => (await stops()).at(-1)?.endsWith("NEW") === true);
});
