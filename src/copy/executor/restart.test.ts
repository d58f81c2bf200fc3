// A copying process that ends at any moment: whatever it had sent is found by the next, and nothing is sent
// twice.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FaultProxy, type Rule } from "../../../test/support/servers/fault-proxy.ts";
import { WEIGHT_PER_MINUTE } from "../../rate-limits/budgets.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { NOT_FOUND_AFTER_MS } from "./submit.ts";

let fixture: CopiesFixture;
let proxy: FaultProxy;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  fixture = await openCopiesFixture({
    through: async (url) => {
      proxy = await FaultProxy.open(url);
      return proxy.url;
    },
  });
  strategy = await fixture.strategy("SPOT");
  await fixture.start();
  copier = await fixture.copier(strategy, "SPOT");
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const orders = () => fixture.venue.orders(copier.account, "BTCUSDT");
const isDone = async (seq: number) => (await fixture.copy(copier)).doneSeq === seq;

describe("a process that ends after it has sent and before it has recorded", () => {
  test.each([
    ["an order at the market", places("BUY", "0.001"), "PLACE BUY MARKET 0.001 FILLED executed 0.001"],
    ["one that rests", places("BUY", "0.001", { at: "90000" }), "PLACE BUY LIMIT 0.001 RESTING"],
  ])("finds %s, and sends it once", async (_, command, line) => {
    const cut = fixture.cutRecording();
    await fixture.does(strategy, command, false);
    fixture.wake(strategy);
    await cut;
    expect(await orders()).toHaveLength(1);
    await fixture.restart();
    await fixture.waitFor("it is recorded", () => isDone(1));
    expect(await orders()).toHaveLength(1);
    expect(await fixture.log(copier)).toEqual([line]);
    const owned = await fixture.owned(copier, "BTC");
    await fixture.waitFor("its fee is known", async () => (await fixture.holds(copier, "BTCUSDT")) === owned);
  });

  test("finds the first order of a copy that began before the strategy's actions were all there", async () => {
    await fixture.stop();
    // The journal is ahead of the actions: those of what came before the copy are passed over.
    await fixture.does(strategy, places("BUY", "0.0002"), false);
    await fixture.does(strategy, places("BUY", "0.0002"), false);
    const late = await fixture.copier(strategy, "SPOT");
    const cut = fixture.cutRecording();
    await fixture.does(strategy, places("BUY", "0.001"), false);
    await fixture.start();
    await cut;
    const sent = () => fixture.venue.orders(late.account, "BTCUSDT");
    await fixture.waitFor("it is sent", async () => (await sent()).length > 0);
    await fixture.restart();
    await fixture.waitFor("it is recorded", async () => (await fixture.copy(late)).doneSeq === 3);
    expect(await sent()).toHaveLength(1);
    expect(await fixture.log(late)).toHaveLength(1);
    // Without a query first, the venue would answer that the order is a duplicate.
    const [entry] = await fixture.entries(late);
    expect(entry).toMatchObject({ status: "FILLED", sends: 0 });
  });

  test("cancels what it had cancelled no second time, and notes it", async () => {
    const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
    const cut = fixture.cutRecording();
    await fixture.does(strategy, { type: "CancelOrder", orderId }, false);
    fixture.wake(strategy);
    await cut;
    await fixture.restart();
    await fixture.waitFor("it is recorded", () => isDone(2));
    expect((await fixture.log(copier))[0]).toBe("PLACE BUY LIMIT 0.001 CANCELED");
  });

  test("closes what it had closed once", async () => {
    await fixture.does(strategy, places("BUY", "0.001"));
    const cut = fixture.cutRecording();
    await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await cut;
    expect(await orders()).toHaveLength(2);
    await fixture.restart();
    await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
    expect(await orders()).toHaveLength(2);
    expect((await fixture.log(copier)).at(-1)).toBe("FLATTEN SELL MARKET 0.00099 FILLED executed 0.00099");
    expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
  });

  test("repairs what it had repaired once", async () => {
    await fixture.does(strategy, places("BUY", "0.001"));
    await fixture.halt(strategy);
    await fixture.does(strategy, places("SELL", "0.00099"));
    await fixture.unhalt(strategy);
    const cut = fixture.cutRecording();
    const asked = fixture.ask(copier, strategy, { kind: "REPAIR" });
    await cut;
    expect(await orders()).toHaveLength(2);
    await fixture.restart();
    expect((await asked).failure).toBeNull();
    expect(await orders()).toHaveLength(2);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
  });
});

describe("a process that ends before it has sent", () => {
  test("has the next one send it, when it can no longer be on its way", async () => {
    await fixture.stop();
    await fixture.does(strategy, places("BUY", "0.001"), false);
    await fixture.start();
    await fixture.waitFor("it is sent", () => isDone(1));
    expect(await orders()).toHaveLength(1);
    const [entry] = await fixture.entries(copier);
    expect(entry?.status).toBe("FILLED");
  });
});

test("consecutive restarts do not restart the query time: a lost order is given up after the same time", async () => {
  const RESTART_EVERY_MS = 3_000;
  const RESTARTS = 3;
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  const at = fixture.time.now();
  await fixture.does(strategy, places("BUY", "0.001"), false);
  fixture.wake(strategy);
  await fixture.eventually(
    "it is asked for",
    async () => (await fixture.entries(copier))[0]?.status === "SENT",
  );
  const sentAt = (await fixture.entries(copier))[0]?.sentAt;
  expect(sentAt).toBe(at);
  for (let restarts = 0; restarts < RESTARTS; restarts += 1) {
    await fixture.passes(RESTART_EVERY_MS);
    await fixture.restart();
    // The time after which it is given up counts from here.
    expect((await fixture.entries(copier))[0]?.sentAt).toBe(sentAt);
  }
  expect(fixture.time.now() - at).toBeGreaterThan(NOT_FOUND_AFTER_MS);
  await fixture.waitFor("it is sent again", () => isDone(1));
  expect(await orders()).toHaveLength(1);
});

test("an opening that may have been sent leaves weight to exits while it is looked for", async () => {
  let isBusy = false;
  const fixture = await openCopiesFixture({
    through: async (url) => {
      await proxy[Symbol.asyncDispose]();
      proxy = await FaultProxy.open(url, {
        async through(passing, send) {
          const answer = await send(passing);
          // More than is left to what only opens.
          const headers = { ...answer.headers, "x-mbx-used-weight-1m": `${0.9 * WEIGHT_PER_MINUTE}` };
          return isBusy ? { ...answer, headers } : answer;
        },
      });
      return proxy.url;
    },
  });
  await using _ = fixture;
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
  const isAt = (second: number) => Math.floor((fixture.time.now() % 60_000) / 1_000) === second;
  await fixture.waitFor("a third of the minute is left", () => isAt(40));
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  await fixture.does(strategy, places("BUY", "0.001"), false);
  fixture.wake(strategy);
  const isSent = async () => (await fixture.entries(copier))[0]?.status === "SENT";
  await fixture.eventually("it is sent", isSent);
  isBusy = true;
  await fixture.restart();
  const { length } = proxy.seen;
  await fixture.waitFor("it is asked for", () => proxy.seen.slice(length).includes("GET /api/v3/order"));
  const until = fixture.time.now() + NOT_FOUND_AFTER_MS + 2_000;
  await fixture.waitFor("it cannot be executed any more", () => fixture.time.now() > until);
  const seen = proxy.seen.slice(length);
  expect(seen).not.toContain("GET /api/v3/account");
  isBusy = false;
  await fixture.waitFor("it is sent again", async () => (await fixture.copy(copier)).doneSeq === 1);
  expect(await fixture.log(copier)).toEqual(["PLACE BUY MARKET 0.001 FILLED executed 0.001"]);
  expect(await fixture.venue.orders(copier.account, "BTCUSDT")).toHaveLength(1);
});

describe("a way to the venue that breaks", () => {
  test.each<[string, Rule]>([
    ["before the order has come there", { cut: "BEFORE" }],
    ["after it was carried out", { cut: "AFTER" }],
    ["with an error after it was carried out", { answer: { status: 503, body: "{}" }, isForwarded: true }],
  ])("%s leaves one order, and one line", async (_, fault) => {
    proxy.plan("POST /api/v3/order", fault);
    await fixture.does(strategy, places("BUY", "0.001"), false);
    fixture.wake(strategy);
    await fixture.waitFor("it is dealt with", () => isDone(1));
    expect(await orders()).toHaveLength(1);
    expect(await fixture.log(copier)).toEqual(["PLACE BUY MARKET 0.001 FILLED executed 0.001"]);
    const [entry] = await fixture.entries(copier);
    expect(entry?.queries).toBeGreaterThan(0);
  });

  test("has a sale sent again soon, however many bids of the copy rest", async () => {
    await fixture.does(strategy, places("BUY", "0.0009"));
    const bids = 20;
    for (let bid = 0; bid < bids; bid += 1)
      await fixture.does(strategy, places("BUY", "0.0001", { at: "50000" }));
    expect(await orders()).toHaveLength(1 + bids);
    proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
    const { length } = proxy.seen;
    await fixture.does(strategy, places("SELL", "0.0005"), false);
    fixture.wake(strategy);
    await fixture.waitFor("it is dealt with", () => isDone(2 + bids));
    expect((await fixture.log(copier)).at(-1)).toBe("PLACE SELL MARKET 0.0005 FILLED executed 0.0005");
    const queries = proxy.seen.slice(length).filter((route) => route === "GET /api/v3/order");
    expect(queries.length).toBeLessThanOrEqual(10);
  });

  test("keeps the order of what follows, and delays no other copy", async () => {
    const other = await fixture.copier(strategy, "SPOT");
    proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
    await fixture.does(strategy, places("BUY", "0.0005"), false);
    await fixture.does(strategy, places("SELL", "0.0002"), false);
    fixture.wake(strategy);
    await fixture.waitFor("both have dealt with it", async () => {
      const both = await Promise.all([fixture.copy(copier), fixture.copy(other)]);
      return both.every(({ doneSeq }) => doneSeq === 2);
    });
    for (const each of [copier, other]) {
      const found = await fixture.venue.orders(each.account, "BTCUSDT");
      expect(found.map(({ side }) => side)).toEqual(["BUY", "SELL"]);
    }
  });
});

test("copies with more open rows than a copier can hold are not executed, until there are fewer", async () => {
  const fixture = await openCopiesFixture();
  const [many, few] = [await fixture.strategy("SPOT"), await fixture.strategy("SPOT")];
  await fixture.start();
  const copier = await fixture.copier(many, "SPOT");
  const other = await fixture.copier(few, "SPOT");
  await fixture.does(many, places("BUY", "0.0001", { at: "90000" }));
  await fixture.does(many, places("BUY", "0.0001", { at: "90000" }));
  await fixture.stop();
  fixture.bounds.openRowsMax = 1;
  await fixture.start();
  await fixture.does(many, places("BUY", "0.0001"), false);
  await fixture.does(few, places("BUY", "0.0001"), false);
  await fixture.waitFor("the other is dealt with", async () => (await fixture.copy(other)).doneSeq === 1);
  await fixture.passes(5_000);
  expect((await fixture.copy(copier)).doneSeq).toBe(2);
  await fixture.stop();
  fixture.bounds.openRowsMax = 2;
  await fixture.start();
  await fixture.waitFor("it is dealt with", async () => (await fixture.copy(copier)).doneSeq === 3);
  await fixture[Symbol.asyncDispose]();
});
