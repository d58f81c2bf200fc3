// A venue whose list of fills lags behind its orders: what was executed is booked at once, its fees as soon
// as they are listed.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Answer, FaultProxy } from "../../../test/support/fault-proxy.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import { type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";

const SPOT_FILLS = "GET /api/v3/myTrades";
const FUTURES_FILLS = "GET /fapi/v1/userTrades";
const UNAVAILABLE = { status: 503, body: "" };
const UNKNOWN_ORDER = { status: 400, body: '{"code":-2013,"msg":"Order does not exist."}' };

let stage: CopiesStage;
let proxy: FaultProxy;
/** What the venue answers by itself on a route, as long as it does. */
const answers = new Map<string, Answer>();
/** Whether the venue does not show the order that a query asks for. */
let hides: (query: string) => boolean;
/** How often it still answers what a contract's account has. */
let accounts: number;

beforeEach(async () => {
  answers.clear();
  hides = () => false;
  accounts = Number.POSITIVE_INFINITY;
  stage = await openCopiesStage({
    through: async (url) => {
      proxy = await FaultProxy.open(url, {
        rule({ route, query }) {
          const isHidden = route === "GET /api/v3/order" && hides(query);
          if (route === "GET /fapi/v3/account") accounts -= 1;
          const isAway = route === "GET /fapi/v3/account" && accounts < 0;
          const answer = isHidden ? UNKNOWN_ORDER : isAway ? UNAVAILABLE : answers.get(route);
          return answer === undefined ? {} : { answer };
        },
      });
      return proxy.url;
    },
  });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

test("of a spot pair: the fee is not taken for none, and what it took is not held for long", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001", { at: "90000" }));
  const [order] = await stage.venue.orders(copier.account, "BTCUSDT");
  await stage.venue.fill(copier.account, `${order?.orderId}`, "90000");
  listsNothing(SPOT_FILLS, 4);
  await stage.waitFor("it is booked", async () => (await stage.holds(copier, "BTCUSDT")) !== "0");
  expect(await stage.log(copier)).toEqual(["PLACE BUY LIMIT 0.001 FILLED executed 0.001"]);
  expect((await stage.entries(copier))[0]?.isFeeDue).toBe(true);
  expect(await stage.holds(copier, "BTCUSDT")).toBe("0.001");

  await stage.waitFor("its fee is known", () => areFeesKnown(copier));
  const [line] = await stage.entries(copier);
  expect(line?.fee).toBe(decimal("0.09"));
  expect(await stage.holds(copier, "BTCUSDT")).toBe(await stage.owned(copier, "BTC"));
  const { book } = await stage.copy(copier);
  expect(book.fees).toBe(decimal("0.09"));
  expect(book.holdings.get("BTCUSDT")?.cost).toBe(decimal("89.91"));
});

test("of a contract: an order after it is sized by the position that there is, and all fees are booked in the end", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  listsNothing(FUTURES_FILLS, 4);
  await stage.does(strategy, places("BUY", "0.002"), false);
  await stage.waitFor("it is booked", async () => (await stage.holds(copier, "BTCUSDT")) === "0.002");
  expect(await stage.log(copier)).toEqual(["PLACE BUY MARKET 0.002 FILLED executed 0.002"]);
  await stage.does(strategy, places("SELL", "0.001"), false);
  stage.wake(strategy);
  await stage.eventually("it is sized", async () => (await stage.holds(copier, "BTCUSDT")) === "0.001");
  expect(await stage.position(copier, "BTCUSDT")).toBe("0.001");
  await stage.waitFor("its fee is known", () => areFeesKnown(copier));
  // A twentieth of a per cent of 200 at 100,000, and of 99.99.
  expect((await stage.copy(copier)).book.fees).toBe(decimal("0.149995"));
});

test("a list that comes a moment later is requested again", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  listsNothing(FUTURES_FILLS, 2);
  await stage.does(strategy, places("BUY", "0.002"), false);
  await stage.waitFor("it is booked", async () => (await stage.holds(copier, "BTCUSDT")) === "0.002");
  await stage.waitFor("its fee is known", () => areFeesKnown(copier));
  expect(proxy.seen.filter((route) => route === FUTURES_FILLS)).toHaveLength(3);
  expect(await stage.log(copier)).toEqual(["PLACE BUY MARKET 0.002 FILLED executed 0.002"]);
  expect((await stage.copy(copier)).book.fees).toBe(decimal("0.1"));
});

test("a copy that closes is closed once all its sales are known in full", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  await stage.does(strategy, places("BUY", "0.002"));
  listsNothing(FUTURES_FILLS, 5);
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.waitFor("it is closed", async () => (await stage.copy(copier)).status === "STOPPED");
  expect((await stage.log(copier)).slice(1)).toEqual(["FLATTEN SELL MARKET 0.002 FILLED executed 0.002"]);
  expect((await stage.copy(copier)).book.fees).toBe(decimal("0.19999"));
  expect(await stage.position(copier, "BTCUSDT")).toBe("0");
});

function listsNothing(route: string, times: number): void {
  for (let time = 0; time < times; time += 1) proxy.plan(route, { answer: { status: 200, body: "[]" } });
}

async function areFeesKnown(copier: Copier): Promise<boolean> {
  return (await stage.entries(copier)).every(({ isFeeDue }) => isFeeDue !== true);
}

test("a sale on spot that never reached the venue ends as soon as the balances show that, and its coins are sold", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  const orderId = await stage.does(strategy, places("SELL", "0.0005", { at: "105000" }), false);
  const isUnconfirmed = async () => `${(await stage.log(copier)).at(-1)}`.includes("UNCONFIRMED");
  await stage.waitFor("nobody knows of it", isUnconfirmed);
  stage.pairs.show("BTCUSDT", "105000", "105010");
  const seen = { seen: decimal<Price>("105000"), seenAt: stage.time.now() };
  await stage.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  const at = stage.time.now();
  await stage.waitFor(
    "it is sold",
    async () => (await stage.log(copier)).at(-1)?.includes("FILLED") === true,
  );
  expect(stage.time.now() - at).toBeLessThan(75_000);
  expect((await stage.log(copier)).slice(1)).toEqual([
    "PLACE SELL LIMIT 0.0005 SKIPPED UNCONFIRMED",
    "FILL SELL SKIPPED UNCONFIRMED",
    "RECONCILE SELL MARKET 0.00049 FILLED executed 0.00049",
  ]);
});

test("a sale that is not shown is booked by the coins, however long a fee that was taken in coins is unknown", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  await stage.does(strategy, places("BUY", "0.0003", { at: "90000" }));
  const [limit] = (await stage.venue.orders(copier.account, "BTCUSDT")).slice(-1);
  hides = (query) => !query.includes(`${limit?.clientOrderId}`);
  proxy.plan("POST /api/v3/order", { answer: { status: 503, body: "" }, isForwarded: true });
  answers.set(SPOT_FILLS, { status: 200, body: "[]" });
  await stage.does(strategy, places("SELL", "0.0004"), false);
  await stage.venue.fill(copier.account, `${limit?.orderId}`, "90000");
  const logged = async (nth: number, text: string) => (await stage.log(copier))[nth]?.includes(text) === true;
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  await stage.does(strategy, places("BUY", "0.0002", { at: "80000" }), false);
  await stage.waitFor("nobody knows of either", () => logged(3, "UNCONFIRMED"));
  await stage.waitFor("the purchase is booked", () => logged(1, "FILLED"));
  await stage.passes(40_000);
  expect((await stage.log(copier)).some((line) => line.includes("WRITE_OFF"))).toBe(false);
  answers.delete(SPOT_FILLS);
  await stage.waitFor("its coins are gone from the book", async () => {
    return (await stage.holds(copier, "BTCUSDT")) === (await stage.owned(copier, "BTC"));
  });
  hides = () => false;
  await stage.waitFor("it is shown", () => logged(2, "FILLED"));
  expect(await stage.log(copier)).toEqual([
    "PLACE BUY MARKET 0.001 FILLED executed 0.001",
    "PLACE BUY LIMIT 0.0003 FILLED executed 0.0003",
    "PLACE SELL MARKET 0.0004 FILLED executed 0.0004",
    "PLACE BUY LIMIT 0.0002 UNCONFIRMED UNCONFIRMED",
  ]);
  expect(await stage.holds(copier, "BTCUSDT")).toBe(await stage.owned(copier, "BTC"));
});

test("several sales that never got to the venue are over too", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  const sales = ["0.0004", "0.0003"];
  const orderIds: number[] = [];
  for (const quantity of sales) {
    proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
    orderIds.push(await stage.does(strategy, places("SELL", quantity, { at: "105000" }), false));
    stage.wake(strategy);
    const count = orderIds.length;
    const unconfirmed = async () =>
      (await stage.log(copier)).filter((line) => line.includes("UNCONFIRMED")).length;
    await stage.waitFor("nobody knows of it", async () => (await unconfirmed()) === count);
  }
  stage.pairs.show("BTCUSDT", "105000", "105010");
  for (const orderId of orderIds) {
    const seen = { seen: decimal<Price>("105000"), seenAt: stage.time.now() };
    await stage.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  }
  const at = stage.time.now();
  await stage.waitFor("what they were to sell is sold", async () =>
    ["0.000299", "0.0003", "0.000309"].includes(await stage.holds(copier, "BTCUSDT")),
  );
  expect(stage.time.now() - at).toBeLessThan(75_000);
  const log = await stage.log(copier);
  expect(log.filter((line) => line === "PLACE SELL LIMIT 0.0004 SKIPPED UNCONFIRMED")).toHaveLength(1);
});

test("a sale on spot that is open but not shown is not sold twice", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  hides = () => true;
  const orderId = await stage.does(strategy, places("SELL", "0.0005", { at: "105000" }), false);
  const isUnconfirmed = async () => `${(await stage.log(copier)).at(-1)}`.includes("UNCONFIRMED");
  await stage.waitFor("nobody knows of it", isUnconfirmed);
  stage.pairs.show("BTCUSDT", "105000", "105010");
  const seen = { seen: decimal<Price>("105000"), seenAt: stage.time.now() };
  await stage.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  await stage.passes(60_000);
  hides = () => false;
  await stage.waitFor("it is found", async () => (await stage.log(copier))[1]?.includes("RESTING") === true);
  const orders = await stage.venue.orders(copier.account, "BTCUSDT");
  expect(orders.map(({ side, type }) => `${side} ${type}`)).toEqual(["BUY MARKET", "SELL LIMIT"]);
});

test("a copy that closes waits for purchases that the venue hides, and sells them", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.waitFor("it is polled", async () => (await stage.copy(copier)).book.snapshot !== null);
  answers.set("GET /api/v3/order", UNKNOWN_ORDER);
  // Neither alone explains what the account has more when it shows that: nobody knows whose it is.
  answers.set("GET /api/v3/account", { status: 503, body: "" });
  for (const [count, quantity] of ["0.001", "0.0005"].entries()) {
    proxy.plan("POST /api/v3/order", { cut: "AFTER" });
    await stage.does(strategy, places("BUY", quantity), false);
    stage.wake(strategy);
    await stage.waitFor("nobody knows of it", async () => {
      const log = await stage.log(copier);
      return log.filter((line) => line.includes("UNCONFIRMED")).length === count + 1;
    });
  }
  answers.delete("GET /api/v3/account");
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.passes(5 * 60_000);
  expect((await stage.copy(copier)).status).toBe("CLOSING");
  answers.clear();
  await stage.waitFor("it is closed", async () => (await stage.copy(copier)).status === "STOPPED");
  expect(await stage.log(copier)).toEqual([
    "PLACE BUY MARKET 0.001 FILLED executed 0.001",
    "PLACE BUY MARKET 0.0005 FILLED executed 0.0005",
    "FLATTEN SELL MARKET 0.00149 FILLED executed 0.00149",
  ]);
});

test.each([
  ["MARKET", {}],
  ["LIMIT", { at: "100000" }],
] as const)(
  "a copy that closes waits for the figures of a purchase that only the balances show: %s",
  async (type, terms) => {
    const strategy = await stage.strategy("SPOT");
    await stage.start();
    const copier = await stage.copier(strategy, "SPOT");
    answers.set("GET /api/v3/order", UNKNOWN_ORDER);
    proxy.plan("POST /api/v3/order", { cut: "AFTER" });
    await stage.does(strategy, places("BUY", "0.001", terms), false);
    stage.wake(strategy);
    await stage.waitFor("it is booked", async () => (await stage.holds(copier, "BTCUSDT")) !== "0");
    await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await stage.passes(5 * 60_000);
    expect((await stage.copy(copier)).status).toBe("CLOSING");
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0.000009");
    answers.clear();
    await stage.waitFor("it is closed", async () => (await stage.copy(copier)).status === "STOPPED");
    expect(await stage.log(copier)).toEqual([
      `PLACE BUY ${type} 0.001 FILLED executed 0.001`,
      "FLATTEN SELL MARKET 0.00099 FILLED executed 0.00099",
    ]);
    expect((await stage.entries(copier))[0]).toMatchObject({ skip: null, executedQuote: decimal("100") });
  },
);

test("exits of the strategy take their part of an entry that the venue hides, which is filled only later", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: null };
  const entry = { reduceOnly: false, leverage: 10, attached };
  await stage.does(strategy, { ...places("BUY", "0.004"), entry });
  answers.set("GET /fapi/v1/order", UNKNOWN_ORDER);
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  const orderId = await stage.does(strategy, places("BUY", "0.004", { at: "90000" }), false);
  stage.wake(strategy);
  await stage.waitFor("nobody knows of it", async () => `${await stage.log(copier)}`.includes("UNCONFIRMED"));
  const seen = { seen: decimal<Price>("90000"), seenAt: stage.time.now() };
  await stage.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  await stage.does(strategy, places("SELL", "0.006"));
  expect(await stage.holds(copier, "BTCUSDT")).toBe("0.001");
  answers.clear();
  const [order] = (await stage.venue.orders(copier.account, "BTCUSDT")).filter(
    ({ type }) => type === "LIMIT",
  );
  await stage.venue.fill(copier.account, `${order?.orderId}`, "90000");
  await stage.waitFor("it is booked", async () => (await stage.entries(copier))[1]?.status === "FILLED");
  // A quarter of both entries.
  await stage.waitFor("it is reduced", async () => (await stage.holds(copier, "BTCUSDT")) === "0.002");
  expect((await stage.log(copier)).at(-1)).toBe("RECONCILE SELL MARKET 0.003 FILLED executed 0.003");
});

test("an entry that only the position shows is booked with it, and gets its stop without a poll", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  await stage.does(strategy, places("BUY", "0.002"));
  await stage.waitFor("it is polled", async () => (await stage.copy(copier)).book.snapshot !== null);
  answers.set("GET /fapi/v1/order", UNKNOWN_ORDER);
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("110000") };
  const entry = { reduceOnly: false, leverage: null, attached };
  accounts = 1;
  await stage.does(strategy, { ...places("SELL", "0.004"), entry }, false);
  stage.wake(strategy);
  const legs = async () =>
    (await stage.venue.store.loadAccount(copier.account.strategyId))?.account.openLegs.size;
  await stage.waitFor("the position has its stop", async () => (await legs()) === 1);
  expect(await stage.holds(copier, "BTCUSDT")).toBe("-0.002");
  expect(await stage.position(copier, "BTCUSDT")).toBe("-0.002");
});

test("a change of the position that two orders explain is booked for neither", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: null };
  const entry = { reduceOnly: false, leverage: 10, attached };
  await stage.does(strategy, { ...places("BUY", "0.002"), entry });
  await stage.waitFor("it is polled", async () => (await stage.copy(copier)).book.snapshot !== null);
  answers.set("GET /fapi/v1/order", UNKNOWN_ORDER);
  const areUnconfirmed = (count: number) => async () =>
    (await stage.log(copier)).filter((line) => line.includes("UNCONFIRMED")).length === count;
  proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
  await stage.does(strategy, places("BUY", "0.002", { at: "90000" }), false);
  stage.wake(strategy);
  await stage.waitFor("nobody knows of the first", areUnconfirmed(1));
  accounts = 0;
  const [order] = (await stage.venue.orders(copier.account, "BTCUSDT")).filter(
    ({ type }) => type === "LIMIT",
  );
  await stage.venue.fill(copier.account, `${order?.orderId}`, "90000");
  proxy.plan("POST /fapi/v1/order", { cut: "BEFORE" });
  accounts = 1;
  await stage.does(strategy, places("BUY", "0.002"), false);
  stage.wake(strategy);
  await stage.waitFor("nobody knows of the second", areUnconfirmed(2));
  expect(accounts).toBeLessThanOrEqual(0);
  expect(await stage.holds(copier, "BTCUSDT")).toBe("0.002");
});

test("a copy that closes waits for an open order that the venue hides, and cancels it", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  answers.set("GET /api/v3/order", UNKNOWN_ORDER);
  proxy.plan("POST /api/v3/order", { cut: "AFTER" });
  await stage.does(strategy, places("BUY", "0.001", { at: "90000" }), false);
  stage.wake(strategy);
  await stage.waitFor("nobody knows of it", async () => `${await stage.log(copier)}`.includes("UNCONFIRMED"));
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.passes(5 * 60_000);
  expect((await stage.copy(copier)).status).toBe("CLOSING");
  answers.clear();
  await stage.waitFor("it is closed", async () => (await stage.copy(copier)).status === "STOPPED");
  const orders = await stage.venue.orders(copier.account, "BTCUSDT");
  expect(orders.map(({ type, status }) => `${type} ${status}`)).toEqual(["LIMIT CANCELED"]);
});

test.each([
  ["an order through zero that the venue hides", 60],
  ["one whose trades it lists before it shows the order", 0],
])(
  "%s: its position gets a stop, and is not reduced by a book that does not know it",
  async (_what, unlisted) => {
    const strategy = await stage.strategy("FUTURES");
    await stage.start();
    const copier = await stage.copier(strategy, "FUTURES");
    await stage.does(strategy, places("SELL", "0.002"));
    proxy.plan("POST /fapi/v1/order", { cut: "AFTER" });
    const hidden = 60;
    for (let asked = 0; asked < hidden; asked += 1)
      proxy.plan("GET /fapi/v1/order", { answer: UNKNOWN_ORDER });
    listsNothing(FUTURES_FILLS, unlisted);
    const stopLossPrice = decimal<Price>("90000");
    const attached = { takeProfitPrice: null, stopLossPrice };
    await stage.does(
      strategy,
      { ...places("BUY", "0.004"), entry: { reduceOnly: false, leverage: null, attached } },
      false,
    );
    const at = stage.time.now();
    await stage.does(strategy, places("BUY", "0.001", { at: "90000" }), false);
    stage.wake(strategy);
    const legs = async () => {
      const account = await stage.venue.store.loadAccount(copier.account.strategyId);
      return [...(account?.account.openLegs.values() ?? [])];
    };
    await stage.waitFor("the position has its stop", async () => (await legs()).length === 1);
    expect(stage.time.now() - at).toBeLessThan(5_000);
    expect(await stage.position(copier, "BTCUSDT")).toBe("0.002");
    expect((await stage.log(copier)).filter((line) => line.startsWith("RECONCILE"))).toEqual([]);
  },
);
