// Races that random scheduling rarely finds, step by step: a process is held before a call of its store until
// the test releases it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Signal } from "../../src/domain/signal.ts";
import { CLAIM_MS } from "../../src/signals/signals.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { Fixture, SYMBOL } from "./fixture.ts";

const BUY = JSON.stringify({ symbol: SYMBOL, tradeType: "BUY", quantity: "0.1" });

let directory: string;
let stores: Store[];
let fixture: Fixture;
let strategy: string;
/** The held step, and its release. */
let held: { readonly label: string; readonly gate: PromiseWithResolvers<void> } | null;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lyrebird-interleavings-"));
  const file = join(directory, "lyrebird.sqlite");
  stores = [await openSqliteStore(file), await openSqliteStore(file)];
  held = null;
  const take = async (label: string) => {
    if (label === held?.label) await held.gate.promise;
  };
  fixture = await Fixture.open({ stores, turns: { take }, counts: {} });
  strategy = fixture.strategy(0);
});

afterEach(async () => {
  await fixture.close();
  for (const store of stores) await store.close();
  rmSync(directory, { recursive: true });
});

test("a signal that one process could not try, and another executed in the meantime, stays executed", async () => {
  fixture.market.silence(SYMBOL);
  const goOn = hold("process 0: postponeSignal");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.market.show(SYMBOL, "99", "100");
  fixture.submit(1, strategy, "key", BUY);
  await fixture.quiet();
  expect((await stored()).state.status).toBe("EXECUTED");
  goOn();
  await fixture.quiet();
  expect((await stored()).state.status).toBe("EXECUTED");
  expect(fixture.counts).toEqual({ "told EXECUTED": 2 });
  await fixture.finish(async () => {});
});

test("a signal that two processes decided on at once is committed by one of them", async () => {
  const goOn = hold("process 0: commit");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  expect(await find()).toBeNull();
  fixture.submit(1, strategy, "key", BUY);
  await fixture.quiet();
  const executed = await stored();
  expect(executed.state.status).toBe("EXECUTED");
  goOn();
  await fixture.quiet();
  expect(await stored()).toEqual(executed);
  expect(fixture.counts).toEqual({ "told EXECUTED": 2, replayed: 1 });
  await fixture.finish(async () => {});
});

test("an order that was rejected by one process is not executed by another that saw the market later", async () => {
  fixture.market.halted.add(SYMBOL);
  const goOn = hold("process 0: commit");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.market.halted.delete(SYMBOL);
  fixture.submit(1, strategy, "key", BUY);
  await fixture.quiet();
  goOn();
  await fixture.quiet();
  expect((await stored()).state.status).toBe("EXECUTED");
  expect(fixture.counts).toEqual({ "told EXECUTED": 2, replayed: 1 });
  await fixture.finish(async () => {});
});

test("a signal of a dead process is executed when its claim has run out, and not before", async () => {
  fixture.market.silence(SYMBOL);
  hold("process 0: postponeSignal");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.replace(0);
  fixture.market.show(SYMBOL, "99", "100");
  fixture.time.advance(CLAIM_MS - 1);
  await sweep();
  expect((await stored()).state.status).toBe("RECEIVED");
  fixture.time.advance(1);
  await sweep();
  expect((await stored()).state.status).toBe("EXECUTED");
  await fixture.finish(async () => {});
});

test("a process that dies before its commit leaves nothing of the signal, which may be sent again", async () => {
  hold("process 0: commit");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.replace(0);
  fixture.time.advance(CLAIM_MS);
  await sweep();
  expect(await find()).toBeNull();
  fixture.submit(1, strategy, "key", BUY);
  await fixture.quiet();
  expect((await stored()).state.status).toBe("EXECUTED");
  await fixture.finish(async () => {});
});

test("a process that dies behind its commit has executed the signal, which is answered when it is sent again", async () => {
  hold("process 0: commit is heard");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.replace(0);
  const executed = await stored();
  expect(executed.state.status).toBe("EXECUTED");
  fixture.submit(1, strategy, "key", BUY);
  await fixture.quiet();
  expect(await stored()).toEqual(executed);
  expect(fixture.counts).toEqual({ "told EXECUTED": 1, replayed: 1 });
  await fixture.finish(async () => {});
});

test("a key that two processes were sent, and that one committed with another order, is refused by the other", async () => {
  const goOn = hold("process 0: commit");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.submit(1, strategy, "key", JSON.stringify({ ...JSON.parse(BUY), quantity: "0.2" }));
  await fixture.quiet();
  goOn();
  await fixture.quiet();
  expect(fixture.counts).toEqual({ "told EXECUTED": 1, OTHER_ORDER: 1 });
  await fixture.finish(async () => {});
});

test("a signal that is recorded while its process decides on an account that another has moved is executed once", async () => {
  const goOn = hold("process 0: commit");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.place(1, strategy, "95");
  await fixture.quiet();
  goOn();
  await fixture.quiet();
  expect((await stored()).state.status).toBe("EXECUTED");
  expect(fixture.counts).toEqual({ "told EXECUTED": 1 });
  await fixture.finish(async () => {});
});

test("a key that is revoked while its signal is in flight is refused at once, and the signal is executed", async () => {
  const goOn = hold("process 0: commit");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  await fixture.process(1).store.revokeKey(`key-${strategy}`, fixture.time.now());
  fixture.revoked.add(strategy);
  for (const index of [0, 1]) fixture.submit(index, strategy, "other", BUY);
  await fixture.quiet();
  expect(fixture.counts).toEqual({ "key refused": 2 });
  goOn();
  await fixture.quiet();
  expect((await stored()).state.status).toBe("EXECUTED");
  await fixture.finish(async () => {});
});

test("a strategy that is closed while its signal is in flight rejects it", async () => {
  const goOn = hold("process 0: commit");
  fixture.submit(0, strategy, "key", BUY);
  await fixture.quiet();
  fixture.begin(1, async ({ desk }) => void (await desk.execute(strategy, { type: "CloseStrategy" })));
  await fixture.quiet();
  goOn();
  await fixture.quiet();
  expect((await stored()).state).toMatchObject({
    status: "REJECTED",
    reason: { refusal: "STRATEGY_NOT_LIVE" },
  });
  await fixture.finish(async () => {});
});

/** Holds a step from now on; answers how to let it go on. */
function hold(label: string): () => void {
  const gate = Promise.withResolvers<void>();
  held = { label, gate };
  return () => {
    held = null;
    gate.resolve();
  };
}

async function sweep(): Promise<void> {
  fixture.begin(1, ({ sweep }) => sweep.run());
  await fixture.quiet();
}

async function find(): Promise<Signal | null> {
  const [store] = stores;
  if (store === undefined) throw new Error("there is a store");
  return await store.findSignal(strategy, { idempotencyKey: "key" });
}

async function stored(): Promise<Signal> {
  const signal = await find();
  if (signal === null) throw new Error("the signal is recorded");
  return signal;
}
