import { expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { cleanFixtures, createFixture, START, startOn } from "./testing/fixture.ts";
import { FUTURES } from "./testing/futures-fixture.ts";

/** How often a process stores its coverage, and how far the watermark stays behind, ms. */
const INTERVAL = 5_000;
const LAG = 5_000;

cleanFixtures();

test("the watermarks of the subscribed symbols are stored periodically", async () => {
  const { time, market, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  await place("one", "BUY", "45", { symbol: "ETHUSDT" });
  time.advance(INTERVAL - 1);
  await settled();
  expect(await store.listHeard("SPOT")).toEqual([]);
  for (const turns of [1, 2]) {
    time.advance(turns === 1 ? 1 : INTERVAL);
    await settled();
    const at = START + turns * INTERVAL - LAG;
    expect(await watermarksOf(store)).toEqual({ BTCUSDT: at, ETHUSDT: at });
  }
  expect(market.asked).toEqual([]);
});

test("a symbol without triggers has no watermark", async () => {
  const { desk, time, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  await desk.execute("one", { type: "CancelOrder", orderId: 2 });
  time.advance(INTERVAL);
  await settled();
  expect(await store.listHeard("SPOT")).toEqual([]);
});

test("of a silent symbol nothing new is noted", async () => {
  const { time, market, triggers, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  await place("one", "BUY", "45", { symbol: "ETHUSDT" });
  time.advance(INTERVAL);
  await settled();
  market.silence("BTCUSDT");
  time.advance(10 * INTERVAL);
  await settled();
  await triggers.close();
  const firstNote = START + INTERVAL - LAG;
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: firstNote, ETHUSDT: firstNote + 10 * INTERVAL });
});

test("of a silent symbol what is unfinished is noted by the silence, which began earlier", async () => {
  const { time, market, triggers, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  await place("one", "SELL", null, { stop: "80" });
  time.advance(INTERVAL);
  await settled();
  market.silence("BTCUSDT");
  time.advance(3 * INTERVAL);
  // The stop cannot be executed without a quote, and nothing is known of the limit since the silence began.
  market.trade("BTCUSDT", "80");
  time.advance(2 * INTERVAL);
  await settled();
  const firstNote = START + INTERVAL - LAG;
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: firstNote });
  await triggers.close();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: firstNote });
});

test("a symbol that falls silent before its first watermark has one all the same", async () => {
  const { time, market, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  market.show("BTCUSDT", "99", "100");
  market.silence("BTCUSDT");
  time.advance(4 * INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: START - LAG });
});

test("a hit is stored as the watermark until it is committed", async () => {
  const { time, market, storage, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  await place("one", "BUY", "80");
  time.advance(INTERVAL);
  await settled();
  const held = storage.hold();
  market.show("BTCUSDT", "89", "90");
  await held.reached;
  time.advance(4 * INTERVAL);
  await new Promise((resolve) => setImmediate(resolve));
  held.release();
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: START + INTERVAL });
  time.advance(INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: START + 6 * INTERVAL - LAG });
});

test("a stop that a trade has hit while the rules call the market halted is stored by that time, at the end too", async () => {
  const { time, market, triggers, store, place, settled } = await createFixture();
  await place("one", "SELL", null, { stop: "90" });
  time.advance(INTERVAL);
  await settled();
  market.halted.add("BTCUSDT");
  market.trade("BTCUSDT", "89");
  await settled();
  time.advance(3 * INTERVAL);
  market.show("BTCUSDT", "88", "89");
  await settled();
  await triggers.close();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: START + INTERVAL });
});

test("a deferred hit of an order that is canceled holds no later coverage of its contract back", async () => {
  const { desk, time, market, triggers, place, settled } = await createFixture(FUTURES);
  const { orderId } = await place("one", "BUY", "90");
  market.forgetMark("BTCUSDT");
  market.show("BTCUSDT", "89", "90");
  await settled();
  await desk.execute("one", { type: "CancelOrder", orderId });
  market.showMark("BTCUSDT", "100");
  market.show("BTCUSDT", "99", "100");
  await place("one", "BUY", null);
  time.advance(12 * INTERVAL);
  market.showMark("BTCUSDT", "100");
  market.show("BTCUSDT", "99", "100");
  await settled();
  expect(triggers.coveredUntil("BTCUSDT")).toBe(time.now() - LAG);
});

test("a gap that is not filled yet is stored by its beginning, though a later watermark was stored before", async () => {
  const { time, market, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  time.advance(4 * INTERVAL);
  await settled();
  for (let questions = 0; questions < 3; questions += 1) market.answer(null);
  const [first, second] = [START + INTERVAL, START + 2 * INTERVAL];
  market.miss("BTCUSDT", second, START + 4 * INTERVAL);
  market.miss("BTCUSDT", first, second);
  await settled();
  time.advance(INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: first });
  market.silence("BTCUSDT");
  time.advance(INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: first });
  // From here on the questions are answered.
  market.show("BTCUSDT", "99", "100");
  time.advance(2 * INTERVAL);
  await settled();
  time.advance(INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: START + 9 * INTERVAL - LAG });
});

test("an engine that is closed stores the watermark a last time, an unfilled gap by its beginning", async () => {
  const { time, market, triggers, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  await place("one", "BUY", "45", { symbol: "ETHUSDT" });
  time.advance(INTERVAL + 1_234);
  market.answer(null);
  market.miss("ETHUSDT", START + 321, START + INTERVAL);
  await settled();
  await triggers.close();
  const watermarks = { BTCUSDT: START + INTERVAL + 1_234 - LAG, ETHUSDT: START + 321 };
  expect(await watermarksOf(store)).toEqual(watermarks);
  time.advance(10 * INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual(watermarks);
  expect(time.pending()).toBe(0);
});

test("a process that starts stores no watermark of a symbol before its first message", async () => {
  const before = await createFixture();
  await before.place("one", "BUY", "90");
  before.time.advance(2 * INTERVAL);
  await before.triggers.close();
  const noted = START + 2 * INTERVAL - LAG;
  expect(await watermarksOf(before.store)).toEqual({ BTCUSDT: noted });

  const { store } = before;
  const { time, market, triggers, settled } = startOn(store, before.time);
  await triggers.open();
  time.advance(4 * INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: noted });
  market.show("BTCUSDT", "99", "100");
  await settled();
  time.advance(INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: START + 7 * INTERVAL - LAG });
});

test("a process that is killed while a gap before its start is unfilled leaves that gap to the next", async () => {
  const before = await createFixture();
  await before.place("one", "BUY", "90");
  before.time.advance(2 * INTERVAL);
  await before.triggers.close();
  const noted = START + 2 * INTERVAL - LAG;
  before.time.advance(2 * INTERVAL);

  const { time, market, triggers, settled } = startOn(before.store, before.time);
  await triggers.open();
  for (let questions = 0; questions < 5; questions += 1) market.answer(null);
  // Its own missing data, from before its streams began, is reported first.
  market.miss("BTCUSDT", time.now() - 1, time.now());
  market.show("BTCUSDT", "99", "100");
  await settled();
  time.advance(INTERVAL);
  await settled();
  expect(await watermarksOf(before.store)).toEqual({ BTCUSDT: noted });
});

test("nothing counts as covered while the commits of a server that died are loaded", async () => {
  const { time, storage, triggers, place, settled } = await createFixture();
  await triggers.open();
  await place("one", "BUY", "90");
  time.advance(4 * INTERVAL);
  await settled();
  expect(triggers.coveredUntil("BTCUSDT")).toBe(time.now() - LAG);
  const load = storage.holdLoad();
  triggers.reload();
  await load.reached;
  expect(triggers.coveredUntil("BTCUSDT")).toBeNull();
  load.release();
  await settled();
  expect(triggers.coveredUntil("BTCUSDT")).toBe(time.now() - LAG);
});

test("a failed write is repaired by the next, and does not prevent closing", async () => {
  const { time, market, triggers, storage, store, place, settled } = await createFixture();
  await place("one", "BUY", "90");
  storage.failsToNote = true;
  time.advance(INTERVAL);
  await settled();
  expect(await store.listHeard("SPOT")).toEqual([]);
  storage.failsToNote = false;
  time.advance(INTERVAL);
  await settled();
  expect(await watermarksOf(store)).toEqual({ BTCUSDT: START + 2 * INTERVAL - LAG });
  storage.failsToNote = true;
  await triggers.close();
  expect(market.subscribed()).toEqual([]);
});

/** The stored watermark of each symbol. */
async function watermarksOf(store: Store): Promise<Record<string, number>> {
  return Object.fromEntries((await store.listHeard("SPOT")).map(({ symbol, at }) => [symbol, at]));
}
