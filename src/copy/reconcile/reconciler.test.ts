// After a kill switch is cleared the copy catches up on what could not be sent, as far as it protects the
// copy or exits.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collectiveId } from "../../domain/collective-id.ts";
import type { Command } from "../../domain/command.ts";
import type { MirrorEntry } from "../../domain/copying.ts";
import { decimal, type Price, type Quantity, type Rate } from "../../money/decimal.ts";
import type { CopyContext } from "../executor/context.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { CountingVenue } from "../testing/counting-venue.ts";
import { promisedBy } from "./reconciler.ts";
import { isWithoutLead } from "./uneven.ts";

let fixture: CopiesFixture;
let way: CountingVenue;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  fixture = await openCopiesFixture({
    through: async (url) => {
      way = await CountingVenue.open(url, "FUTURES");
      return way.url;
    },
  });
  way.now = () => fixture.time.now();
  strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  copier = await fixture.copier(strategy, "FUTURES");
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await way[Symbol.asyncDispose]();
});

const protectedEntry = {
  reduceOnly: false,
  leverage: null,
  attached: { takeProfitPrice: null, stopLossPrice: decimal<Price>("90000") },
};
const stopAt = (price: string): Command => ({
  type: "PlaceLeg",
  symbol: "BTCUSDT",
  side: "SELL",
  legType: "STOP_MARKET",
  triggerPrice: decimal<Price>(price),
  clientLegId: `at-${price}`,
});
const seen = (price: string) => ({ seen: decimal<Price>(price), seenAt: fixture.time.now() });
const ownLegs = async () => [
  ...((await fixture.store.loadAccount(strategy))?.account.openLegs.values() ?? []),
];
const legsAtVenue = async () => {
  const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
  return [...(account?.account.openLegs.values() ?? [])];
};

test("a stop that the strategy has moved is moved, and never missing for long", async () => {
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  const [stop] = await ownLegs();
  await fixture.halt(strategy);
  await fixture.does(strategy, { type: "CancelLeg", legId: stop?.legId ?? 0 });
  await fixture.does(strategy, stopAt("92000"));
  expect((await legsAtVenue()).map(({ triggerPrice }) => triggerPrice)).toEqual([decimal("90000")]);
  await fixture.unhalt(strategy);
  await fixture.waitFor(
    "the log says so",
    async () => (await fixture.log(copier))[1]?.includes("OVERTAKEN") === true,
  );
  await fixture.waitFor(
    "it is moved",
    async () => (await legsAtVenue())[0]?.triggerPrice === decimal("92000"),
  );
  await fixture.waitFor(
    "it is recorded",
    async () => (await fixture.log(copier))[3]?.endsWith("RESTING") === true,
  );
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE_LEG SELL STOP_MARKET CANCELED OVERTAKEN",
    "CANCEL_LEG SELL STOP_MARKET SKIPPED HALTED",
    "PLACE_LEG SELL STOP_MARKET RESTING",
  ]);
});

test("a stop that the venue does not cancel for its successor costs one line, which says why", async () => {
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  const [stop] = await ownLegs();
  const body = '{"code":-1008,"msg":"Server is currently overloaded with other requests."}';
  way.instead = (route) => (route === "DELETE /fapi/v1/algoOrder" ? { status: 400, body } : null);
  await fixture.does(strategy, { type: "CancelLeg", legId: stop?.legId ?? 0 });
  await fixture.does(strategy, stopAt("92000"));
  await fixture.passes(2 * 60_000);
  const log = (await fixture.log(copier)).filter((line) => line.startsWith("PLACE_LEG"));
  expect(log).toEqual(["PLACE_LEG SELL STOP_MARKET RESTING", "PLACE_LEG SELL STOP_MARKET FAILED REFUSED"]);
  expect((await fixture.entries(copier)).at(-1)?.skip?.venue?.code).toBe(-1008);
  expect((await legsAtVenue()).map(({ triggerPrice }) => triggerPrice)).toEqual([decimal("90000")]);
  way.instead = () => null;
  await fixture.waitFor(
    "it is moved",
    async () => (await legsAtVenue())[0]?.triggerPrice === decimal("92000"),
  );
});

test("a stop that has fired at the venue alone keeps its row, and a position opened after it gets a stop of its own", async () => {
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  const [stop] = await legsAtVenue();
  await fixture.venue.fire(copier.account, String(stop?.legId), "90000");
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.waitFor("the new position has one", async () => (await legsAtVenue()).length === 1);
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  const legs = (await fixture.log(copier)).filter((line) => line.startsWith("PLACE_LEG"));
  expect(legs).toEqual([
    "PLACE_LEG SELL STOP_MARKET FILLED executed 0.002",
    "PLACE_LEG SELL STOP_MARKET RESTING",
  ]);
});

test("a limit that was to close a position is canceled once the copy's stop alone has closed that", async () => {
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  await fixture.does(strategy, places("SELL", "0.002", { at: "110000" }));
  const [stop] = await legsAtVenue();
  await fixture.venue.fire(copier.account, String(stop?.legId), "90000");
  const isCanceled = async () => (await fixture.log(copier)).at(-1)?.includes("CANCELED") === true;
  await fixture.waitFor("it is canceled", isCanceled);
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE SELL LIMIT 0.002 CANCELED NOTHING_HELD");
  const orders = await fixture.venue.orders(copier.account, "BTCUSDT");
  expect(orders.filter(({ status }) => status === "NEW")).toEqual([]);
});

test("a position that the strategy's stop has closed is closed, once", async () => {
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  const [stop] = await ownLegs();
  await fixture.halt(strategy);
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  await fixture.does(strategy, { type: "TriggerLeg", legId: stop?.legId ?? 0, ...seen("90000") });
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.002");
  await fixture.unhalt(strategy);
  await fixture.waitFor("it is closed", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
  expect(await legsAtVenue()).toEqual([]);
  await fixture.waitFor("its stop is over", async () =>
    /EXPIRED|CANCELED/.test(`${(await fixture.log(copier))[1]}`),
  );
  const log = await fixture.log(copier);
  expect(log.at(-1)).toBe("RECONCILE SELL MARKET 0.002 FILLED executed 0.002");
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  expect(await fixture.log(copier)).toEqual(log);
});

test("a position is closed that the strategy's stop has closed, however much the strategy has done since", async () => {
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  const [stop] = await ownLegs();
  await fixture.halt(strategy);
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  await fixture.does(strategy, { type: "TriggerLeg", legId: stop?.legId ?? 0, ...seen("90000") });
  fixture.contracts.show("BTCUSDT", "99990", "100000", "100000");
  for (let pairs = 0; pairs < 105; pairs += 1) {
    const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "80000" }), false);
    await fixture.does(strategy, { type: "CancelOrder", orderId }, false);
  }
  await fixture.dealtWith(strategy);
  await fixture.unhalt(strategy);
  await fixture.waitFor("it is closed", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
});

test("a leg that could not be placed is placed, however much the strategy has done since", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.halt(strategy);
  await fixture.does(strategy, stopAt("92000"));
  for (let pairs = 0; pairs < 105; pairs += 1) {
    const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "80000" }), false);
    await fixture.does(strategy, { type: "CancelOrder", orderId }, false);
  }
  await fixture.dealtWith(strategy);
  await fixture.unhalt(strategy);
  await fixture.waitFor("it is placed", async () => (await legsAtVenue()).length === 1);
});

test("a stop that the venue refuses is sent again soon, until it takes it", async () => {
  let refusals = 3;
  const body = '{"code":-2021,"msg":"Order would immediately trigger."}';
  way.instead = (route) =>
    route === "POST /fapi/v1/algoOrder" && refusals-- > 0 ? { status: 400, body } : null;
  const at = fixture.time.now();
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  await fixture.waitFor("it is placed", async () => (await legsAtVenue()).length === 1);
  expect(fixture.time.now() - at).toBeLessThan(15_000);
});

test("a position whose stop the venue's price has passed is closed, as the stop would have done", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.halt(strategy);
  await fixture.does(strategy, stopAt("92000"));
  fixture.contracts.show("BTCUSDT", "90990", "91000", "91000");
  await fixture.unhalt(strategy);
  await fixture.waitFor("it is closed", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE_LEG SELL STOP_MARKET SKIPPED PRICE_UNFIT",
    "STOP SELL MARKET 0.002 FILLED executed 0.002",
  ]);
  // The next position has a stop of its own.
  fixture.contracts.show("BTCUSDT", "99990", "100000", "100000");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.waitFor("it has one", async () => (await legsAtVenue()).length === 1);
});

test("an exit does not wait for the prices by which a refused stop is judged", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  const refused = { status: 400, body: '{"code":-2021,"msg":"Order would immediately trigger."}' };
  way.instead = (route) => {
    if (route === "POST /fapi/v1/algoOrder") return refused;
    return route === "GET /fapi/v1/premiumIndex" ? { status: 503, body: "down" } : null;
  };
  const placements = () => way.seen.filter((route) => route === "POST /fapi/v1/algoOrder").length;
  await fixture.does(strategy, stopAt("92000"), false);
  fixture.wake(strategy);
  await fixture.waitFor("it is sent again", () => placements() > 1);
  const at = fixture.time.now();
  await fixture.does(strategy, places("SELL", "0.002"), false);
  fixture.wake(strategy);
  await fixture.waitFor("it is closed", async () => (await fixture.position(copier, "BTCUSDT")) === "0");
  expect(fixture.time.now() - at).toBeLessThan(10_000);
});

test("a stop that may be at the venue keeps its row under its id, whatever else is refused", async () => {
  const refused = {
    status: 400,
    body: '{"code":-4509,"msg":"TIF GTE can only be used with open positions."}',
  };
  const answers = [{ status: 503, body: "down" }, refused, refused];
  way.instead = (route) => (route === "POST /fapi/v1/algoOrder" ? (answers.shift() ?? null) : null);
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry }, false);
  fixture.wake(strategy);
  await fixture.waitFor("it is refused twice", () => answers.length === 0);
  const stop = async () => (await fixture.entries(copier)).find(({ kind }) => kind === "PLACE_LEG");
  await fixture.eventually("it is noted", async () => (await stop())?.status === "UNCONFIRMED");
  const id = (await stop())?.clientOrderId;
  expect(id).toEqual(expect.any(String));
  await fixture.waitFor("it is placed", async () => (await legsAtVenue()).length === 1);
  expect((await legsAtVenue())[0]?.clientLegId).toBe(id);
});

test("a position is closed whose stop may be at the venue, and is refused since the price has passed it", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  const body = '{"code":-2021,"msg":"Order would immediately trigger."}';
  const answers = [{ status: 503, body: "down" }];
  way.instead = (route) =>
    route === "POST /fapi/v1/algoOrder" ? (answers.shift() ?? { status: 400, body }) : null;
  const stop = stopAt("92000");
  await fixture.does(strategy, stop, false);
  fixture.contracts.show("BTCUSDT", "90990", "91000", "91000");
  fixture.wake(strategy);
  const at = fixture.time.now();
  await fixture.waitFor("it is closed", async () => (await fixture.position(copier, "BTCUSDT")) === "0");
  expect(fixture.time.now() - at).toBeLessThan(30_000);
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  expect((await fixture.log(copier)).at(-1)).toBe("STOP SELL MARKET 0.002 FILLED executed 0.002");
});

test("a stop does not wait behind an opening with an unknown outcome, which is given up soon", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  way.instead = (route) => (/^(POST|GET) .*\/order$/.test(route) ? { status: 503, body: "down" } : null);
  const at = fixture.time.now();
  await fixture.does(strategy, places("BUY", "0.001"), false);
  fixture.wake(strategy);
  await fixture.eventually("it is sent", async () => (await fixture.entries(copier))[1]?.status === "SENT");
  const stop = stopAt("90000");
  await fixture.does(strategy, stop, false);
  fixture.wake(strategy);
  await fixture.eventually("the stop is there", async () => (await legsAtVenue()).length === 1);
  const opening = async () => (await fixture.log(copier))[1] ?? "";
  expect(await opening()).toMatch(/ SENT$/);
  await fixture.waitFor("the opening is given up", async () => (await opening()).includes("UNCONFIRMED"));
  expect(fixture.time.now() - at).toBeLessThan(8_000);
});

test("a stop does not wait for a cancel with an unknown outcome", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
  way.instead = (route) => (/^DELETE .*\/order$/.test(route) ? { status: 503, body: "down" } : null);
  const [order] = (await fixture.store.loadAccount(strategy))?.account.openOrders.values() ?? [];
  await fixture.does(strategy, { type: "CancelOrder", orderId: order?.orderId ?? 0 }, false);
  fixture.wake(strategy);
  await fixture.eventually("it is sent", () => way.seen.some((route) => route.startsWith("DELETE")));
  await fixture.does(strategy, stopAt("85000"), false);
  fixture.wake(strategy);
  await fixture.eventually("the stop is there", async () => (await legsAtVenue()).length === 1);
  expect((await fixture.log(copier))[2]).toBe("CANCEL NEW");
  way.instead = () => null;
  await fixture.waitFor(
    "it is canceled",
    async () => (await fixture.log(copier))[2]?.endsWith("DONE") === true,
  );
});

test("a stop that was refused once is sent again, although the venue refuses to cancel something else", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
  const body = '{"code":-1008,"msg":"Server is currently overloaded with other requests."}';
  let refusals = 1;
  way.instead = (route) => {
    const isRefused = route.endsWith("/algoOrder") && route.startsWith("POST") && refusals-- > 0;
    return isRefused || route === "DELETE /fapi/v1/order" ? { status: 400, body } : null;
  };
  const [order] = (await fixture.store.loadAccount(strategy))?.account.openOrders.values() ?? [];
  await fixture.does(strategy, { type: "CancelOrder", orderId: order?.orderId ?? 0 });
  await fixture.does(strategy, stopAt("85000"));
  const at = fixture.time.now();
  await fixture.waitFor("the stop is there", async () => (await legsAtVenue()).length === 1);
  expect(fixture.time.now() - at).toBeLessThan(10_000);
  way.instead = () => null;
  const isCanceled = async () => `${(await fixture.log(copier))[1]}`.includes("CANCELED");
  await fixture.waitFor("the order is canceled", isCanceled);
});

test("of a paused copy's open orders the others are canceled although the venue refuses to cancel one", async () => {
  for (const at of ["90000", "91000"]) await fixture.does(strategy, places("BUY", "0.001", { at }));
  const openAtVenue = async () => [
    ...((await fixture.venue.store.loadAccount(copier.account.strategyId))?.account.openOrders.values() ??
      []),
  ];
  const [first] = await openAtVenue();
  const body = '{"code":-1008,"msg":"Server is currently overloaded with other requests."}';
  way.instead = (route, parameters) =>
    route === "DELETE /fapi/v1/order" && parameters.get("origClientOrderId") === first?.clientOrderId
      ? { status: 400, body }
      : null;
  await fixture.changeCopy(copier, strategy, "PAUSED", "COPIER");
  await fixture.waitFor("the second is canceled", async () => (await openAtVenue()).length === 1);
  expect((await openAtVenue())[0]?.orderId).toBe(first?.orderId);
});

test("a stop goes before openings that are not sent yet, also those that a process before has left", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  way.instead = (route) => (route === "POST /fapi/v1/order" ? "HELD" : null);
  const routes = () => way.seen.filter((route) => route.startsWith("POST") && !/leverage|margin/.test(route));
  way.seen.length = 0;
  await fixture.stop();
  for (const quantity of ["0.001", "0.003"]) await fixture.does(strategy, places("BUY", quantity), false);
  const stop = stopAt("90000");
  await fixture.start();
  await fixture.eventually("the first is sent", () => routes().length === 1);
  fixture.abandon();
  await fixture.does(strategy, stop, false);
  way.seen.length = 0;
  await fixture.start();
  await fixture.waitFor("the stop is there", async () => (await legsAtVenue()).length === 1);
  expect(routes()).toEqual(["POST /fapi/v1/algoOrder"]);
});

test("a stop does not wait for openings that the venue's limits keep back; they are sent when those allow", async () => {
  await fixture.does(strategy, places("BUY", "0.002"));
  // Beyond nine tenths of the weight nothing is opened in this minute, once an answer has reported it.
  way.used = way.limit * 0.91;
  for (const quantity of ["0.001", "0.001"]) {
    await fixture.does(strategy, places("BUY", quantity), false);
    fixture.wake(strategy);
    const since = fixture.time.now();
    await fixture.waitFor("it waits for a moment", async () => fixture.time.now() - since >= 1_000);
  }
  const opened = await fixture.position(copier, "BTCUSDT");
  const stop = stopAt("90000");
  await fixture.does(strategy, stop, false);
  fixture.wake(strategy);
  const at = fixture.time.now();
  await fixture.waitFor("the stop is there", async () => (await legsAtVenue()).length === 1);
  expect(fixture.time.now() - at).toBeLessThan(5_000);
  expect(await fixture.position(copier, "BTCUSDT")).toBe(opened);
  await fixture.waitFor(
    "the minute is over",
    async () => (await fixture.position(copier, "BTCUSDT")) === "0.004",
  );
  expect(fixture.time.now() - at).toBeGreaterThan(5_000);
});

test("a leg that was sent again because the venue refused its successor ends when the strategy cancels that", async () => {
  const takesProfitAt = (price: string): Command => ({
    type: "PlaceLeg",
    symbol: "BTCUSDT",
    side: "SELL",
    legType: "TAKE_PROFIT_MARKET",
    triggerPrice: decimal<Price>(price),
    clientLegId: `at-${price}`,
  });
  await fixture.does(strategy, places("BUY", "0.002"));
  const first = await fixture.does(strategy, takesProfitAt("120000"));
  const triggers = async () => (await legsAtVenue()).map(({ triggerPrice }) => triggerPrice);
  expect(await triggers()).toEqual([decimal("120000")]);
  // The venue refuses the first of two placements: the successor each time, and never the one before.
  let placements = 0;
  const body = '{"code":-2021,"msg":"Order would immediately trigger."}';
  way.instead = (route) => {
    if (route !== "POST /fapi/v1/algoOrder") return null;
    placements += 1;
    return placements % 2 === 1 ? { status: 400, body } : null;
  };
  await fixture.stop();
  await fixture.does(strategy, { type: "CancelLeg", legId: first });
  const second = await fixture.does(strategy, takesProfitAt("130000"));
  await fixture.start();
  await fixture.dealtWith(strategy);
  await fixture.eventually("the first is sent again", async () =>
    `${(await fixture.log(copier)).at(-1)}`.endsWith("RESTING"),
  );
  expect(placements).toBe(2);
  expect(await triggers()).toEqual([decimal("120000")]);
  await fixture.does(strategy, { type: "CancelLeg", legId: second });
  await fixture.waitFor("it is gone", async () => (await legsAtVenue()).length === 0);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.002");
});

describe("a stop whose successor the venue refuses", () => {
  const refused = (code: number, msg: string) => ({ status: 400, body: JSON.stringify({ code, msg }) });
  const CAP = refused(-4045, "Reach max stop order limit.");
  const BUSY = refused(-1008, "Server is currently overloaded with other requests.");
  const triggers = async () => (await legsAtVenue()).map(({ triggerPrice }) => triggerPrice);
  const isAt = async (price: string) => `${await triggers()}` === `${decimal(price)}`;
  const cancels = () => way.seen.filter((route) => route === "DELETE /fapi/v1/algoOrder").length;
  const placements = () => way.seen.filter((route) => route === "POST /fapi/v1/algoOrder").length;

  /** The venue refuses a stop at 92,000 always, and one at 90,000 so many times more. */
  function refuses(times: number): void {
    let left = times;
    way.instead = (route, parameters) => {
      if (route !== "POST /fapi/v1/algoOrder") return null;
      if (parameters.get("triggerPrice") === "92000") return CAP;
      left -= 1;
      return left < 0 ? null : BUSY;
    };
  }

  /** The strategy moves its stop from 90,000 to 92,000 between two processes. Returns the second's number. */
  async function moves(): Promise<number> {
    await fixture.stop();
    const [stop] = await ownLegs();
    await fixture.does(strategy, { type: "CancelLeg", legId: stop?.legId ?? 0 });
    const legId = await fixture.does(strategy, stopAt("92000"));
    const before = placements();
    await fixture.start();
    await fixture.eventually("it is sent", () => placements() > before);
    return legId;
  }

  beforeEach(async () => {
    await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
    expect(await isAt("90000")).toBe(true);
  });

  test("is sent again until the venue takes it", async () => {
    refuses(3);
    await moves();
    const at = fixture.time.now();
    await fixture.waitFor("it is there", () => isAt("90000"));
    expect(fixture.time.now() - at).toBeLessThan(30_000);
  });

  test("is sent again until the venue takes it, also if the first request was lost", async () => {
    const answers = [{ status: 503, body: "down" }, BUSY, BUSY];
    way.instead = (route, parameters) => {
      if (route !== "POST /fapi/v1/algoOrder") return null;
      return parameters.get("triggerPrice") === "92000" ? CAP : (answers.shift() ?? null);
    };
    await moves();
    const at = fixture.time.now();
    await fixture.waitFor("it is there", () => isAt("90000"));
    expect(fixture.time.now() - at).toBeLessThan(30_000);
  });

  test("is sent again after a restart between the two", async () => {
    way.instead = (route) => (route === "POST /fapi/v1/algoOrder" ? "HELD" : null);
    await moves();
    expect(await triggers()).toEqual([]);
    refuses(1);
    fixture.abandon();
    await fixture.start();
    const at = fixture.time.now();
    await fixture.waitFor("it is there", () => isAt("90000"));
    expect(fixture.time.now() - at).toBeLessThan(30_000);
  });

  test("is not taken away again and again for it, until the venue takes that", async () => {
    refuses(0);
    await moves();
    await fixture.passesAtRest(5 * 60_000);
    expect(cancels()).toBeLessThanOrEqual(2);
    expect(await isAt("90000")).toBe(true);
    way.instead = () => null;
    await fixture.waitFor("it is moved", () => isAt("92000"));
  });

  test("waits no more once the venue takes its successor", async () => {
    refuses(Number.POSITIVE_INFINITY);
    await moves();
    await fixture.passesAtRest(5_000);
    way.instead = (route, parameters) =>
      route === "POST /fapi/v1/algoOrder" && parameters.get("triggerPrice") === "90000" ? BUSY : null;
    await fixture.waitFor("it is moved", () => isAt("92000"));
    await fixture.passesAtRest(20_000);
    const count = placements();
    await fixture.passesAtRest(60_000);
    expect(placements()).toBe(count);
    expect(await isAt("92000")).toBe(true);
    const open = (await fixture.log(copier)).filter((line) => line.endsWith("RESTING"));
    expect(open).toEqual(["PLACE_LEG SELL STOP_MARKET RESTING"]);
  });

  test("waits no more once the strategy has canceled its successor", async () => {
    refuses(Number.POSITIVE_INFINITY);
    const legId = await moves();
    await fixture.passesAtRest(5_000);
    await fixture.does(strategy, { type: "CancelLeg", legId });
    await fixture.passesAtRest(20_000);
    // The venue has had one leg: a row of another says that it was not placed.
    const legs = (await fixture.entries(copier)).filter(({ kind }) => kind === "PLACE_LEG");
    const canceled = legs.filter(({ status }) => status === "CANCELED");
    expect(canceled.map(({ stopPrice }) => stopPrice)).toEqual([decimal("90000")]);
    expect(canceled.every(({ clientOrderId }) => clientOrderId !== null)).toBe(true);
    const count = placements();
    way.instead = () => null;
    await fixture.passesAtRest(60_000);
    expect(placements()).toBe(count);
    expect(await triggers()).toEqual([]);
  });

  test("waits no more once the position is closed, although an order would open another", async () => {
    refuses(Number.POSITIVE_INFINITY);
    await fixture.does(strategy, places("BUY", "0.001", { at: "80000" }));
    await moves();
    const isWaiting = async () => (await fixture.log(copier)).at(-1) === "PLACE_LEG SELL STOP_MARKET RESTING";
    await fixture.waitFor("it waits", isWaiting);
    await fixture.does(strategy, places("SELL", "0.002"));
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
    const open = async () => (await fixture.log(copier)).filter((line) => line.endsWith("RESTING"));
    await fixture.waitFor("it waits no more", async () => (await open()).length === 1);
    expect(await open()).toEqual(["PLACE BUY LIMIT 0.001 RESTING"]);
  });

  test("waits no more from the moment that the position is closed", async () => {
    refuses(Number.POSITIVE_INFINITY);
    await moves();
    const isWaiting = async () =>
      (await fixture.log(copier)).some((line) => /^PLACE_LEG .*RESTING$/.test(line));
    await fixture.waitFor("it waits", isWaiting);
    await fixture.passesAtRest(40_000);
    await fixture.does(strategy, places("SELL", "0.002"));
    const at = fixture.time.now();
    await fixture.waitFor("it waits no more", async () => !(await isWaiting()));
    expect(fixture.time.now() - at).toBeLessThan(1_000);
  });

  test("does not keep the position open once the price has passed its successor", async () => {
    refuses(0);
    const { instead } = way;
    way.instead = (route, parameters) =>
      instead(route, parameters) === CAP ? refused(-2021, "Order would immediately trigger.") : null;
    await moves();
    await fixture.eventually("it is there", () => isAt("90000"));
    fixture.contracts.show("BTCUSDT", "90990", "91000", "91000");
    const at = fixture.time.now();
    await fixture.waitFor("it is closed", async () => (await fixture.position(copier, "BTCUSDT")) === "0");
    expect(fixture.time.now() - at).toBeLessThan(20_000);
  });
});

describe("a stop that is missing while the copy holds too much", () => {
  const BUSY = { status: 400, body: '{"code":-1008,"msg":"Server is currently overloaded."}' };
  const isStopThere = async () => (await legsAtVenue()).length === 1;

  test("by less than a step is placed at once", async () => {
    copier = await fixture.copier(strategy, "FUTURES", { share: decimal<Rate>("0.5") });
    await fixture.does(strategy, { ...places("BUY", "0.004"), entry: protectedEntry });
    await fixture.does(strategy, places("SELL", "0.001"));
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.002");
    await fixture.passesAtRest(5_000);
    const [stop] = await legsAtVenue();
    await fixture.venue.client("FUTURES", copier.account).cancelLeg("BTCUSDT", stop?.clientLegId ?? "");
    const at = fixture.time.now();
    await fixture.waitFor("it is placed", isStopThere);
    expect(fixture.time.now() - at).toBeLessThan(20_000);
  });

  test("that the venue does not reduce is tried every 15 seconds", async () => {
    await fixture.does(strategy, places("BUY", "0.004"));
    way.instead = (route) => (/^POST .*(order|algoOrder)$/.test(route) ? BUSY : null);
    await fixture.does(strategy, stopAt("90000"));
    await fixture.does(strategy, places("SELL", "0.002"));
    await fixture.passesAtRest(3 * 60_000);
    const placements = () => way.seen.filter((route) => route === "POST /fapi/v1/algoOrder").length;
    const before = placements();
    await fixture.waitFor("it is tried", () => placements() > before);
    way.instead = (route) => (route === "POST /fapi/v1/order" ? BUSY : null);
    const at = fixture.time.now();
    await fixture.waitFor("it is placed", isStopThere);
    expect(fixture.time.now() - at).toBeLessThan(17_000);
  });
});

test("a stop that has ended with its position is placed again soon after something is opened, without a poll", async () => {
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry: protectedEntry });
  const down = { status: 503, body: "down" };
  way.instead = (route) => (/account|openOrders|openAlgoOrders/.test(route) ? down : null);
  await fixture.passesAtRest(20_000);
  await fixture.trades(copier, "FUTURES", { side: "SELL", quantity: decimal("0.002") });
  expect(await legsAtVenue()).toEqual([]);
  await fixture.does(strategy, places("BUY", "0.001"));
  const at = fixture.time.now();
  await fixture.waitFor("it is placed", async () => (await legsAtVenue()).length === 1);
  expect(fixture.time.now() - at).toBeLessThan(6_000);
});

test("a liquidated position is recorded before anything new is done", async () => {
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 100 });
  await fixture.does(strategy, places("BUY", "0.1"));
  await fixture.halt(strategy);
  fixture.contracts.show("BTCUSDT", "98900", "98910", "98900");
  await fixture.does(strategy, { type: "LiquidatePosition", symbol: "BTCUSDT", ...seen("98900") });
  await fixture.unhalt(strategy);
  await fixture.does(strategy, places("BUY", "0.001"), false);
  fixture.wake(strategy);
  await fixture.waitFor("it is dealt with", async () => (await fixture.copy(copier)).doneSeq === 4);
  expect(await fixture.position(copier, "BTCUSDT")).toBe(await fixture.holds(copier, "BTCUSDT"));
  const log = await fixture.log(copier);
  expect(log.at(-1)).toBe("RECONCILE SELL MARKET 0.1 FILLED executed 0.1");
  expect(log.at(-2)).toContain("PLACE BUY MARKET");
});

describe("a position that still has a target is a copy of nothing", () => {
  const cases = [
    {
      what: "where its strategy has no position",
      theirs: "0",
      held: "0.002",
      target: "0.002",
      expected: true,
    },
    {
      what: "where its strategy is on the other side",
      theirs: "-1",
      held: "0.002",
      target: "1",
      expected: true,
    },
    {
      type: "FUTURES",
      what: "but not on its side",
      theirs: "-1",
      held: "-0.002",
      target: "-0.002",
      expected: false,
    },
    {
      type: "FUTURES",
      what: "but not without a target",
      theirs: "0",
      held: "0.002",
      target: "0",
      expected: false,
    },
    {
      ...{ what: "but not of a spot pair, which has a share of its own coins" },
      ...{ type: "SPOT", theirs: "0", held: "0.002", target: "0.002", expected: false },
    },
  ];

  test.each(cases)("$what", ({ type, theirs, held, target, expected }) => {
    const positions = new Map([["BTCUSDT", { quantity: decimal<Quantity>(theirs) }]]);
    const context = {
      state: {
        copy: { type },
        target: () => decimal<Quantity>(target),
        holding: () => ({ quantity: decimal<Quantity>(held) }),
      },
      leadAccount: () => ({ positions }),
    } as unknown as CopyContext;
    expect(isWithoutLead(context, "BTCUSDT")).toBe(expected);
  });
});

describe("of what a copy has too much, an open limit is to sell", () => {
  test.each([
    { what: "all of it, once the strategy's own is over", theirs: null, ours: "0.2", expected: "0.8" },
    { what: "nothing, while nothing of the strategy's own is executed", theirs: "0", ours: "0" },
    { what: "the part that the strategy's own has executed", theirs: "1", ours: "0", expected: "0.5" },
    { what: "that less what it has executed itself", theirs: "1", ours: "0.2", expected: "0.3" },
    { what: "nothing, if it is further than the strategy's own", theirs: "1", ours: "0.7" },
  ])("$what", ({ theirs, ours, expected = "0" }) => {
    const order = { quantity: decimal("2"), executedQuantity: decimal(theirs ?? "0") };
    const openOrders = new Map(theirs === null ? [] : [[7, order]]);
    const context = { leadAccount: () => ({ openOrders }) } as unknown as CopyContext;
    const entry = {
      ...{ collectiveId: collectiveId("strategy", 7), quantity: decimal("1") },
      executedQuantity: decimal(ours),
    } as MirrorEntry;
    expect(promisedBy(context, entry)).toBe(decimal(expected));
  });
});
