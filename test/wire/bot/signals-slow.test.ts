// Signals at a disk that is slow: what cannot be recorded in time is refused with 503 and never executed, and
// what is recorded is answered in time, executed or not yet. A signal is recorded first only while its
// strategy is busy, here with the commit of another. How long a write takes, and every clock, are the test's.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createManualTime } from "../../../src/concurrency/testing/manual-time.ts";
import { MarketStub, symbolRules } from "../../../src/engine/testing/market-stub.ts";
import { SUBMISSION_WAIT_MS_MAX } from "../../../src/signals/signals.ts";
import { RECEIVE_WAIT_MS_MAX, receiving } from "../../../src/store/signals.ts";
import type { Store } from "../../../src/store/store.ts";
import { type BotClient, botClient } from "../../support/bot-client.ts";
import { eventually } from "../../support/eventually.ts";
import { type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";

const BUY = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "LIMIT", quantity: "0.001", price: "50000" };

/** Writes that are begun wait while it is closed. */
class Gate {
  #opened = Promise.resolve();
  #open = () => {};
  waitingCount = 0;

  close(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#opened = promise;
    this.#open = resolve;
  }

  open(): void {
    this.#open();
  }

  async pass(): Promise<void> {
    this.waitingCount += 1;
    await this.#opened;
    this.waitingCount -= 1;
  }
}

const time = createManualTime();
const recording = new Gate();
const committing = new Gate();
let written: string[] = [];
let gateway: InProcessGateway;
let bot: BotClient;
let strategyId: string;

/** The same store on a disk whose writes the gates hold back. */
function onSlowDisk(store: Store): Store {
  return {
    ...store,
    receiveSignals: receiving(
      async (rows) => {
        await recording.pass();
        const signals = rows.map((row) => ({
          ...{ signalId: row.signal_id, strategyId: row.strategy_id, body: row.body },
          ...{ idempotencyKey: JSON.parse(row.idempotency_key), receivedAt: row.received_at },
        }));
        written.push(...signals.map(({ idempotencyKey }) => idempotencyKey));
        const received = await store.receiveSignals(signals, { claimedUntil: Number.MAX_SAFE_INTEGER });
        if (received.some(({ isNew }) => !isNew)) throw new Error("no key of this test is recorded twice");
        return rows.map(() => null);
      },
      () => time.now(),
    ),
    async commit(group) {
      await committing.pass();
      return await store.commit(group);
    },
  };
}

beforeAll(async () => {
  const market = new MarketStub([symbolRules("BTC")]);
  gateway = await openInProcess({ SPOT: market }, { between: onSlowDisk, after: time.after });
});
afterAll(() => gateway.close());
afterEach(() => {
  for (const gate of [recording, committing]) gate.open();
});
beforeEach(async () => {
  const strategy = await gateway.seed("SPOT");
  strategyId = strategy.strategyId;
  // Requests are in flight at the same time: the wall clock does not move.
  bot = botClient(gateway.url, strategy, () => Date.UTC(2026, 0, 1));
  written = [];
});

const openOrders = () => gateway.store.listOrders(strategyId, { symbol: "BTCUSDT", limit: 10 });

/** A signal whose commit waits for its gate. */
async function keepBusy() {
  committing.close();
  const busy = bot.submit(BUY, "busy");
  await eventually("its commit waits", () => committing.waitingCount === 1);
  return { answered: busy };
}

test("a signal that waits too long to be recorded is refused with 503 and not executed; its key is as good as new", async () => {
  const { answered: busy } = await keepBusy();
  recording.close();
  const first = bot.submit(BUY, "first");
  await eventually("the first is being written", () => recording.waitingCount === 1);
  const late = bot.submit(BUY, "late");
  // Every later request is sent after it.
  expect((await bot.signals()).status).toBe(200);
  time.advance(RECEIVE_WAIT_MS_MAX + 1);
  const fresh = bot.submit(BUY, "fresh");
  expect((await bot.signals()).status).toBe(200);
  for (const gate of [committing, recording]) gate.open();

  expect(await late).toMatchObject({
    status: 503,
    headers: { "retry-after": "1" },
    body: { status: false, message: expect.any(String) },
  });
  for (const answer of [await busy, await first, await fresh]) {
    expect(answer).toMatchObject({ status: 202, body: { status: "EXECUTED" } });
  }
  expect(written).toEqual(["first", "fresh"]);
  expect(await openOrders()).toHaveLength(3);

  expect(await bot.submit(BUY, "late")).toMatchObject({
    status: 202,
    body: { status: "EXECUTED", replayed: false },
  });
  expect(await openOrders()).toHaveLength(4);
  expect((await bot.signals()).body.data).toHaveLength(4);
});

test("a recorded signal whose order waits for the disk is answered as it was recorded, and executed once", async () => {
  const { answered: busy } = await keepBusy();
  const submitted = bot.submit(BUY, "recorded");
  await eventually("its order waits", () => written.includes("recorded") && time.pending() === 1);
  time.advance(SUBMISSION_WAIT_MS_MAX);
  const { status, body } = await submitted;
  expect({ status, ...body }).toMatchObject({ status: "RECEIVED", collectiveId: null, replayed: false });
  expect(status).toBe(202);

  committing.open();
  expect(await busy).toMatchObject({ status: 202, body: { status: "EXECUTED" } });
  await eventually(
    "it is executed",
    async () => (await bot.signal(body.signalId)).body.status === "EXECUTED",
  );
  expect(await openOrders()).toHaveLength(2);
  expect(time.pending(), "nobody is timed any more").toBe(0);
});

test("a signal does not overtake one of its strategy that is still being recorded", async () => {
  const { answered: busy } = await keepBusy();
  recording.close();
  const first = bot.submit(BUY, "first");
  await eventually("the first is being written", () => recording.waitingCount === 1);
  committing.open();
  await busy;
  const second = bot.submit(BUY, "second");
  // Every later request is sent after it.
  expect((await bot.signals()).body.data).toHaveLength(1);
  recording.open();
  const answers = [await busy, await first, await second];
  const orders = await openOrders();
  expect(orders.map(({ clientOrderId }) => clientOrderId)).toEqual(answers.map(({ body }) => body.signalId));
});
