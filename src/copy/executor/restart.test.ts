// A copying process that ends at any moment: whatever it had sent is found by the next, and nothing is sent
// twice.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FaultProxy, type Rule } from "../../../test/support/fault-proxy.ts";
import { type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";
import { NOT_FOUND_AFTER_MS } from "./submit.ts";

let stage: CopiesStage;
let proxy: FaultProxy;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  stage = await openCopiesStage({
    through: async (url) => {
      proxy = await FaultProxy.open(url);
      return proxy.url;
    },
  });
  strategy = await stage.strategy("SPOT");
  await stage.start();
  copier = await stage.copier(strategy, "SPOT");
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const orders = () => stage.venue.orders(copier.account, "BTCUSDT");
const isDone = async (seq: number) => (await stage.copy(copier)).doneSeq === seq;

describe("a process that ends after it has sent and before it has recorded", () => {
  test.each([
    ["an order at the market", places("BUY", "0.001"), "PLACE BUY MARKET 0.001 FILLED executed 0.001"],
    ["one that rests", places("BUY", "0.001", { at: "90000" }), "PLACE BUY LIMIT 0.001 RESTING"],
  ])("finds %s, and sends it once", async (_, command, line) => {
    const cut = stage.cutRecording();
    await stage.does(strategy, command, false);
    stage.wake(strategy);
    await cut;
    expect(await orders()).toHaveLength(1);
    await stage.restart();
    await stage.waitFor("it is recorded", () => isDone(1));
    expect(await orders()).toHaveLength(1);
    expect(await stage.log(copier)).toEqual([line]);
    const owned = await stage.owned(copier, "BTC");
    await stage.waitFor("its fee is known", async () => (await stage.holds(copier, "BTCUSDT")) === owned);
  });

  test("finds the first order of a copy that began before the strategy's actions were all there", async () => {
    await stage.stop();
    // The journal is ahead of the actions: those of what came before the copy are passed over.
    await stage.does(strategy, places("BUY", "0.0002"), false);
    await stage.does(strategy, places("BUY", "0.0002"), false);
    const late = await stage.copier(strategy, "SPOT");
    const cut = stage.cutRecording();
    await stage.does(strategy, places("BUY", "0.001"), false);
    await stage.start();
    await cut;
    const sent = () => stage.venue.orders(late.account, "BTCUSDT");
    await stage.waitFor("it is sent", async () => (await sent()).length > 0);
    await stage.restart();
    await stage.waitFor("it is recorded", async () => (await stage.copy(late)).doneSeq === 3);
    expect(await sent()).toHaveLength(1);
    expect(await stage.log(late)).toHaveLength(1);
    // Without a query first, the venue would answer that the order is a duplicate.
    const [entry] = await stage.entries(late);
    expect(entry).toMatchObject({ status: "FILLED", sends: 0 });
  });

  test("cancels what it had cancelled no second time, and notes it", async () => {
    const orderId = await stage.does(strategy, places("BUY", "0.001", { at: "90000" }));
    const cut = stage.cutRecording();
    await stage.does(strategy, { type: "CancelOrder", orderId }, false);
    stage.wake(strategy);
    await cut;
    await stage.restart();
    await stage.waitFor("it is recorded", () => isDone(2));
    expect((await stage.log(copier))[0]).toBe("PLACE BUY LIMIT 0.001 CANCELED");
  });

  test("closes what it had closed once", async () => {
    await stage.does(strategy, places("BUY", "0.001"));
    const cut = stage.cutRecording();
    await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await cut;
    expect(await orders()).toHaveLength(2);
    await stage.restart();
    await stage.waitFor("it is stopped", async () => (await stage.copy(copier)).status === "STOPPED");
    expect(await orders()).toHaveLength(2);
    expect((await stage.log(copier)).at(-1)).toBe("FLATTEN SELL MARKET 0.00099 FILLED executed 0.00099");
    expect(await stage.holds(copier, "BTCUSDT")).toBe(await stage.owned(copier, "BTC"));
  });

  test("repairs what it had repaired once", async () => {
    await stage.does(strategy, places("BUY", "0.001"));
    await stage.halt(strategy);
    await stage.does(strategy, places("SELL", "0.00099"));
    await stage.unhalt(strategy);
    const cut = stage.cutRecording();
    const asked = stage.ask(copier, strategy, { kind: "REPAIR" });
    await cut;
    expect(await orders()).toHaveLength(2);
    await stage.restart();
    expect((await asked).failure).toBeNull();
    expect(await orders()).toHaveLength(2);
    expect(await stage.holds(copier, "BTCUSDT")).toBe(await stage.owned(copier, "BTC"));
  });
});

describe("a process that ends before it has sent", () => {
  test("has the next one send it, when it can no longer be on its way", async () => {
    await stage.stop();
    await stage.does(strategy, places("BUY", "0.001"), false);
    await stage.start();
    await stage.waitFor("it is sent", () => isDone(1));
    expect(await orders()).toHaveLength(1);
    const [entry] = await stage.entries(copier);
    expect(entry?.status).toBe("FILLED");
  });
});

test("consecutive restarts do not restart the query time: a lost order is given up after the same time", async () => {
  const RESTART_EVERY_MS = 3_000;
  const RESTARTS = 3;
  proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
  const at = stage.time.now();
  await stage.does(strategy, places("BUY", "0.001"), false);
  stage.wake(strategy);
  await stage.eventually("it is asked for", async () => (await stage.entries(copier))[0]?.status === "SENT");
  const sentAt = (await stage.entries(copier))[0]?.sentAt;
  expect(sentAt).toBe(at);
  for (let restarts = 0; restarts < RESTARTS; restarts += 1) {
    await stage.passes(RESTART_EVERY_MS);
    await stage.restart();
    // The time after which it is given up counts from here.
    expect((await stage.entries(copier))[0]?.sentAt).toBe(sentAt);
  }
  expect(stage.time.now() - at).toBeGreaterThan(NOT_FOUND_AFTER_MS);
  await stage.waitFor("it is sent again", () => isDone(1));
  expect(await orders()).toHaveLength(1);
});

describe("a way to the venue that breaks", () => {
  test.each<[string, Rule]>([
    ["before the order has come there", { cut: "BEFORE" }],
    ["after it was carried out", { cut: "AFTER" }],
    ["with an error after it was carried out", { answer: { status: 503, body: "{}" }, isForwarded: true }],
  ])("%s leaves one order, and one line", async (_, fault) => {
    proxy.plan("POST /api/v3/order", fault);
    await stage.does(strategy, places("BUY", "0.001"), false);
    stage.wake(strategy);
    await stage.waitFor("it is dealt with", () => isDone(1));
    expect(await orders()).toHaveLength(1);
    expect(await stage.log(copier)).toEqual(["PLACE BUY MARKET 0.001 FILLED executed 0.001"]);
    const [entry] = await stage.entries(copier);
    expect(entry?.queries).toBeGreaterThan(0);
  });

  test("keeps the order of what follows, and delays no other copy", async () => {
    const other = await stage.copier(strategy, "SPOT");
    proxy.plan("POST /api/v3/order", { cut: "BEFORE" });
    await stage.does(strategy, places("BUY", "0.0005"), false);
    await stage.does(strategy, places("SELL", "0.0002"), false);
    stage.wake(strategy);
    await stage.waitFor("both have dealt with it", async () => {
      const both = await Promise.all([stage.copy(copier), stage.copy(other)]);
      return both.every(({ doneSeq }) => doneSeq === 2);
    });
    for (const each of [copier, other]) {
      const found = await stage.venue.orders(each.account, "BTCUSDT");
      expect(found.map(({ side }) => side)).toEqual(["BUY", "SELL"]);
    }
  });
});

test("copies with more open rows than a copier can hold are not executed, until there are fewer", async () => {
  const stage = await openCopiesStage();
  const [many, few] = [await stage.strategy("SPOT"), await stage.strategy("SPOT")];
  await stage.start();
  const copier = await stage.copier(many, "SPOT");
  const other = await stage.copier(few, "SPOT");
  await stage.does(many, places("BUY", "0.0001", { at: "90000" }));
  await stage.does(many, places("BUY", "0.0001", { at: "90000" }));
  await stage.stop();
  stage.bounds.openRowsMax = 1;
  await stage.start();
  await stage.does(many, places("BUY", "0.0001"), false);
  await stage.does(few, places("BUY", "0.0001"), false);
  await stage.waitFor("the other is dealt with", async () => (await stage.copy(other)).doneSeq === 1);
  await stage.passes(5_000);
  expect((await stage.copy(copier)).doneSeq).toBe(2);
  await stage.stop();
  stage.bounds.openRowsMax = 2;
  await stage.start();
  await stage.waitFor("it is dealt with", async () => (await stage.copy(copier)).doneSeq === 3);
  await stage[Symbol.asyncDispose]();
});
