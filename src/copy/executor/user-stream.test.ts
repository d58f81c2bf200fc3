// Events of an account's user data stream: what they have queried at once, while no time passes and nothing is
// polled, and what is left without them.
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultProxy } from "../../../test/support/fault-proxy.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import { POLL_INTERVAL_MS } from "../reconcile/poll.ts";
import { type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";

const SYMBOL = "BTCUSDT";
const FIND = "GET /fapi/v1/order";
const UNAVAILABLE = { status: 503, body: "" };
const withLegs = {
  reduceOnly: false,
  leverage: null,
  attached: { takeProfitPrice: decimal<Price>("110000"), stopLossPrice: decimal<Price>("90000") },
};

let stage: CopiesStage;
let proxy: FaultProxy;
let isPolled: boolean;

beforeEach(async () => {
  isPolled = true;
  stage = await openCopiesStage({
    hasSockets: true,
    through: async (url) => {
      const polls = ["GET /fapi/v3/account", "GET /fapi/v1/openOrders", "GET /api/v3/account"];
      proxy = await FaultProxy.open(url, {
        rule: ({ route }) => (isPolled || !polls.includes(route) ? {} : { answer: UNAVAILABLE }),
      });
      return proxy.url;
    },
  });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const streams = (count: number) =>
  stage.waitFor(`${count} accounts have a stream`, () => stage.streams() === count);
const asked = (route: string) => proxy.seen.filter((each) => each === route).length;

/** A limit of a futures strategy, with legs, that is filled there and open at the venue. */
async function openEntry(): Promise<{ readonly copier: Copier; readonly venueOrderId: string }> {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  const limit = { ...places("BUY", "0.002", { at: "95000" }), entry: withLegs };
  const orderId = await stage.does(strategy, limit);
  const seen = { seen: decimal<Price>("95000"), seenAt: stage.time.now() };
  await stage.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  const [entry] = await stage.entries(copier);
  expect(entry?.status).toBe("RESTING");
  return { copier, venueOrderId: entry?.venueOrderId ?? "" };
}

async function hasLegs({ account }: Copier): Promise<boolean> {
  const loaded = await stage.venue.store.loadAccount(account.strategyId);
  return loaded?.account.openLegs.size === 2;
}

test("an open entry that the venue fills has its stop there at once, without a poll", async () => {
  const { copier, venueOrderId } = await openEntry();
  await streams(1);
  isPolled = false;
  await stage.venue.fill(copier.account, venueOrderId, "95000");
  await stage.eventually("the legs are at the venue", () => hasLegs(copier));
  expect(await stage.holds(copier, SYMBOL)).toBe("0.002");
});

test("without a stream polls and timed queries do it, and the stream comes back", async () => {
  const { copier, venueOrderId } = await openEntry();
  await streams(1);
  proxy.cut();
  await stage.eventually("the stream is lost", () => stage.streams() === 0);
  await stage.venue.fill(copier.account, venueOrderId, "95000");
  await stage.waitFor("the legs are at the venue", () => hasLegs(copier));
  await streams(1);
});

test("a leg that fires is booked at once", async () => {
  const { copier, venueOrderId } = await openEntry();
  await streams(1);
  await stage.venue.fill(copier.account, venueOrderId, "95000");
  await stage.eventually("the legs are at the venue", () => hasLegs(copier));
  const isRecorded = async () =>
    (await stage.entries(copier)).slice(2).every((row) => row.venueOrderId !== null);
  await stage.eventually("the legs are recorded", isRecorded);
  isPolled = false;
  const stop = (await stage.entries(copier)).find(({ orderType }) => orderType === "STOP_MARKET");
  await stage.venue.fire(copier.account, stop?.venueOrderId ?? "", "90000");
  await stage.eventually("nothing is held", async () => (await stage.holds(copier, SYMBOL)) === "0");
});

test("an own order at the market is not queried because of its events", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  await streams(1);
  await stage.does(strategy, places("BUY", "0.002"));
  await stage.passes(5_000);
  expect(await stage.holds(copier, SYMBOL)).toBe("0.002");
  expect(asked(FIND)).toBe(0);
});

test("a trade of the account's owner has the account polled soon", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  await streams(1);
  await stage.does(strategy, places("BUY", "0.004"));
  await stage.does(strategy, places("BUY", "0.1", { at: "1900", symbol: "ETHUSDT" }));
  await stage.ask(copier, strategy, { kind: "LOOK" });
  const polls = asked("GET /fapi/v3/account");
  await stage.trades(copier, "FUTURES", { side: "SELL", quantity: decimal("0.001") });
  // Its event is received after that of the trade.
  await stage.venue.fill(copier.account, (await stage.entries(copier)).at(-1)?.venueOrderId ?? "", "1900");
  await stage.eventually("events are received", async () => (await stage.holds(copier, "ETHUSDT")) === "0.1");
  expect(asked("GET /fapi/v3/account")).toBe(polls);
  const since = stage.time.now();
  await stage.waitFor("the account is polled", () => asked("GET /fapi/v3/account") > polls);
  expect(stage.time.now() - since).toBeLessThan(POLL_INTERVAL_MS);
});

test("a copy on spot has one, and none once it is stopped", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001", { at: "90000" }));
  await streams(1);
  isPolled = false;
  const [order] = await stage.venue.orders(copier.account, SYMBOL);
  await stage.venue.fill(copier.account, `${order?.orderId}`, "90000");
  await stage.eventually("it is booked", async () => (await stage.holds(copier, SYMBOL)) !== "0");
  await stage.stopCopy(copier, strategy);
  await streams(0);
  await stage.eventually("its socket is closed", () => proxy.webSockets === 0);
});

test("a venue without streams is tried again minutes later, and copied at all the same", async () => {
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  stage = await openCopiesStage({
    through: async (url) => {
      proxy = await FaultProxy.open(url);
      return proxy.url;
    },
  });
  const { copier, venueOrderId } = await openEntry();
  await stage.venue.fill(copier.account, venueOrderId, "95000");
  await stage.waitFor("the legs are at the venue", () => hasLegs(copier));
  await stage.passes(60_000);
  expect(asked("POST /fapi/v1/listenKey")).toBe(0);
});
