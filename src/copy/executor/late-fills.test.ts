// A venue whose list of fills lags behind its orders: what was executed is booked at once, its fees as soon
// as they are listed.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Answer, FaultProxy } from "../../../test/support/servers/fault-proxy.ts";
import { type CopySettings, EXACT_SETTINGS } from "../../domain/copying.ts";
import { type Amount, decimal, type Price, type Rate, ZERO } from "../../money/decimal.ts";
import { ownRow } from "../orders/copy-state.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { freshState } from "../testing/copy-rows.ts";
import { ENDED_MS_MAX, refreshBalances, UNCONFIRMED_MS_MAX } from "./balances.ts";
import type { CopyContext } from "./context.ts";

const SPOT_FILLS = "GET /api/v3/myTrades";
const FUTURES_FILLS = "GET /fapi/v1/userTrades";
const UNAVAILABLE = { status: 503, body: "" };
/** So many checks in a row that find nothing under way. */
const REST_CHECKS = 20;
const UNKNOWN_ORDER = { status: 400, body: '{"code":-2013,"msg":"Order does not exist."}' };

let fixture: CopiesFixture;
let proxy: FaultProxy;
/** What the venue answers by itself on a route, as long as it does. */
const answers = new Map<string, Answer>();
/** Whether the venue does not show the order that a query asks for. */
let hides: (query: string) => boolean;
/** Whether the venue does not answer a query of an order. */
let silent: (query: string) => boolean;
/** By route, until when a request waits. */
const holds = new Map<string, () => Promise<void>>();
/** How often it still answers what an account has. */
let accounts: number;

beforeEach(async () => {
  answers.clear();
  holds.clear();
  hides = () => false;
  silent = () => false;
  accounts = Number.POSITIVE_INFINITY;
  fixture = await openCopiesFixture({
    through: async (url) => {
      proxy = await FaultProxy.open(url, {
        rule({ route, query }) {
          const isQuery = /^GET .*\/order$/.test(route);
          const isHidden = isQuery && hides(query);
          const isAccount = /^GET .*\/account$/.test(route);
          if (isAccount) accounts -= 1;
          const isAway = (isAccount && accounts < 0) || (isQuery && silent(query));
          const answer = isHidden ? UNKNOWN_ORDER : isAway ? UNAVAILABLE : answers.get(route);
          const hold = holds.get(route)?.();
          return { ...(hold !== undefined && { hold }), ...(answer !== undefined && { answer }) };
        },
      });
      return proxy.url;
    },
  });
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

test("of a spot pair: the fee is not taken for none, and what it took is not held for long", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
  const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  listsNothing(SPOT_FILLS, 4);
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) !== "0");
  expect(await fixture.log(copier)).toEqual(["PLACE BUY LIMIT 0.001 FILLED executed 0.001"]);
  expect((await fixture.entries(copier))[0]?.isFeeDue).toBe(true);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.001");

  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  const [line] = await fixture.entries(copier);
  expect(line?.fee).toBe(decimal("0.09"));
  expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
  const { book } = await fixture.copy(copier);
  expect(book.fees).toBe(decimal("0.09"));
  expect(book.holdings.get("BTCUSDT")?.cost).toBe(decimal("89.91"));
});

test("of a contract: an order after it is sized by the position that there is, and all fees are booked in the end", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  listsNothing(FUTURES_FILLS, 4);
  await fixture.does(strategy, places("BUY", "0.002"), false);
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.002");
  expect(await fixture.log(copier)).toEqual(["PLACE BUY MARKET 0.002 FILLED executed 0.002"]);
  await fixture.does(strategy, places("SELL", "0.001"), false);
  fixture.wake(strategy);
  await fixture.eventually("it is sized", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.001");
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.001");
  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  // A twentieth of a per cent of 200 at 100,000, and of 99.99.
  expect((await fixture.copy(copier)).book.fees).toBe(decimal("0.149995"));
});

test("a list that comes a moment later is requested again", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  listsNothing(FUTURES_FILLS, 2);
  await fixture.does(strategy, places("BUY", "0.002"), false);
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.002");
  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  expect(proxy.seen.filter((route) => route === FUTURES_FILLS)).toHaveLength(3);
  expect(await fixture.log(copier)).toEqual(["PLACE BUY MARKET 0.002 FILLED executed 0.002"]);
  expect((await fixture.copy(copier)).book.fees).toBe(decimal("0.1"));
});

test("a copy that closes is closed once all its sales are known in full", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  listsNothing(FUTURES_FILLS, 5);
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect((await fixture.log(copier)).slice(1)).toEqual(["FLATTEN SELL MARKET 0.002 FILLED executed 0.002"]);
  expect((await fixture.copy(copier)).book.fees).toBe(decimal("0.19999"));
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
});

function listsNothing(route: string, times: number): void {
  for (let time = 0; time < times; time += 1) proxy.plan(route, { answer: { status: 200, body: "[]" } });
}

async function areFeesKnown(copier: Copier): Promise<boolean> {
  return (await fixture.entries(copier)).every(({ isFeeDue }) => isFeeDue !== true);
}

test("a sale on spot that never reached the venue ends as soon as the balances show that, and its coins are sold", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  const orderId = await fixture.does(strategy, places("SELL", "0.0005", { at: "105000" }), false);
  const isUnconfirmed = async () => `${(await fixture.log(copier)).at(-1)}`.includes("UNCONFIRMED");
  await fixture.waitFor("nobody knows of it", isUnconfirmed);
  fixture.pairs.show("BTCUSDT", "105000", "105010");
  const seen = { seen: decimal<Price>("105000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  const at = fixture.time.now();
  await fixture.waitFor(
    "it is sold",
    async () => (await fixture.log(copier)).at(-1)?.includes("FILLED") === true,
  );
  expect(fixture.time.now() - at).toBeLessThan(75_000);
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE SELL LIMIT 0.0005 SKIPPED UNCONFIRMED",
    "FILL SELL SKIPPED UNCONFIRMED",
    "RECONCILE SELL MARKET 0.00049 FILLED executed 0.00049",
  ]);
});

test("a sale that is not shown is booked by the coins, however long a fee that was taken in coins is unknown", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.does(strategy, places("BUY", "0.0003", { at: "90000" }));
  const [limit] = (await fixture.venue.orders(copier.account, "BTCUSDT")).slice(-1);
  hides = (query) => !query.includes(`${limit?.clientOrderId}`);
  proxy.plan("POST /api/v3/order", { answer: { status: 503, body: "" }, isForwarded: true });
  answers.set(SPOT_FILLS, { status: 200, body: "[]" });
  await fixture.does(strategy, places("SELL", "0.0004"), false);
  await fixture.venue.fill(copier.account, `${limit?.orderId}`, "90000");
  const logged = async (nth: number, text: string) =>
    (await fixture.log(copier))[nth]?.includes(text) === true;
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  await fixture.does(strategy, places("BUY", "0.0002", { at: "80000" }), false);
  await fixture.waitFor("nobody knows of either", () => logged(3, "UNCONFIRMED"));
  await fixture.waitFor("the purchase is booked", () => logged(1, "FILLED"));
  await fixture.passes(40_000);
  expect((await fixture.log(copier)).some((line) => line.includes("WRITE_OFF"))).toBe(false);
  answers.delete(SPOT_FILLS);
  await fixture.waitFor("its coins are gone from the book", async () => {
    return (await fixture.holds(copier, "BTCUSDT")) === (await fixture.owned(copier, "BTC"));
  });
  hides = () => false;
  await fixture.waitFor("it is shown", () => logged(2, "FILLED"));
  expect(await fixture.log(copier)).toEqual([
    "PLACE BUY MARKET 0.001 FILLED executed 0.001",
    "PLACE BUY LIMIT 0.0003 FILLED executed 0.0003",
    "PLACE SELL MARKET 0.0004 FILLED executed 0.0004",
    expect.stringMatching(/^PLACE BUY LIMIT 0.0002 (UNCONFIRMED|SKIPPED) UNCONFIRMED$/),
  ]);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
});

test("a sale and a purchase that the venue hides are made once, although they cancel out in the balances", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  const symbol = "ETHUSDT";
  fixture.pairs.show(symbol, "199", "200");
  await fixture.does(strategy, places("BUY", "0.2", { symbol }));
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  hides = () => true;
  const sends = async (side: "SELL" | "BUY", quantity: string) => {
    proxy.plan("POST /api/v3/order", { answer: UNAVAILABLE, isForwarded: true });
    await fixture.does(strategy, places(side, quantity, { symbol }), false);
    fixture.wake(strategy);
  };
  const areUnconfirmed = async (count: number) =>
    (await fixture.entries(copier)).filter(({ status }) => status === "UNCONFIRMED").length === count;
  const areSent = async (count: number) =>
    (await fixture.venue.orders(copier.account, symbol)).length === count;
  await sends("SELL", "0.0999");
  await fixture.waitFor("the sale is sent", () => areSent(2));
  await isAtRest();
  // While its outcome is looked for, nothing else asks for the balances; a poll gets them only after the
  // purchase is sent.
  accounts = 1;
  await fixture.waitFor("nobody knows of the sale", () => areUnconfirmed(1));
  expect(accounts).toBeLessThanOrEqual(0);
  await sends("BUY", "0.1");
  await fixture.waitFor("the purchase is sent", () => areSent(3));
  expect(await fixture.holds(copier, symbol)).toBe("0.1998");
  accounts = Number.POSITIVE_INFINITY;
  await fixture.waitFor("nothing is looked for any more", async () =>
    (await fixture.entries(copier)).every(({ status }) => status !== "SENT"),
  );
  expect(await areUnconfirmed(2)).toBe(true);
  await fixture.passesAtRest(ENDED_MS_MAX);
  await isPolledAgain(copier);
  expect(await areUnconfirmed(2)).toBe(true);
  hides = () => false;
  await fixture.waitFor("both are shown", () => areShown(copier));
  const executed = (await fixture.entries(copier)).map(({ side, status }) => `${side} ${status}`);
  expect(executed).toEqual(["BUY FILLED", "SELL FILLED", "BUY FILLED"]);
  const orders = await fixture.venue.orders(copier.account, symbol);
  expect(orders.map(({ side }) => side)).toEqual(["BUY", "SELL", "BUY"]);
});

test("a purchase that the venue hides is made once, although the owner has sold as much by hand", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0005"));
  hides = () => true;
  proxy.plan("POST /api/v3/order", { answer: UNAVAILABLE, isForwarded: true });
  await fixture.does(strategy, places("BUY", "0.001"), false);
  fixture.wake(strategy);
  const orders = async () => await fixture.venue.orders(copier.account, "BTCUSDT");
  await fixture.eventually("it is executed", async () => (await orders()).length === 2);
  await fixture.trades(copier, "SPOT", { side: "SELL", quantity: decimal("0.00099") });
  const isDecided = async () => (await fixture.entries(copier))[1]?.status !== "SENT";
  await fixture.waitFor("its outcome is decided", isDecided);
  expect((await orders()).map(({ side }) => side)).toEqual(["BUY", "BUY", "SELL"]);
  expect((await fixture.log(copier))[1]).toBe("PLACE BUY MARKET 0.001 UNCONFIRMED UNCONFIRMED");
  hides = () => false;
  await fixture.waitFor("it is shown", () => areShown(copier));
  expect((await orders()).map(({ side }) => side)).toEqual(["BUY", "BUY", "SELL"]);
});

test("a sale that the venue hides is made once, although the owner has bought as much by hand", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0018"));
  hides = () => true;
  proxy.plan("POST /api/v3/order", { answer: UNAVAILABLE, isForwarded: true });
  await fixture.does(strategy, places("SELL", "0.0015"), false);
  fixture.wake(strategy);
  const orders = async () => await fixture.venue.orders(copier.account, "BTCUSDT");
  await fixture.eventually("it is executed", async () => (await orders()).length === 2);
  // With what its fee takes.
  await fixture.trades(copier, "SPOT", { side: "BUY", quantity: decimal("0.00151") });
  await isInDoubt(copier);
  // Then balances that lack none of its coins say that a sale was not made.
  await fixture.passesAtRest(ENDED_MS_MAX + 60_000);
  expect((await orders()).map(({ side }) => side)).toEqual(["BUY", "SELL", "BUY"]);
  expect((await fixture.log(copier))[1]).toBe("PLACE SELL MARKET 0.0015 UNCONFIRMED UNCONFIRMED");
  hides = () => false;
  await fixture.waitFor("it is shown", () => areShown(copier));
  expect((await orders()).map(({ side }) => side)).toEqual(["BUY", "SELL", "BUY"]);
});

test("what a purchase's fee has taken is not booked as a part of a sale that never got to the venue", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  const symbol = "ETHUSDT";
  fixture.pairs.show(symbol, "199", "200");
  await fixture.does(strategy, places("BUY", "0.2", { symbol }));
  await fixture.does(strategy, places("BUY", "0.1", { at: "180", symbol }));
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  const [order] = (await fixture.venue.orders(copier.account, symbol)).slice(-1);
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  await fixture.does(strategy, places("SELL", "0.0995", { at: "220", symbol }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  answers.set(SPOT_FILLS, { status: 200, body: "[]" });
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "180");
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, symbol)) === "0.2998");
  await fixture.passes(40_000);
  expect(await fixture.holds(copier, symbol)).toBe("0.2998");
  answers.delete(SPOT_FILLS);
  await fixture.waitFor("its fee is known", async () => (await fixture.holds(copier, symbol)) === "0.2997");
});

test("several sales that never got to the venue are over too", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  const sales = ["0.0004", "0.0003"];
  const orderIds: number[] = [];
  for (const quantity of sales) {
    proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
    orderIds.push(await fixture.does(strategy, places("SELL", quantity, { at: "105000" }), false));
    fixture.wake(strategy);
    const count = orderIds.length;
    const unconfirmed = async () =>
      (await fixture.log(copier)).filter((line) => line.includes("UNCONFIRMED")).length;
    await fixture.waitFor("nobody knows of it", async () => (await unconfirmed()) === count);
  }
  fixture.pairs.show("BTCUSDT", "105000", "105010");
  for (const orderId of orderIds) {
    const seen = { seen: decimal<Price>("105000"), seenAt: fixture.time.now() };
    await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  }
  const at = fixture.time.now();
  await fixture.waitFor("what they were to sell is sold", async () =>
    ["0.000299", "0.0003", "0.000309"].includes(await fixture.holds(copier, "BTCUSDT")),
  );
  expect(fixture.time.now() - at).toBeLessThan(75_000);
  const log = await fixture.log(copier);
  expect(log.filter((line) => line === "PLACE SELL LIMIT 0.0004 SKIPPED UNCONFIRMED")).toHaveLength(1);
});

test("a sale on spot that is open but not shown is not sold twice", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  hides = () => true;
  const orderId = await fixture.does(strategy, places("SELL", "0.0005", { at: "105000" }), false);
  const isUnconfirmed = async () => `${(await fixture.log(copier)).at(-1)}`.includes("UNCONFIRMED");
  await fixture.waitFor("nobody knows of it", isUnconfirmed);
  fixture.pairs.show("BTCUSDT", "105000", "105010");
  const seen = { seen: decimal<Price>("105000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  await fixture.passes(60_000);
  hides = () => false;
  await fixture.waitFor(
    "it is found",
    async () => (await fixture.log(copier))[1]?.includes("RESTING") === true,
  );
  const orders = await fixture.venue.orders(copier.account, "BTCUSDT");
  expect(orders.map(({ side, type }) => `${side} ${type}`)).toEqual(["BUY MARKET", "SELL LIMIT"]);
});

/** Waits until an order of the copy is in doubt. */
async function isInDoubt(copier: Copier): Promise<void> {
  await fixture.waitFor("nobody knows of it", async () =>
    `${await fixture.log(copier)}`.includes("UNCONFIRMED"),
  );
}

/** Waits until nothing is under way, and the copy waits for the clock. */
async function isAtRest(): Promise<void> {
  const atRest = fixture.restWatch();
  await fixture.eventually("it waits for the clock", () => proxy.pending === 0 && atRest() >= REST_CHECKS);
}

/** Waits until the copy has balances of later than now. */
async function isPolledAgain(copier: Copier): Promise<void> {
  const since = fixture.time.now();
  await fixture.waitFor(
    "it is polled again",
    async () => ((await fixture.copy(copier)).book.snapshot?.at ?? 0) > since,
  );
}

/** A copy of a futures strategy, after its first poll. */
async function polledCopy() {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  return { strategy, copier };
}

/** A copy of a spot strategy whose purchases are sent, and known to nobody: some have reached the venue. */
async function withHidden(
  purchases: readonly (readonly [quantity: string, cut: "BEFORE" | "AFTER"])[],
  settings: Partial<CopySettings> = {},
) {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT", settings);
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  answers.set("GET /api/v3/order", UNKNOWN_ORDER);
  answers.set("GET /api/v3/account", UNAVAILABLE);
  for (const [count, [quantity, cut]] of purchases.entries()) {
    proxy.plan("POST /api/v3/order", { cut });
    await fixture.does(strategy, places("BUY", quantity), false);
    fixture.wake(strategy);
    await fixture.waitFor("nobody knows of it", async () => {
      const log = await fixture.log(copier);
      return log.filter((line) => line.includes("UNCONFIRMED")).length === count + 1;
    });
  }
  const since = fixture.time.now();
  answers.delete("GET /api/v3/account");
  const isPolled = async () => ((await fixture.copy(copier)).book.snapshot?.at ?? 0) > since;
  return { strategy, copier, isPolled };
}

test("a copy that closes waits for a purchase that the venue hides, and sells it", async () => {
  // What the account has more may be the first or the second: nobody knows which.
  const { strategy, copier } = await withHidden([
    ["0.0008", "AFTER"],
    ["0.0008", "BEFORE"],
  ]);
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.passes(5 * 60_000);
  expect((await fixture.copy(copier)).status).toBe("CLOSING");
  answers.clear();
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect(await fixture.log(copier)).toEqual([
    "PLACE BUY MARKET 0.0008 FILLED executed 0.0008",
    "PLACE BUY MARKET 0.0008 SKIPPED UNCONFIRMED",
    "FLATTEN SELL MARKET 0.00079 FILLED executed 0.00079",
  ]);
});

test("a sale is sized without the coins of one that is in doubt", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0016"));
  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  hides = () => true;
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  await fixture.does(strategy, places("SELL", "0.0008", { at: "110000" }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  hides = () => false;
  await fixture.does(strategy, places("SELL", "0.00079"), false);
  fixture.wake(strategy);
  await fixture.waitFor(
    "it is sold",
    async () => (await fixture.log(copier))[2]?.includes("FILLED") === true,
  );
  expect((await fixture.log(copier))[2]).toBe("PLACE SELL MARKET 0.00079 FILLED executed 0.00079");
});

test("several purchases that the venue hides are booked by what the account has more, and not a second time", async () => {
  const { copier, isPolled } = await withHidden([
    ["0.001", "AFTER"],
    ["0.0005", "AFTER"],
    ["0.0002", "BEFORE"],
  ]);
  await fixture.waitFor("it is polled", isPolled);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.0014985");
  const wallet = async () => (await fixture.copy(copier)).book.snapshot?.wallet;
  const before = await wallet();
  answers.set("GET /api/v3/account", UNAVAILABLE);
  answers.delete("GET /api/v3/order");
  await fixture.waitFor("the fees are known", async () => {
    const rows = (await fixture.entries(copier)).slice(0, 2);
    return rows.every(({ status, isFeeDue }) => status === "FILLED" && isFeeDue !== true);
  });
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.0014985");
  expect(await wallet()).toBe(before);
});

test("a purchase that the venue hides is booked although one before it was, and is hidden still", async () => {
  const { strategy, copier, isPolled } = await withHidden([["0.001", "AFTER"]]);
  await fixture.waitFor("it is polled", isPolled);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.000999");
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  await fixture.does(strategy, places("BUY", "0.0005"), false);
  fixture.wake(strategy);
  await fixture.waitFor("nobody knows of it", async () => {
    const log = await fixture.log(copier);
    return log.filter((line) => line.includes("UNCONFIRMED")).length === 2;
  });
  await isPolledAgain(copier);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.0014985");
  answers.clear();
  await fixture.waitFor("both are shown", () => areShown(copier));
  await fixture.waitFor("the fees are known", () => areFeesKnown(copier));
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.0014985");
});

test("a purchase that the balances have already is not paid for a second time when the venue shows it", async () => {
  const { copier, isPolled } = await withHidden([
    ["0.0003", "AFTER"],
    ["0.0003", "BEFORE"],
  ]);
  await fixture.waitFor("it is polled", isPolled);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  const snapshot = async () => (await fixture.copy(copier)).book.snapshot;
  const before = await snapshot();
  answers.set("GET /api/v3/account", UNAVAILABLE);
  answers.delete("GET /api/v3/order");
  await fixture.waitFor("it is shown", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.0002997");
  const after = await snapshot();
  expect([after?.wallet, after?.held.get("BTCUSDT")]).toEqual([before?.wallet, before?.held.get("BTCUSDT")]);
});

test("a purchase with an unknown outcome keeps its money until the next balances, and counts as an opening", async () => {
  const { strategy, copier } = await withHidden([["0.0003", "AFTER"]], { ordersPerMinuteMax: 1 });
  // At a price that may be 0.2 % worse.
  expect((await fixture.copy(copier)).book.snapshot?.available).toBe(decimal("169.94"));
  await fixture.does(strategy, places("BUY", "0.0002"));
  expect((await fixture.log(copier))[1]).toContain("TOO_MANY_ORDERS");
});

const ONE_TO_ONE = { by: "FIXED_RATIO", ratio: decimal<Rate>("1") } as const;

test.each([
  ["SPOT", "budget", { size: ONE_TO_ONE, budget: decimal<Amount>("50") }, "INSUFFICIENT_BALANCE"],
  ["SPOT", "share", { size: ONE_TO_ONE, share: decimal<Rate>("0.25") }, "INSUFFICIENT_BALANCE"],
  ["SPOT", "position bound", { positionMax: decimal<Rate>("0.2") }, "ABOVE_POSITION_MAX"],
  ["SPOT", "exposure bound", { exposureMax: decimal<Rate>("0.2") }, "ABOVE_EXPOSURE_MAX"],
  ["FUTURES", "position bound", { positionMax: decimal<Rate>("0.2") }, "ABOVE_POSITION_MAX"],
  ["FUTURES", "exposure bound", { exposureMax: decimal<Rate>("0.2") }, "ABOVE_EXPOSURE_MAX"],
] as const)(
  "on %s an entry with an unknown outcome counts towards the copy's %s",
  async (type, _bound, settings, reason) => {
    const strategy = await fixture.strategy(type);
    await fixture.start();
    const copier = await fixture.copier(strategy, type, settings);
    await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
    hides = () => true;
    proxy.plan(type === "SPOT" ? "POST /api/v3/order" : "POST /fapi/v1/order", { cut: "AFTER" });
    const quantity = type === "SPOT" ? "0.0004" : "0.002";
    await fixture.does(strategy, places("BUY", quantity, { at: "90000" }), false);
    fixture.wake(strategy);
    await isInDoubt(copier);
    await isPolledAgain(copier);
    const isOther = reason === "ABOVE_EXPOSURE_MAX";
    const other = isOther ? places("BUY", "0.05", { symbol: "ETHUSDT", at: "1900" }) : null;
    await fixture.does(strategy, other ?? places("BUY", quantity, { at: "90000" }));
    expect((await fixture.log(copier))[1]).toContain(`SKIPPED ${reason}`);
  },
);

test("an order that is skipped after it has waited for another says when it was sized", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const settings = { size: ONE_TO_ONE, budget: decimal<Amount>("50") };
  const copier = await fixture.copier(strategy, "SPOT", settings);
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  hides = () => true;
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  for (const at of ["90000", "89000"]) await fixture.does(strategy, places("BUY", "0.0004", { at }), false);
  fixture.wake(strategy);
  const isSkipped = async () => `${(await fixture.log(copier))[1]}`.includes("SKIPPED INSUFFICIENT_BALANCE");
  await fixture.waitFor("the second is skipped", isSkipped);
  const [first, second] = await fixture.entries(copier);
  expect(first?.status).toBe("UNCONFIRMED");
  expect(second?.updatedAt).toBeGreaterThanOrEqual(first?.updatedAt ?? Number.POSITIVE_INFINITY);
});

test("a purchase that the balances show, and may be either of two, does not make others smaller", async () => {
  const { strategy, copier, isPolled } = await withHidden([
    ["0.0003", "AFTER"],
    ["0.0003", "BEFORE"],
  ]);
  await fixture.waitFor("it is polled", isPolled);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
  expect((await fixture.entries(copier))[2]).toMatchObject({ status: "RESTING", quantity: decimal("0.001") });
});

test("a purchase keeps its money while its outcome cannot be found out", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  answers.set("GET /api/v3/order", { status: 400, body: '{"code":-1099,"msg":"Not now."}' });
  await fixture.does(strategy, places("BUY", "0.0003"), false);
  fixture.wake(strategy);
  await fixture.waitFor("it is asked for", () => proxy.seen.includes("GET /api/v3/order"));
  await fixture.passes(2_000);
  const { available } = (await fixture.copy(copier)).book.snapshot ?? {};
  expect(available).toBe(decimal("169.94"));
  answers.clear();
  await fixture.waitFor("it is found", async () => `${await fixture.log(copier)}`.includes("FILLED"));
});

test("coins that the owner sold are written off although a purchase is in doubt", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  await fixture.does(strategy, places("BUY", "0.0002", { at: "80000" }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  await fixture.trades(copier, "SPOT", { side: "SELL", quantity: decimal("0.0003") });
  const at = fixture.time.now();
  const line = "WRITE_OFF SELL DONE executed 0.0003";
  await fixture.waitFor("it is written off", async () => (await fixture.log(copier)).includes(line));
  expect(fixture.time.now() - at).toBeLessThan(60_000);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
});

test("an order in doubt is found although a query of an earlier one has no answer", async () => {
  const { copier, isPolled } = await withHidden([
    ["0.0003", "BEFORE"],
    ["0.0003", "AFTER"],
  ]);
  await fixture.waitFor("it is polled", isPolled);
  const [first] = await fixture.entries(copier);
  silent = (query) => query.includes(`${first?.clientOrderId}`);
  answers.delete("GET /api/v3/order");
  const at = fixture.time.now();
  const isFound = async () => (await fixture.entries(copier))[1]?.status === "FILLED";
  await fixture.waitFor("it is found", isFound);
  expect(fixture.time.now() - at).toBeLessThan(15_000);
});

test("what one order explains and two others together is booked for none of them", async () => {
  const { copier, isPolled } = await withHidden([
    ["0.0003", "AFTER"],
    ["0.0004", "AFTER"],
    ["0.0007", "BEFORE"],
  ]);
  await fixture.waitFor("it is polled", isPolled);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  answers.clear();
  await fixture.waitFor(
    "they are shown",
    async () => (await fixture.holds(copier, "BTCUSDT")) === "0.0006993",
  );
  expect((await fixture.log(copier)).slice(0, 2)).toEqual([
    "PLACE BUY MARKET 0.0003 FILLED executed 0.0003",
    "PLACE BUY MARKET 0.0004 FILLED executed 0.0004",
  ]);
});

test.each([
  ["MARKET", {}],
  ["LIMIT", { at: "100000" }],
] as const)(
  "a copy that closes waits for the figures of a purchase that only the balances show: %s",
  async (type, terms) => {
    const strategy = await fixture.strategy("SPOT");
    await fixture.start();
    const copier = await fixture.copier(strategy, "SPOT");
    answers.set("GET /api/v3/order", UNKNOWN_ORDER);
    proxy.plan("POST /api/v3/order", { cut: "AFTER" });
    await fixture.does(strategy, places("BUY", "0.001", terms), false);
    fixture.wake(strategy);
    await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) !== "0");
    await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await fixture.waitFor("it is sold", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.000009");
    await fixture.passes(5 * 60_000);
    expect((await fixture.copy(copier)).status).toBe("CLOSING");
    answers.clear();
    await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
    expect(await fixture.log(copier)).toEqual([
      `PLACE BUY ${type} 0.001 FILLED executed 0.001`,
      "FLATTEN SELL MARKET 0.00099 FILLED executed 0.00099",
    ]);
    expect((await fixture.entries(copier))[0]).toMatchObject({ skip: null, executedQuote: decimal("100") });
  },
);

test("exits of the strategy take their part of an entry that the venue hides, which is filled only later", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: null };
  const entry = { reduceOnly: false, leverage: 10, attached };
  await fixture.does(strategy, { ...places("BUY", "0.004"), entry });
  answers.set("GET /fapi/v1/order", UNKNOWN_ORDER);
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  const orderId = await fixture.does(strategy, places("BUY", "0.004", { at: "90000" }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  const seen = { seen: decimal<Price>("90000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  await fixture.does(strategy, places("SELL", "0.006"));
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.001");
  answers.clear();
  const [order] = (await fixture.venue.orders(copier.account, "BTCUSDT")).filter(
    ({ type }) => type === "LIMIT",
  );
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  await fixture.waitFor("it is booked", async () => (await fixture.entries(copier))[1]?.status === "FILLED");
  // A quarter of both entries.
  await fixture.waitFor("it is reduced", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.002");
  expect((await fixture.log(copier)).at(-1)).toBe("RECONCILE SELL MARKET 0.003 FILLED executed 0.003");
});

test("an entry that only the position shows is booked with it, and gets its stop without a poll", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  answers.set("GET /fapi/v1/order", UNKNOWN_ORDER);
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("110000") };
  const entry = { reduceOnly: false, leverage: null, attached };
  accounts = 1;
  await fixture.does(strategy, { ...places("SELL", "0.004"), entry }, false);
  fixture.wake(strategy);
  await fixture.waitFor("the position has its stop", async () => (await legsOf(copier)) === 1);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("-0.002");
  expect(await fixture.position(copier, "BTCUSDT")).toBe("-0.002");
});

/** How many legs the copy has at the venue. */
async function legsOf(copier: Copier): Promise<number | undefined> {
  return (await fixture.venue.store.loadAccount(copier.account.strategyId))?.account.openLegs.size;
}

/** A long of 0.002 with a stop at 90,000, copied and polled, at a venue that hides orders from then on. */
async function withStop() {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("90000") };
  const entry = { reduceOnly: false, leverage: null, attached };
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry });
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  const [, leg] = await fixture.entries(copier);
  hides = (query) => query.includes("origClientOrderId");
  return { strategy, copier, leg };
}

test.each([
  ["the exit has closed it", { isFired: false }],
  ["the copy's own leg has closed it, and the exit never got to the venue", { isFired: true }],
])("a position that is gone is booked once, for what has closed it: %s", async (_, { isFired }) => {
  const { strategy, copier, leg } = await withStop();
  proxy.plan("POST /fapi/v1/order", { cut: isFired ? "BEFORE" : "AFTER" });
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  if (isFired) {
    await fixture.venue.fire(copier.account, leg?.venueOrderId ?? "", "90000");
    answers.set("GET /fapi/v1/algoOrder", UNAVAILABLE);
  }
  accounts = 1;
  const legs = (await fixture.store.loadAccount(strategy))?.account.openLegs;
  const [legId = 0] = legs?.keys() ?? [];
  const seen = { seen: decimal<Price>("90000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "TriggerLeg", legId, ...seen }, false);
  fixture.wake(strategy);
  await fixture.waitFor("it is asked for", () => accounts < 1);
  answers.clear();
  hides = () => false;
  accounts = Number.POSITIVE_INFINITY;
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  await fixture.waitFor(
    "the leg is over",
    async () => (await fixture.log(copier))[1]?.includes("RESTING") === false,
  );
  const isShown = async () => (await fixture.log(copier)).at(-1)?.includes("FILLED") === true;
  if (!isFired) await fixture.waitFor("it is shown", isShown);
  await fixture.passes(30_000);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  const log = (await fixture.log(copier)).slice(1);
  expect(log).toEqual(
    isFired
      ? [
          "PLACE_LEG SELL STOP_MARKET FILLED executed 0.002",
          expect.stringMatching(/^FIRE_LEG SELL MARKET 0.002 (UNCONFIRMED|SKIPPED) UNCONFIRMED$/),
        ]
      : ["PLACE_LEG SELL STOP_MARKET EXPIRED", "FIRE_LEG SELL MARKET 0.002 FILLED executed 0.002"],
  );
});

test("a copy that closes is not kept for long by an order in doubt whose position its leg has closed", async () => {
  const { strategy, copier, leg } = await withStop();
  proxy.plan("POST /fapi/v1/order", { cut: "BEFORE" });
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.waitFor("its exit is in doubt", async () => `${await fixture.log(copier)}`.includes("SENT"));
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  await fixture.venue.fire(copier.account, leg?.venueOrderId ?? "", "90000");
  const at = fixture.time.now();
  await isInDoubt(copier);
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect(fixture.time.now() - at).toBeLessThan(5 * 60_000);
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE_LEG SELL STOP_MARKET FILLED executed 0.002",
    "FLATTEN SELL MARKET 0.002 SKIPPED UNCONFIRMED",
  ]);
});

/** A long of 0.002, copied and polled, and a stop at 90,000 that the venue has and does not show. */
async function withHiddenStop() {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  answers.set("GET /fapi/v1/algoOrder", UNKNOWN_ORDER);
  answers.set("GET /fapi/v1/openAlgoOrders", { status: 200, body: "[]" });
  const body = '{"code":-4130,"msg":"An open stop or take profit order is existing."}';
  answers.set("POST /fapi/v1/algoOrder", { status: 400, body });
  proxy.plan("POST /fapi/v1/algoOrder", { cut: "AFTER" });
  const triggerPrice = decimal<Price>("90000");
  const terms = { symbol: "BTCUSDT", side: "SELL", legType: "STOP_MARKET", clientLegId: "stop" } as const;
  await fixture.does(strategy, { type: "PlaceLeg", ...terms, triggerPrice }, false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  return { strategy, copier };
}

test("a stop that fires while the venue hides it is booked by the account's trades, once", async () => {
  const { copier } = await withHiddenStop();
  const account = (await fixture.venue.store.loadAccount(copier.account.strategyId))?.account;
  const [legId] = account?.openLegs.keys() ?? [];
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  await fixture.venue.fire(copier.account, `${legId}`, "90000");
  const at = fixture.time.now();
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  expect(fixture.time.now() - at).toBeLessThan(20_000);
  const log = [
    "PLACE BUY MARKET 0.002 FILLED executed 0.002",
    "PLACE_LEG SELL STOP_MARKET FILLED executed 0.002",
  ];
  expect(await fixture.log(copier)).toEqual(log);
  answers.clear();
  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  await fixture.passes(30_000);
  expect(await fixture.log(copier)).toEqual(log);
  // A twentieth of a per cent of 200 at 100,000, and of 179.98.
  expect((await fixture.copy(copier)).book.fees).toBe(decimal("0.18999"));
});

test("a stop that the venue hides for longer than it is asked for is found when it shows it", async () => {
  const { copier } = await withHiddenStop();
  await fixture.passesAtRest(UNCONFIRMED_MS_MAX + 20_000);
  expect((await fixture.log(copier)).at(-1)).toContain("SKIPPED UNCONFIRMED");
  answers.clear();
  await fixture.waitFor(
    "it is found",
    async () => (await fixture.log(copier)).at(-1)?.includes("RESTING") === true,
  );
  expect((await fixture.log(copier)).slice(1)).toEqual(["PLACE_LEG SELL STOP_MARKET RESTING"]);
});

test("a stop that a poll books while the venue is asked for it is not sent again", async () => {
  const { copier } = await withHiddenStop();
  const account = (await fixture.venue.store.loadAccount(copier.account.strategyId))?.account;
  const [legId] = account?.openLegs.keys() ?? [];
  let isAsked = false;
  const answered = Promise.withResolvers<void>();
  holds.set("GET /fapi/v1/algoOrder", () => {
    isAsked = true;
    return answered.promise;
  });
  await fixture.waitFor("the reconciler asks for it", () => isAsked);
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  await fixture.venue.fire(copier.account, `${legId}`, "90000");
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  const placements = () => proxy.seen.filter((route) => route === "POST /fapi/v1/algoOrder").length;
  const before = placements();
  answered.resolve();
  await fixture.passes(30_000);
  expect(placements()).toBe(before);
  expect((await fixture.log(copier)).slice(1)).toEqual(["PLACE_LEG SELL STOP_MARKET FILLED executed 0.002"]);
});

test("a stop that fires while the venue hides it is followed until all of it is executed", async () => {
  const { copier } = await withHiddenStop();
  const [, leg] = await fixture.entries(copier);
  const orderId = 987_654;
  const trade = (id: number) => ({
    ...{ id, orderId, symbol: "BTCUSDT", side: "SELL", qty: "0.001", price: "90000", quoteQty: "90" },
    ...{ commission: "0.045", commissionAsset: "USDT", time: fixture.time.now() },
  });
  const asset = { asset: "USDT", walletBalance: "990", availableBalance: "900", marginBalance: "990" };
  const order = { orderId, symbol: "BTCUSDT", clientOrderId: leg?.clientOrderId, type: "MARKET" };
  const json = (body: unknown) => ({ status: 200, body: JSON.stringify(body) });
  const shows = (positionAmt: string, fills: readonly unknown[]) => {
    const positions = [{ symbol: "BTCUSDT", positionAmt }];
    answers.set("GET /fapi/v3/account", json({ assets: [asset], positions }));
    answers.set(FUTURES_FILLS, json(fills));
  };
  answers.set("GET /fapi/v1/order", json({ ...order, status: "PARTIALLY_FILLED" }));
  shows("0.001", [trade(1)]);
  await fixture.waitFor(
    "its half is booked",
    async () => (await fixture.holds(copier, "BTCUSDT")) === "0.001",
  );
  await fixture.passes(30_000);
  const line = async () => (await fixture.log(copier))[1];
  expect(await line()).toBe("PLACE_LEG SELL STOP_MARKET UNCONFIRMED executed 0.001 UNCONFIRMED");
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.001");
  // The rest of the position asks for a stop of its own.
  expect((await fixture.log(copier)).slice(2)).toEqual([
    expect.stringMatching(/^PLACE_LEG SELL STOP_MARKET /),
  ]);

  shows("0", [trade(1), trade(2)]);
  await fixture.waitFor("all of it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  expect(await line()).toBe("PLACE_LEG SELL STOP_MARKET FILLED executed 0.002");
  // A twentieth of a per cent of 200 at 100,000, and of 180.
  expect((await fixture.copy(copier)).book.fees).toBe(decimal("0.19"));
});

test("the stop of a position that the strategy has left is not canceled when the venue shows it late", async () => {
  const { strategy, copier } = await withHiddenStop();
  const body = '{"code":-1008,"msg":"Server is currently overloaded with other requests."}';
  answers.set("POST /fapi/v1/order", { status: 400, body });
  await fixture.does(strategy, places("SELL", "0.002"));
  answers.delete("GET /fapi/v1/algoOrder");
  const isShown = async () => (await fixture.entries(copier))[1]?.venueOrderId !== null;
  await fixture.waitFor("it is shown", isShown);
  await fixture.passes(10_000);
  const { length } = proxy.seen;
  await fixture.waitFor("the exit is tried again", () =>
    proxy.seen.slice(length).includes("POST /fapi/v1/order"),
  );
  expect(await legsOf(copier)).toBe(1);
  answers.clear();
  await fixture.waitFor("it is closed", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  await fixture.waitFor("its stop is over", async () =>
    /CANCELED|EXPIRED/.test(`${await fixture.log(copier)}`),
  );
  expect(await legsOf(copier)).toBe(0);
});

test("an entry that the venue hides gets its stop soon after the price has reached it", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  const polledAt = async () => (await fixture.copy(copier)).book.snapshot?.at ?? 0;
  await fixture.waitFor("it is polled", async () => (await polledAt()) > 0);
  hides = () => true;
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("80000") };
  const entry = { reduceOnly: false, leverage: 10, attached };
  const orderId = await fixture.does(strategy, { ...places("BUY", "0.002", { at: "90000" }), entry }, false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  const seen = { seen: decimal<Price>("90000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  const before = await polledAt();
  await fixture.waitFor("it is polled again", async () => (await polledAt()) > before + 10_000);
  const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  fixture.contracts.show("BTCUSDT", "89980", "89990", "89985");
  const at = fixture.time.now();
  await fixture.waitFor("the stop is there", async () => (await legsOf(copier)) === 1);
  expect(fixture.time.now() - at).toBeLessThan(8_000);
});

test("a position in doubt is asked for again as long as the venue does not say what the account has", async () => {
  const { strategy, copier } = await polledCopy();
  hides = () => true;
  accounts = 0;
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("80000") };
  const entry = { reduceOnly: false, leverage: 10, attached };
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry }, false);
  fixture.wake(strategy);
  const startedAt = fixture.time.now();
  await isInDoubt(copier);
  // The poll that this asks for ends without an answer.
  await fixture.passes(4_000);
  accounts = Number.POSITIVE_INFINITY;
  await fixture.waitFor("the stop is there", async () => (await legsOf(copier)) === 1);
  expect(fixture.time.now() - startedAt).toBeLessThan(14_000);
});

test("a position opened after a stop has fired gets a stop, although nobody knows yet what that one cost", async () => {
  const { strategy, copier, leg } = await withStop();
  answers.set(FUTURES_FILLS, { status: 200, body: "[]" });
  fixture.contracts.show("BTCUSDT", "89990", "90000", "90000");
  await fixture.venue.fire(copier.account, leg?.venueOrderId ?? "", "90000");
  await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
  fixture.contracts.show("BTCUSDT", "99990", "100000", "100000");
  hides = () => false;
  await fixture.does(strategy, places("BUY", "0.002"), false);
  fixture.wake(strategy);
  await fixture.waitFor("it is copied", async () => (await fixture.holds(copier, "BTCUSDT")) !== "0");
  expect((await fixture.entries(copier))[1]).toMatchObject({ status: "FILLED", isFeeDue: true });
  const at = fixture.time.now();
  await fixture.waitFor("the stop is there", async () => (await legsOf(copier)) === 1);
  expect(fixture.time.now() - at).toBeLessThan(5_000);
});

test("a change of the position that two orders explain is booked for neither", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: null };
  const entry = { reduceOnly: false, leverage: 10, attached };
  await fixture.does(strategy, { ...places("BUY", "0.002"), entry });
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  answers.set("GET /fapi/v1/order", UNKNOWN_ORDER);
  const areUnconfirmed = (count: number) => async () =>
    (await fixture.log(copier)).filter((line) => line.includes("UNCONFIRMED")).length === count;
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  await fixture.does(strategy, places("BUY", "0.002", { at: "90000" }), false);
  fixture.wake(strategy);
  await fixture.waitFor("nobody knows of the first", areUnconfirmed(1));
  accounts = 0;
  const [order] = (await fixture.venue.orders(copier.account, "BTCUSDT")).filter(
    ({ type }) => type === "LIMIT",
  );
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  proxy.plan("POST /fapi/v1/order", { cut: "BEFORE" });
  accounts = 1;
  await fixture.does(strategy, places("BUY", "0.002"), false);
  fixture.wake(strategy);
  await fixture.waitFor("nobody knows of the second", areUnconfirmed(2));
  expect(accounts).toBeLessThanOrEqual(0);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.002");
});

/** Entries of 0.002 with a stop that both are sent and hidden, and of which the second has been executed. */
async function withTwoHidden() {
  const { strategy, copier } = await polledCopy();
  hides = () => true;
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("80000") };
  const entry = { reduceOnly: false, leverage: null, attached };
  const ids: number[] = [];
  for (const at of ["90000", "89000"]) {
    proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
    ids.push(await fixture.does(strategy, { ...places("BUY", "0.002", { at }), entry }, false));
    fixture.wake(strategy);
    await fixture.waitFor("nobody knows of it", async () => {
      const log = await fixture.log(copier);
      return log.filter((line) => /PLACE .*UNCONFIRMED/.test(line)).length === ids.length;
    });
  }
  const seen = { seen: decimal<Price>("90000"), seenAt: fixture.time.now() };
  const [orderId = 0] = ids;
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  return { strategy, copier };
}

async function areShown(copier: Copier): Promise<boolean> {
  return (await fixture.entries(copier)).every(({ status }) => status !== "UNCONFIRMED");
}

test.each([
  ["trades are listed", false],
  ["no trades are listed", true],
])(
  "a position that either of two hidden entries has opened gets its stop at once, and is booked when it is known which: %s",
  async (_, isUnlisted) => {
    const { copier } = await withTwoHidden();
    if (isUnlisted) answers.set(FUTURES_FILLS, { status: 200, body: "[]" });
    const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
    await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
    fixture.contracts.show("BTCUSDT", "89980", "89990", "89985");
    const at = fixture.time.now();
    await fixture.waitFor("the stop is there", async () => (await legsOf(copier)) === 1);
    expect(fixture.time.now() - at).toBeLessThan(10_000);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
    // Nor does a restart take it away.
    await fixture.restart();
    await fixture.passes(60_000);
    expect(await legsOf(copier)).toBe(1);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");

    answers.clear();
    hides = () => false;
    await fixture.waitFor("both are shown", () => areShown(copier));
    await fixture.passes(30_000);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.002");
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0.002");
    expect(await legsOf(copier)).toBe(1);
    const log = (await fixture.log(copier)).filter((line) => !line.startsWith("FILL"));
    expect(log).toEqual([
      "PLACE BUY LIMIT 0.002 FILLED executed 0.002",
      "PLACE BUY LIMIT 0.002 RESTING",
      "PLACE_LEG SELL STOP_MARKET RESTING",
    ]);
  },
);

test("a position in doubt whose stop the price has passed is closed, and the orders are booked when they are shown", async () => {
  const { copier } = await withTwoHidden();
  const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
  const body = '{"code":-2021,"msg":"Order would immediately trigger."}';
  answers.set("POST /fapi/v1/algoOrder", { status: 400, body });
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  fixture.contracts.show("BTCUSDT", "79980", "79990", "79985");
  hides = (query) => query.includes(`${order?.clientOrderId}`) || query.includes("orderId=");
  await fixture.waitFor("it is closed", async () => (await fixture.position(copier, "BTCUSDT")) === "0");
  await fixture.passes(30_000);
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
  hides = () => false;
  await fixture.waitFor("it is shown", () => areShown(copier));
  await fixture.passes(10_000);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
});

test("what the owner buys is not taken for a position in doubt", async () => {
  const { copier } = await withTwoHidden();
  // The venue shows it under its id.
  hides = (query) => query.includes("origClientOrderId");
  await fixture.trades(copier, "FUTURES", { side: "BUY", quantity: decimal("0.002") });
  await fixture.passes(40_000);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  expect(await legsOf(copier)).toBe(0);
});

/** A copy with an entry of 0.002 at 90,000 with a stop, which the venue has acknowledged and hides. */
async function withHiddenEntry() {
  const { strategy, copier } = await polledCopy();
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("80000") };
  const entry = { reduceOnly: false, leverage: null, attached };
  const orderId = await fixture.does(strategy, { ...places("BUY", "0.002", { at: "90000" }), entry });
  const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
  expect((await fixture.log(copier))[0]).toBe("PLACE BUY LIMIT 0.002 RESTING");
  hidesOpen();
  return { strategy, copier, orderId, id: `${order?.orderId}` };
}

function hidesOpen(): void {
  hides = () => true;
  answers.set("GET /fapi/v1/openOrders", { status: 200, body: "[]" });
}

test.each([
  ["at once", 0, false],
  ["at once, and its trades are not listed", 0, true],
  ["after a minute", 60_000, false],
])(
  "an acknowledged entry that is filled while the venue hides it gets its stop, and is adopted: %s",
  async (_, hiddenMs, isUnlisted) => {
    const { strategy, copier, orderId, id } = await withHiddenEntry();
    if (isUnlisted) answers.set(FUTURES_FILLS, { status: 200, body: "[]" });
    await fixture.passes(hiddenMs);
    await fixture.venue.fill(copier.account, id, "90000");
    const seen = { seen: decimal<Price>("90000"), seenAt: fixture.time.now() };
    await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen }, false);
    fixture.wake(strategy);
    fixture.contracts.show("BTCUSDT", "89980", "89990", "89985");
    const at = fixture.time.now();
    await fixture.waitFor("the stop is there", async () => (await legsOf(copier)) === 1);
    expect(fixture.time.now() - at).toBeLessThan(10_000);
    await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.002");
    await fixture.passes(2 * 60_000);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.002");
    answers.clear();
    hides = () => false;
    await fixture.waitFor("it is shown", async () => (await fixture.entries(copier))[0]?.status === "FILLED");
    await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
    await fixture.passes(30_000);
    const [line] = await fixture.entries(copier);
    expect(line).toMatchObject({
      executedQuantity: decimal("0.002"),
      executedQuote: decimal("180"),
      skip: null,
    });
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.002");
    expect(await legsOf(copier)).toBe(1);
    const orders = await fixture.venue.orders(copier.account, "BTCUSDT");
    expect(orders).toHaveLength(1);
  },
);

test("an acknowledged order that the venue hides is not over, and rests when it is shown", async () => {
  const { copier } = await withHiddenEntry();
  await fixture.passes(3 * 60_000);
  expect((await fixture.log(copier))[0]).toBe("PLACE BUY LIMIT 0.002 UNCONFIRMED UNCONFIRMED");
  answers.clear();
  hides = () => false;
  const isShown = async () => (await fixture.log(copier))[0] === "PLACE BUY LIMIT 0.002 RESTING";
  await fixture.waitFor("it is shown", isShown);
});

test("an acknowledged exit that the venue hides is not sold a second time at the market", async () => {
  const { strategy, copier } = await polledCopy();
  await fixture.does(strategy, places("BUY", "0.002"));
  const orderId = await fixture.does(strategy, places("SELL", "0.002", { at: "110000" }));
  await fixture.passes(16_000);
  hidesOpen();
  const seen = { seen: decimal<Price>("110000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen }, false);
  fixture.wake(strategy);
  await fixture.passes(20_000);
  const log = await fixture.log(copier);
  expect(log).toContain("PLACE SELL LIMIT 0.002 UNCONFIRMED UNCONFIRMED");
  expect(log.filter((line) => line.startsWith("RECONCILE"))).toEqual([]);
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.002");
});

test.each([
  ["after the time after which missed exits are closed", "FOLLOWING"],
  ["while its copy closes", "CLOSING"],
] as const)(
  "an acknowledged sale on spot that is executed while the venue hides it is not made again from its owner's coins: %s",
  async (_, status) => {
    const { strategy, copier, orderId, id } = await withHiddenSale();
    await fixture.venue.fill(copier.account, id, "105000");
    const owned = await fixture.owned(copier, "BTC");
    if (status === "CLOSING") await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
    fixture.pairs.show("BTCUSDT", "105000", "105010");
    const seen = { seen: decimal<Price>("105000"), seenAt: fixture.time.now() };
    await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen }, false);
    fixture.wake(strategy);
    await fixture.passesAtRest(40_000);
    expect(await fixture.owned(copier, "BTC")).toBe(owned);
    answers.clear();
    hides = () => false;
    await fixture.waitFor("it is shown", async () => `${(await fixture.log(copier))[1]}`.includes("FILLED"));
    await fixture.passesAtRest(10_000);
    expect(await fixture.owned(copier, "BTC")).toBe(owned);
  },
);

test("an open sale on spot that the venue hides is canceled once it is overdue, and its coins are sold", async () => {
  const { strategy, copier, orderId } = await withHiddenSale();
  fixture.pairs.show("BTCUSDT", "104990", "105000");
  const seen = { seen: decimal<Price>("105000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen }, false);
  fixture.wake(strategy);
  const isSold = async () => /RECONCILE SELL .*FILLED/.test(`${await fixture.log(copier)}`);
  await fixture.waitFor("it is sold", isSold);
  expect((await fixture.log(copier))[1]).toMatch(/^PLACE SELL LIMIT 0.00079 CANCELED/);
});

test("an overdue sale on spot that the venue does not cancel keeps its coins, and its owner's are not sold", async () => {
  const { strategy, copier, orderId, id } = await withHiddenSale();
  answers.clear();
  hides = () => false;
  const body = '{"code":-1008,"msg":"Server is currently overloaded with other requests."}';
  answers.set("DELETE /api/v3/order", { status: 400, body });
  fixture.pairs.show("BTCUSDT", "104990", "105000");
  const seen = { seen: decimal<Price>("105000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen }, false);
  fixture.wake(strategy);
  await fixture.waitFor("it is tried", () => proxy.seen.includes("DELETE /api/v3/order"));
  await fixture.passesAtRest(20_000);
  const sales = (await fixture.venue.orders(copier.account, "BTCUSDT")).filter(({ side }) => side === "SELL");
  expect(sales.map((sale) => `${sale.orderId}`)).toEqual([id]);
});

test("an open sale on spot that the venue hides is canceled when its copy closes, although a remainder is beside it", async () => {
  const { strategy, copier } = await withHiddenSale();
  await isInDoubt(copier);
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  const at = fixture.time.now();
  const isSold = async () => /FLATTEN SELL .*FILLED/.test(`${await fixture.log(copier)}`);
  await fixture.waitFor("it is sold", isSold);
  expect(fixture.time.now() - at).toBeLessThan(60_000);
  expect((await fixture.log(copier))[1]).toMatch(/^PLACE SELL LIMIT 0.00079 CANCELED/);
});

test.each([
  ["its cancel is refused once", { isHidden: false }],
  ["the venue knows it only after its cancel", { isHidden: true }],
])("an overdue sale is canceled again soon: %s", async (_, { isHidden }) => {
  const { strategy, copier, orderId } = await withHiddenSale({ closeAfterSeconds: 60 });
  if (!isHidden) showsAgain();
  const code = isHidden ? -2011 : -1008;
  answers.set("DELETE /api/v3/order", { status: 400, body: `{"code":${code},"msg":"Not now."}` });
  fixture.pairs.show("BTCUSDT", "104990", "105000");
  const seen = { seen: decimal<Price>("105000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen }, false);
  fixture.wake(strategy);
  await fixture.waitFor("it is tried", () => proxy.seen.includes("DELETE /api/v3/order"));
  answers.delete("DELETE /api/v3/order");
  showsAgain();
  const at = fixture.time.now();
  const isSold = async () => /RECONCILE SELL .*FILLED/.test(`${await fixture.log(copier)}`);
  await fixture.waitFor("it is sold", isSold);
  expect(fixture.time.now() - at).toBeLessThan(20_000);
  expect((await fixture.log(copier))[1]).toMatch(/^PLACE SELL LIMIT 0.00079 CANCELED/);
});

/** Ends what `withHiddenSale` has begun. */
function showsAgain(): void {
  hides = () => false;
  answers.delete("GET /api/v3/openOrders");
  answers.delete("GET /api/v3/account");
}

/**
 * A spot copy with a sale that the venue has acknowledged and hides, as it does the account; its owner has
 * coins, too.
 */
async function withHiddenSale({ closeAfterSeconds = 5 } = {}) {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT", { closeAfterSeconds });
  await fixture.does(strategy, places("BUY", "0.0008"));
  const orderId = await fixture.does(strategy, places("SELL", "0.00079", { at: "105000" }));
  const order = (await fixture.venue.orders(copier.account, "BTCUSDT")).find(({ side }) => side === "SELL");
  await fixture.trades(copier, "SPOT", { side: "BUY", quantity: decimal("0.0009") });
  hides = () => true;
  answers.set("GET /api/v3/openOrders", { status: 200, body: "[]" });
  answers.set("GET /api/v3/account", UNAVAILABLE);
  return { strategy, copier, orderId, id: `${order?.orderId}` };
}

test("an acknowledged order that is hidden after a long outage is not given up at once", async () => {
  const { copier } = await withHiddenEntry();
  hides = () => false;
  answers.delete("GET /fapi/v1/openOrders");
  answers.set("GET /fapi/v3/account", { status: 503, body: "down" });
  await fixture.passes(16 * 60_000);
  answers.delete("GET /fapi/v3/account");
  hidesOpen();
  await fixture.waitFor("it is missed", async () => !`${await fixture.log(copier)}`.includes("RESTING"));
  await fixture.passes(60_000);
  expect((await fixture.log(copier))[0]).toBe("PLACE BUY LIMIT 0.002 UNCONFIRMED UNCONFIRMED");
});

test("an acknowledged order that the venue hides is left when its copy is withdrawn, not called canceled", async () => {
  const { strategy, copier } = await withHiddenEntry();
  const body = '{"code":-2011,"msg":"Unknown order sent."}';
  answers.set("DELETE /fapi/v1/order", { status: 400, body });
  await fixture.stopCopy(copier, strategy);
  await fixture.waitFor("it is withdrawn", async () => `${await fixture.log(copier)}`.includes("WITHDRAW"));
  expect((await fixture.log(copier))[0]).toMatch(/^PLACE BUY LIMIT 0.002 LEFT/);
});

test("an acknowledged order that the strategy cancels while the venue hides it is canceled at the venue", async () => {
  const { strategy, copier, orderId } = await withHiddenEntry();
  await fixture.waitFor("it is missed", async () => `${await fixture.log(copier)}`.includes("UNCONFIRMED"));
  await fixture.does(strategy, { type: "CancelOrder", orderId }, false);
  fixture.wake(strategy);
  const status = async () => (await fixture.venue.orders(copier.account, "BTCUSDT"))[0]?.status;
  await fixture.waitFor("it is canceled", async () => (await status()) === "CANCELED");
  await fixture.waitFor(
    "that is recorded",
    async () => (await fixture.log(copier))[0] === "PLACE BUY LIMIT 0.002 CANCELED",
  );
});

test("what the owner bought before the strategy canceled a hidden order is not taken for that order's", async () => {
  const { strategy, copier, orderId } = await withHiddenEntry();
  await isInDoubt(copier);
  const body = '{"code":-2011,"msg":"Unknown order sent."}';
  answers.set("DELETE /fapi/v1/order", { status: 400, body });
  await fixture.trades(copier, "FUTURES", { side: "BUY", quantity: decimal("0.001") });
  // The venue shows it under its id.
  hides = (query) => query.includes("origClientOrderId");
  await fixture.passesAtRest(40_000);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  await fixture.does(strategy, { type: "CancelOrder", orderId });
  await fixture.passesAtRest(40_000);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.001");
});

test("an acknowledged entry that is filled before the strategy cancels it, while the venue hides it, is closed", async () => {
  const { strategy, copier, orderId, id } = await withHiddenEntry();
  await fixture.venue.fill(copier.account, id, "90000");
  await fixture.does(strategy, { type: "CancelOrder", orderId }, false);
  fixture.wake(strategy);
  await fixture.waitFor("it is closed", async () =>
    (await fixture.log(copier)).some((line) => /RECONCILE SELL .*FILLED/.test(line)),
  );
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
  answers.clear();
  hides = () => false;
  await fixture.waitFor("it is shown", async () => (await fixture.entries(copier))[0]?.status === "FILLED");
  await fixture.passes(30_000);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
});

test("a copy that closes waits for an open order that the venue hides, and cancels it", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  answers.set("GET /api/v3/order", UNKNOWN_ORDER);
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.passes(5 * 60_000);
  expect((await fixture.copy(copier)).status).toBe("CLOSING");
  answers.clear();
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
  const orders = await fixture.venue.orders(copier.account, "BTCUSDT");
  expect(orders.map(({ type, status }) => `${type} ${status}`)).toEqual(["LIMIT CANCELED"]);
});

test.each([
  ["an order through zero that the venue hides", 60],
  ["one whose trades it lists before it shows the order", 0],
])(
  "%s: its position gets a stop, and is not reduced by a book that does not know it",
  async (_what, unlisted) => {
    const strategy = await fixture.strategy("FUTURES");
    await fixture.start();
    const copier = await fixture.copier(strategy, "FUTURES");
    await fixture.does(strategy, places("SELL", "0.002"));
    proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
    const hidden = 60;
    for (let asked = 0; asked < hidden; asked += 1)
      proxy.plan("GET /fapi/v1/order", { answer: UNKNOWN_ORDER });
    listsNothing(FUTURES_FILLS, unlisted);
    const stopLossPrice = decimal<Price>("90000");
    const attached = { takeProfitPrice: null, stopLossPrice };
    await fixture.does(
      strategy,
      { ...places("BUY", "0.004"), entry: { reduceOnly: false, leverage: null, attached } },
      false,
    );
    const at = fixture.time.now();
    await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }), false);
    fixture.wake(strategy);
    const legs = async () => {
      const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
      return [...(account?.account.openLegs.values() ?? [])];
    };
    await fixture.waitFor("the position has its stop", async () => (await legs()).length === 1);
    expect(fixture.time.now() - at).toBeLessThan(5_000);
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0.002");
    expect((await fixture.log(copier)).filter((line) => line.startsWith("RECONCILE"))).toEqual([]);
  },
);

/** A spot copy with coins, of which a limit purchase and then a sale at the market never reach the venue. */
async function withTwoLost({ hides: isHidden = false } = {}) {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  hides = () => isHidden;
  const sends = async (cut: "BEFORE" | "AFTER", command: ReturnType<typeof places>, nth: number) => {
    proxy.plan("POST /api/v3/order", { cut });
    await fixture.does(strategy, command, false);
    fixture.wake(strategy);
    await fixture.waitFor("nobody knows of it", async () =>
      `${(await fixture.log(copier))[nth]}`.includes("UNCONFIRMED"),
    );
  };
  await sends(isHidden ? "AFTER" : "BEFORE", places("BUY", "0.0005", { at: "90000" }), 1);
  await sends("BEFORE", places("SELL", "0.00045"), 2);
  return { strategy, copier };
}

test("a sale that never got to the venue does not wait long for a purchase that did not either", async () => {
  const { copier } = await withTwoLost();
  const at = fixture.time.now();
  const isSold = async () => /RECONCILE SELL .*FILLED/.test(`${await fixture.log(copier)}`);
  await fixture.waitFor("it is sold", isSold);
  expect(fixture.time.now() - at).toBeLessThan(ENDED_MS_MAX + 30_000);
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE BUY LIMIT 0.0005 SKIPPED UNCONFIRMED",
    "PLACE SELL MARKET 0.00045 SKIPPED UNCONFIRMED",
    "RECONCILE SELL MARKET 0.00044 FILLED executed 0.00044",
  ]);
});

test("a purchase that is open and hidden is not given up, although a sale beside it never got to the venue", async () => {
  const { copier } = await withTwoLost({ hides: true });
  await fixture.passesAtRest(ENDED_MS_MAX + 60_000);
  hides = () => false;
  await fixture.waitFor("it is shown", async () => `${(await fixture.log(copier))[1]}`.includes("RESTING"));
});

test("a purchase is not given up whose rest may be open, after a sale has hidden what it has executed", async () => {
  const { copier } = await withTwoLost();
  const btc = { asset: "BTC", free: "0.000999", locked: "0" };
  // Nine tenths of the purchase at 90,000 and the whole sale are executed.
  const usdt = { asset: "USDT", free: "100", locked: "4.5" };
  const body = JSON.stringify({ canTrade: true, balances: [btc, usdt] });
  answers.set("GET /api/v3/account", { status: 200, body });
  await fixture.passesAtRest(ENDED_MS_MAX + 60_000);
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE BUY LIMIT 0.0005 UNCONFIRMED UNCONFIRMED",
    "PLACE SELL MARKET 0.00045 UNCONFIRMED UNCONFIRMED",
  ]);
});

test("a copy that closes keeps a sale in mind that is open and hidden, and cancels it once it is shown", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  hides = () => true;
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  await fixture.does(strategy, places("SELL", "0.0005", { stop: "80000" }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  answers.set("DELETE /api/v3/order", { status: 400, body: '{"code":-2011,"msg":"Unknown order sent."}' });
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.passesAtRest(240_000);
  expect((await fixture.copy(copier)).status).toBe("CLOSING");
  expect((await fixture.log(copier))[1]).toBe("PLACE SELL STOP_LOSS 0.0005 UNCONFIRMED UNCONFIRMED");
  answers.clear();
  hides = () => false;
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect((await fixture.log(copier))[1]).toBe("PLACE SELL STOP_LOSS 0.0005 CANCELED");
  expect(Number(await fixture.owned(copier, "BTC"))).toBeLessThan(0.00001);
});

test("coins that the owner sold before a purchase was lost are not taken for that purchase once they are written off", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.waitFor("its fee is known", () => areFeesKnown(copier));
  await fixture.trades(copier, "SPOT", { side: "SELL", quantity: decimal("0.0004") });
  await isPolledAgain(copier);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.000999");
  answers.set("GET /api/v3/account", UNAVAILABLE);
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  await fixture.does(strategy, places("BUY", "0.0004"), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  answers.clear();
  await fixture.waitFor("they are written off", async () =>
    `${await fixture.log(copier)}`.includes("WRITE_OFF SELL DONE executed 0.0004"),
  );
  await isPolledAgain(copier);
  await isPolledAgain(copier);
  expect((await fixture.log(copier)).slice(1)).toEqual([
    "PLACE BUY MARKET 0.00039 UNCONFIRMED UNCONFIRMED",
    "WRITE_OFF SELL DONE executed 0.0004",
  ]);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.000599");
});

test("a position that was liquidated before an entry was lost is not taken for that entry once it is written off", async () => {
  const { strategy, copier } = await polledCopy();
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 100 });
  await fixture.does(strategy, places("BUY", "0.05"));
  await isPolledAgain(copier);
  answers.set(FUTURES_FILLS, UNAVAILABLE);
  fixture.contracts.show("BTCUSDT", "99390", "99400");
  // Prices requested before are not used any more.
  fixture.time.advance(2_000);
  await fixture.venue.liquidate(copier.account, "BTCUSDT", "99400");
  await isPolledAgain(copier);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.05");
  proxy.plan("POST /fapi/v1/order", { cut: "BEFORE" });
  await fixture.does(strategy, places("BUY", "0.05", { at: "90000" }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  answers.clear();
  await fixture.waitFor("it is written off", async () =>
    `${await fixture.log(copier)}`.includes("WRITE_OFF"),
  );
  await isPolledAgain(copier);
  await isPolledAgain(copier);
  expect((await fixture.log(copier)).slice(2)).toEqual([
    "PLACE BUY LIMIT 0.047 UNCONFIRMED UNCONFIRMED",
    "WRITE_OFF SELL DONE executed 0.05",
  ]);
});

test("an exit that the venue hides is not made a second time while either of two may have reduced the position", async () => {
  const { strategy, copier } = await polledCopy();
  await fixture.does(strategy, places("BUY", "0.005"));
  hides = () => true;
  proxy.plan("POST /fapi/v1/order", { cut: "BEFORE" });
  await fixture.does(strategy, places("SELL", "0.002", { at: "110000" }), false);
  fixture.wake(strategy);
  await isInDoubt(copier);
  const body = '{"code":-1008,"msg":"Server is currently overloaded with other requests."}';
  proxy.plan("POST /fapi/v1/order", { answer: { status: 400, body } });
  proxy.plan("POST /fapi/v1/order", { answer: UNAVAILABLE, isForwarded: true });
  await fixture.does(strategy, places("SELL", "0.002"), false);
  fixture.wake(strategy);
  await fixture.waitFor("nobody knows of the exit", async () =>
    /RECONCILE .*UNCONFIRMED/.test(`${await fixture.log(copier)}`),
  );
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.003");
  await fixture.passesAtRest(60_000);
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.003");
  hides = () => false;
  await fixture.waitFor("it is shown", async () => (await fixture.holds(copier, "BTCUSDT")) === "0.003");
  await fixture.passesAtRest(30_000);
  expect(await fixture.position(copier, "BTCUSDT")).toBe("0.003");
});

test.each([
  ["a poll gets balances once another symbol's order is not in doubt any more", 4_500, {}, 4_500],
  ["a poll does not wait for ever", 60_000, {}, 5_000],
  ["an order waits for less", 4_500, { inFlightMsMax: 300 }, 300],
] as const)("%s", async (_, inDoubtMs, options, waitedMs) => {
  const state = freshState();
  state.control({ status: "FOLLOWING", reason: null, settings: EXACT_SETTINGS });
  const sent = state.add({ ...ownRow("RECONCILE", "ETHUSDT", 0), status: "SENT" });
  let now = 0;
  const nothing = { at: 0, wallet: ZERO, available: ZERO, held: new Map(), locked: new Map() };
  const context = {
    ...{ state, now: () => now, session: { prices: async () => new Map(), ask: async () => nothing } },
    async pause(ms: number) {
      now += ms;
      if (now >= inDoubtMs) state.put({ ...sent, status: "FILLED" });
    },
  } as unknown as CopyContext;
  expect(await refreshBalances(context, options)).toBe(waitedMs === inDoubtMs);
  expect(now).toBe(waitedMs);
});
