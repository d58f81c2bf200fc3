// Events of an account's user data stream: what they have queried at once, while no time passes and nothing
// is polled, and what is left without them.
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultProxy } from "../../../test/support/servers/fault-proxy.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import { POLL_INTERVAL_MS } from "../reconcile/poll.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";

const SYMBOL = "BTCUSDT";
const FIND = "GET /fapi/v1/order";
const UNAVAILABLE = { status: 503, body: "" };
const withLegs = {
  reduceOnly: false,
  leverage: null,
  attached: { takeProfitPrice: decimal<Price>("110000"), stopLossPrice: decimal<Price>("90000") },
};

let fixture: CopiesFixture;
let proxy: FaultProxy;
let isPolled: boolean;

beforeEach(async () => {
  isPolled = true;
  fixture = await openCopiesFixture({
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
  await fixture[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const streams = (count: number) =>
  fixture.waitFor(`${count} accounts have a stream`, () => fixture.streams() === count);
const asked = (route: string) => proxy.seen.filter((each) => each === route).length;

/** A limit of a futures strategy, with legs, that is filled there and open at the venue. */
async function openEntry(): Promise<{ readonly copier: Copier; readonly venueOrderId: string }> {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  const limit = { ...places("BUY", "0.002", { at: "95000" }), entry: withLegs };
  const orderId = await fixture.does(strategy, limit);
  const seen = { seen: decimal<Price>("95000"), seenAt: fixture.time.now() };
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, ...seen });
  const [entry] = await fixture.entries(copier);
  expect(entry?.status).toBe("RESTING");
  return { copier, venueOrderId: entry?.venueOrderId ?? "" };
}

async function hasLegs({ account }: Copier): Promise<boolean> {
  const loaded = await fixture.venue.store.loadAccount(account.strategyId);
  return loaded?.account.openLegs.size === 2;
}

test("an open entry that the venue fills has its stop there at once, without a poll", async () => {
  const { copier, venueOrderId } = await openEntry();
  await streams(1);
  isPolled = false;
  await fixture.venue.fill(copier.account, venueOrderId, "95000");
  await fixture.eventually("the legs are at the venue", () => hasLegs(copier));
  expect(await fixture.holds(copier, SYMBOL)).toBe("0.002");
});

test("without a stream polls and timed queries do it, and the stream comes back", async () => {
  const { copier, venueOrderId } = await openEntry();
  await streams(1);
  proxy.cut();
  await fixture.eventually("the stream is lost", () => fixture.streams() === 0);
  await fixture.venue.fill(copier.account, venueOrderId, "95000");
  await fixture.waitFor("the legs are at the venue", () => hasLegs(copier));
  await streams(1);
});

test("a leg that fires is booked at once", async () => {
  const { copier, venueOrderId } = await openEntry();
  await streams(1);
  await fixture.venue.fill(copier.account, venueOrderId, "95000");
  await fixture.eventually("the legs are at the venue", () => hasLegs(copier));
  const isRecorded = async () =>
    (await fixture.entries(copier)).slice(2).every((row) => row.venueOrderId !== null);
  await fixture.eventually("the legs are recorded", isRecorded);
  isPolled = false;
  const stop = (await fixture.entries(copier)).find(({ orderType }) => orderType === "STOP_MARKET");
  await fixture.venue.fire(copier.account, stop?.venueOrderId ?? "", "90000");
  await fixture.eventually("nothing is held", async () => (await fixture.holds(copier, SYMBOL)) === "0");
});

test("an own order at the market is not queried because of its events", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  await streams(1);
  await fixture.does(strategy, places("BUY", "0.002"));
  await fixture.passes(5_000);
  expect(await fixture.holds(copier, SYMBOL)).toBe("0.002");
  expect(asked(FIND)).toBe(0);
});

test("a trade of the account's owner has the account polled soon", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  await streams(1);
  await fixture.does(strategy, places("BUY", "0.004"));
  await fixture.does(strategy, places("BUY", "0.1", { at: "1900", symbol: "ETHUSDT" }));
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  const polls = asked("GET /fapi/v3/account");
  await fixture.trades(copier, "FUTURES", { side: "SELL", quantity: decimal("0.001") });
  // Its event is received after that of the trade.
  await fixture.venue.fill(
    copier.account,
    (await fixture.entries(copier)).at(-1)?.venueOrderId ?? "",
    "1900",
  );
  await fixture.eventually(
    "events are received",
    async () => (await fixture.holds(copier, "ETHUSDT")) === "0.1",
  );
  expect(asked("GET /fapi/v3/account")).toBe(polls);
  const since = fixture.time.now();
  await fixture.waitFor("the account is polled", () => asked("GET /fapi/v3/account") > polls);
  expect(fixture.time.now() - since).toBeLessThan(POLL_INTERVAL_MS);
});

test("a copy on spot has one, and none once it is stopped", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
  await streams(1);
  isPolled = false;
  const [order] = await fixture.venue.orders(copier.account, SYMBOL);
  await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
  await fixture.eventually("it is booked", async () => (await fixture.holds(copier, SYMBOL)) !== "0");
  await fixture.stopCopy(copier, strategy);
  await streams(0);
  await fixture.eventually("its socket is closed", () => proxy.webSockets === 0);
});

test("a venue without streams is tried again minutes later, and copied at all the same", async () => {
  await fixture[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  fixture = await openCopiesFixture({
    through: async (url) => {
      proxy = await FaultProxy.open(url);
      return proxy.url;
    },
  });
  const { copier, venueOrderId } = await openEntry();
  await fixture.venue.fill(copier.account, venueOrderId, "95000");
  await fixture.waitFor("the legs are at the venue", () => hasLegs(copier));
  await fixture.passes(60_000);
  expect(asked("POST /fapi/v1/listenKey")).toBe(0);
});
