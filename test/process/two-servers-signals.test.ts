// Two real gateways on one PostgreSQL database, whose sweeps share the unexecuted signals: each signal is
// executed once, also when both receive it, when both sweep, and when one of them is killed with claimed
// signals.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import type { Signal } from "../../src/domain/signal.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import type { Store } from "../../src/store/store.ts";
import { journalFaults } from "../campaigns/harness/journal.ts";
import { botClient } from "../support/bot-client.ts";
import { eventually } from "../support/eventually.ts";
import { untilPriced } from "../support/prices.ts";
import {
  type Credentials,
  type GatewayProcess,
  newDirectory,
  startGateway,
} from "../support/servers/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";
import { signed } from "../support/signed-client.ts";

const SEED = "7";
const BUY = { symbol: "DOGEUSDT", tradeType: "BUY", quantity: "60" };
/** A claim of a process that is killed runs out after ten seconds; a busy machine may take a while longer. */
const SWEPT_MS_MAX = 30_000;
/** Leaves most of the budgets unused while waiting. */
const ASK_AGAIN_MS = 400;
const STRATEGIES = 6;
const EACH = 10;

describe.skipIf(!hasPostgres)(postgresTitle("signals of two servers on one PostgreSQL database"), () => {
  let server: Databases;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("there are programs, so there is a server");
    server = opened;
  });
  afterAll(() => server?.stop());

  test("a key that is sent to both at once is one signal with one order", async () => {
    const { first, second, bots, beside } = await openPair(2);
    await Promise.all(
      bots.map(async (bot) => {
        for (let round = 1; round <= EACH; round += 1) {
          const answers = await Promise.all(
            [first, second].map(({ url }) => botClient(url, bot).submit(BUY, `twin-${round}`)),
          );
          const [one, other] = answers.map(({ body }) => body);
          expect(answers.map(({ status }) => status)).toEqual([202, 202]);
          expect(one.signalId).toBe(other.signalId);
        }
        await expectEachOnce(second.url, bot, EACH);
      }),
    );
    await beside(async (store) => {
      for (const { strategyId } of bots) expect(await journalFaults(store, strategyId)).toEqual([]);
    });
  });

  test("a signature that is sent to both at once with several keys is good for one of them", async () => {
    const { first, second, bots } = await openPair(2);
    for (const bot of bots) {
      for (let round = 0; round < EACH; round += 1) {
        const timestamp = String(Date.now() + round);
        const answers = await Promise.all(
          [first, second].map(({ url }, index) =>
            botClient(url, bot).post("/bot/v1/spot/orders", BUY, {
              idempotencyKey: `round-${round}-${index}`,
              timestamp,
            }),
          ),
        );
        expect(answers.map(({ status }) => status).sort()).toEqual([202, 401]);
      }
      await expectEachOnce(second.url, bot, EACH);
    }
  });

  test("pending signals are executed once, although both sweep", async () => {
    const { first, bots, beside } = await openPair(STRATEGIES);
    // As processes leave them that died between recording and executing.
    await beside((store) => leaveBehind(store, bots));
    await expectAllSwept(first, bots);
    await beside(async (store) => {
      for (const { strategyId } of bots) {
        expect(await journalFaults(store, strategyId)).toEqual([]);
        for (const signal of await store.listSignals(strategyId, { limit: 500 })) {
          expect(await ordersOf(store, signal), signal.idempotencyKey).toBe(1);
        }
      }
    });
  });

  test("claimed signals of a killed server are executed by the other, once", async () => {
    const { first, second, bots, beside } = await openPair(STRATEGIES);
    await beside((store) => leaveBehind(store, bots));
    const acknowledged = new Map<string, string>();
    const sending = bots.flatMap((bot, index) =>
      Array.from({ length: EACH }, async (_, number) => {
        const { url } = (index + number) % 2 === 0 ? first : second;
        try {
          const { status, body } = await botClient(url, bot).submit(BUY, `sent-${number}`);
          if (status === 202) acknowledged.set(`${bot.strategyId} sent-${number}`, body.signalId);
        } catch {
          // The kill cut it off: it is unknown whether it was recorded.
        }
      }),
    );
    await eventually("the first has some in its hands", () => acknowledged.size >= STRATEGIES);
    await first.kill();
    await Promise.all(sending);
    await expectAllSwept(second, bots);
    await beside(async (store) => {
      for (const bot of bots) {
        const { strategyId } = bot;
        expect(await journalFaults(store, strategyId)).toEqual([]);
        const signals = await store.listSignals(strategyId, { limit: 500 });
        for (const signal of signals) {
          expect(await ordersOf(store, signal), signal.idempotencyKey).toBe(1);
          const told = acknowledged.get(`${strategyId} ${signal.idempotencyKey}`);
          if (told !== undefined) expect(signal.signalId).toBe(told);
        }
        const known = signals.map(({ idempotencyKey }) => `${strategyId} ${idempotencyKey}`);
        for (const key of acknowledged.keys()) if (key.startsWith(strategyId)) expect(known).toContain(key);
        await expectEachOnce(second.url, bot, signals.length);
      }
    });
  });

  /** Two servers on a database of their own that have prices, and strategies that bots submit to. */
  async function openPair(count: number) {
    const databaseUrl = await server.newDatabase();
    const [firstDir, secondDir] = [newDirectory(), newDirectory()];
    const start = async (dataDir: string): Promise<GatewayProcess> => {
      const gateway = await startGateway({ dataDir, env: { DATABASE_URL: databaseUrl, SIM_SEED: SEED } });
      onTestFinished(() => gateway.kill());
      return gateway;
    };
    const first = await start(firstDir);
    copyFileSync(join(firstDir, "master.key"), join(secondDir, "master.key"));
    const second = await start(secondDir);
    const { store, master } = await openDataDirectory(newKeyDirectory(firstDir), null, databaseUrl);
    onTestFinished(() => store.close());
    const types = Array.from({ length: 1 + count }, () => "SPOT" as const);
    const [spare, ...bots]: Credentials[] = await seedStrategies(store, master, types, Date.now());
    if (spare === undefined) throw new Error("strategies were made");
    // Else a first signal waits for a sweep.
    for (const { url } of [first, second]) await untilPriced(url, spare, "SPOT", BUY.symbol);
    return { first, second, bots, beside: <T>(work: (store: Store) => Promise<T>) => work(store) };
  }
});

/** A directory of a third process's own, with the master key of the others. */
function newKeyDirectory(of: string): string {
  const directory = newDirectory();
  copyFileSync(join(of, "master.key"), join(directory, "master.key"));
  return directory;
}

/** Records signals without driving them; each process may claim them at once. */
async function leaveBehind(store: Store, bots: readonly Credentials[]): Promise<void> {
  const receivedAt = Date.now();
  const left = bots.flatMap(({ strategyId }) =>
    Array.from({ length: EACH }, (_, number) => ({
      ...{ signalId: crypto.randomUUID(), strategyId, idempotencyKey: `left-${number}` },
      ...{ body: JSON.stringify(BUY), receivedAt },
    })),
  );
  await store.receiveSignals(left, { claimedUntil: receivedAt });
}

async function expectAllSwept({ url }: GatewayProcess, bots: readonly Credentials[]): Promise<void> {
  for (const bot of bots) {
    await eventually(
      "every signal is executed",
      async () => {
        const { body } = await botClient(url, bot).signals();
        return body.data.every(({ status }: { status: string }) => status === "EXECUTED");
      },
      { msMax: SWEPT_MS_MAX, askAgainMs: ASK_AGAIN_MS },
    );
  }
}

/**
 * The strategy has so many orders, numbered from one, each filled in one trade; and as many signals, all
 * executed.
 */
async function expectEachOnce(url: string, bot: Credentials, count: number): Promise<void> {
  const ask = async (path: string) =>
    (await signed(url, bot, "GET", `/api/v3/${path}`, { symbol: BUY.symbol, limit: 1_000 })).body;
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const orders: { orderId: number; clientOrderId: string }[] = await ask("allOrders");
  const trades: { orderId: number }[] = await ask("myTrades");
  expect(orders.map(({ orderId }) => orderId)).toEqual(numbers);
  expect(trades.map(({ orderId }) => orderId)).toEqual(numbers);
  const { body } = await botClient(url, bot).signals();
  const signalIds = body.data.map(({ signalId }: { signalId: string }) => signalId);
  expect(signalIds.sort()).toEqual(orders.map(({ clientOrderId }) => clientOrderId).sort());
}

/** How many orders a signal has. */
async function ordersOf(store: Store, { strategyId, signalId }: Signal): Promise<number> {
  const orders = await store.listOrders(strategyId, { symbol: BUY.symbol, limit: 1_000 });
  return orders.filter(({ clientOrderId }) => clientOrderId === signalId).length;
}
