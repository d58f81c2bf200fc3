// Failovers under load: two gateways on a PostgreSQL primary with a synchronous standby. Traders place, fill and
// cancel orders at both by turns, each sending an order again, at the other one, until it is acknowledged. The
// primary is killed, the standby promoted, and the killed one made the standby of the other. In the end every
// acknowledged order must be there once, and every book must be what its trades and its journal make it.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createMasterKey, readMasterKey } from "../../../src/keys/master-key.ts";
import { type SeededStrategy, seedStrategies } from "../../../src/keys/seed.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { eventually } from "../../support/eventually.ts";
import { type GatewayProcess, newDirectory, startGateway } from "../../support/gateway.ts";
import { startReplicated } from "../../support/postgres.ts";
import { signed, type WireAnswer } from "../../support/signed-client.ts";
import { restingPriceOf, symbol } from "../../support/spot-trader.ts";
import type { Fault } from "../harness/faults.ts";
import { journalFaults } from "../harness/journal.ts";
import { recomputedFaults } from "../harness/recomputed.ts";
import { openRows } from "../harness/stored-rows.ts";

export type FailoverReport = {
  /** From the kill to the first acknowledgment of an order that was sent after it, ms. */
  readonly acceptedAfterMs: number;
  /** Orders acknowledged until then, since the one before. */
  readonly acknowledged: number;
  /** Requests since the one before that were answered 503, or not at all, and sent again. */
  readonly sentAgain: number;
};

export type FailoversReport = {
  readonly failovers: readonly FailoverReport[];
  /** Orders acknowledged in all. */
  readonly orders: number;
  readonly faults: readonly Fault[];
};

const TRADERS = 8;
/** Between two requests of a trader, ms: below its budget of 50 orders in ten seconds. */
const PACE_MS = 350;
/** Before a request is sent again, ms. */
const AGAIN_MS = 400;
/** Load before each kill, and after the standby is attached, ms. */
const LOAD_MS = 2_000;
/** From a kill to the promotion, ms, by turns: as long as it takes to notice. */
const DETECTED_AFTER_MS = [3_000, 0, 1_000, 6_000];
const SENT_AGAIN_MAX = 200;
const LATE_MS_MAX = 60_000;
/** Of each order at the market. The first one buys more: fees are taken from what is bought. */
const MARKET_QUANTITY = "0.0002";
const FIRST_QUANTITY = "0.0004";

type Counts = { acknowledged: number; sentAgain: number; readonly sentAt: number[] };

/** Runs so many failovers. Null where PostgreSQL's programs are missing. */
export async function runFailovers(parts: {
  readonly count: number;
  readonly onFailover?: (failover: FailoverReport) => void;
  readonly signal?: AbortSignal;
}): Promise<FailoversReport | null> {
  const { count, onFailover, signal } = parts;
  const servers = await startReplicated();
  if (servers === null) return null;
  const gateways: GatewayProcess[] = [];
  try {
    const url = await servers.newDatabase();
    const directories = [newDirectory(), newDirectory()] as const;
    const [keyFile, copied] = directories.map((directory) => join(directory, "master.key"));
    if (keyFile === undefined || copied === undefined) throw new Error("there are two directories");
    createMasterKey(keyFile);
    copyFileSync(keyFile, copied);
    const store = await openPostgresStore(url);
    const wanted = Array.from({ length: TRADERS }, () => "SPOT" as const);
    const strategies = await seedStrategies(store, readMasterKey(keyFile), wanted, Date.now());
    for (const dataDir of directories) {
      gateways.push(await startGateway({ dataDir, env: { DATABASE_URL: url, SIM_SEED: "7" } }));
    }
    const urls = gateways.map((gateway) => gateway.url);
    const price = await restingPriceOf(urls[0] ?? "");
    const counts: Counts = { acknowledged: 0, sentAgain: 0, sentAt: [] };
    const traders = strategies.map(
      (strategy, index) => new FailoverTrader(strategy, { urls, price, index, counts }),
    );
    const working = traders.map((trader) => trader.work());
    for (const work of working) work.catch(() => {});

    const failovers: FailoverReport[] = [];
    const faults: Fault[] = [];
    while (failovers.length < count && signal?.aborted !== true) {
      await pause(LOAD_MS);
      const killedAt = performance.now();
      const sentBefore = counts.sentAt.length;
      await servers.failOver(DETECTED_AFTER_MS[failovers.length % DETECTED_AFTER_MS.length] ?? 0);
      const accepted = () => counts.sentAt.slice(sentBefore).findIndex((sentAt) => sentAt > killedAt);
      await Promise.race([
        eventually("orders are accepted again", () => accepted() >= 0, { msMax: LATE_MS_MAX, askAgainMs: 5 }),
        ...working,
      ]);
      const { acknowledged, sentAgain } = counts;
      const failover = { acceptedAfterMs: performance.now() - killedAt, acknowledged, sentAgain };
      Object.assign(counts, { acknowledged: 0, sentAgain: 0 });
      failovers.push(failover);
      onFailover?.(failover);
      await servers.attachStandby();
    }
    if ((await store.waitsForStandby()) !== true) {
      faults.push({ kind: "GATEWAY", what: "the store does not say that commits wait for the standby" });
    }
    await pause(LOAD_MS);
    for (const trader of traders) trader.stop();
    await Promise.all(working);
    for (const { process, output } of gateways) {
      if (process.exitCode !== null)
        faults.push({ kind: "GATEWAY", what: `a gateway has ended:\n${output()}` });
    }
    const db = openRows({ dataDir: directories[0], databaseUrl: servers.atPrimary(url) });
    for (const trader of traders) {
      const { strategyId } = trader.strategy;
      faults.push(...(await trader.faults()), ...(await journalFaults(store, strategyId)));
      faults.push(...(await recomputedFaults({ store, db }, strategyId, "SPOT")));
    }
    await db.destroy();
    await store.close();
    const orders = traders.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
    return { failovers, orders, faults };
  } finally {
    for (const gateway of gateways) await gateway.kill();
    await servers.stop();
  }
}

class FailoverTrader {
  readonly strategy: SeededStrategy;
  /** The order ids by client id, as acknowledged. */
  readonly acknowledged = new Map<string, number>();
  readonly #urls: readonly string[];
  readonly #price: string;
  readonly #name: string;
  readonly #counts: Counts;
  #requests = 0;
  #isStopped = false;

  constructor(
    strategy: SeededStrategy,
    parts: { urls: readonly string[]; price: string; index: number; counts: Counts },
  ) {
    this.strategy = strategy;
    this.#urls = parts.urls;
    this.#price = parts.price;
    this.#name = `t${parts.index}`;
    this.#counts = parts.counts;
    this.#requests = parts.index;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Buys and sells at the market, and places limit orders that it cancels, until it is stopped. */
  async work(): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const newClientOrderId = `${this.#name}-${count}`;
      const side = count % 4 === 0 ? "BUY" : "SELL";
      const isLimit = count % 2 === 1;
      const terms = isLimit
        ? { side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001", price: this.#price }
        : { side, type: "MARKET", quantity: count === 0 ? FIRST_QUANTITY : MARKET_QUANTITY };
      const sentAt = performance.now();
      const { body } = await this.#surely("POST", { symbol, newClientOrderId, ...terms });
      this.acknowledged.set(newClientOrderId, body.orderId);
      this.#counts.acknowledged += 1;
      this.#counts.sentAt.push(sentAt);
      await pause(PACE_MS);
      if (isLimit) await this.#surely("DELETE", { symbol, origClientOrderId: newClientOrderId });
    }
  }

  /** What is not as it was acknowledged. */
  async faults(): Promise<Fault[]> {
    const faults: Fault[] = [];
    for (const url of this.#urls) {
      const { body } = await signed(url, this.strategy, "GET", "/api/v3/allOrders", { symbol, limit: 1000 });
      const orders = body as { orderId: number; clientOrderId: string; status: string; type: string }[];
      const found = new Map(orders.map(({ clientOrderId, orderId }) => [clientOrderId, orderId]));
      const isCut = orders.length === 1_000;
      for (const [clientOrderId, orderId] of this.acknowledged) {
        if (isCut && orderId < (orders[0]?.orderId ?? 0)) continue;
        if (found.get(clientOrderId) === orderId) continue;
        faults.push({
          kind: "LOST",
          what: `${clientOrderId} was order ${orderId}, is ${found.get(clientOrderId)}`,
        });
      }
      for (const { clientOrderId, orderId, status, type } of orders) {
        const what = `order ${orderId}, ${clientOrderId}, is ${status}`;
        if (this.acknowledged.get(clientOrderId) !== orderId) faults.push({ kind: "DOUBLED", what });
        if (status !== (type === "LIMIT" ? "CANCELED" : "FILLED")) faults.push({ kind: "CHANGED", what });
      }
    }
    return faults;
  }

  /** Sends a request to one gateway after the other until it is acknowledged. */
  async #surely(
    method: "POST" | "DELETE",
    parameters: Readonly<Record<string, string>>,
  ): Promise<WireAnswer> {
    for (let sent = 0; sent < SENT_AGAIN_MAX; sent += 1) {
      this.#requests += 1;
      const url = this.#urls[this.#requests % this.#urls.length] ?? "";
      const answer = await signed(url, this.strategy, method, "/api/v3/order", parameters).catch(() => null);
      if (answer?.status === 200) return answer;
      // Sent again, it is not there any more.
      if (method === "DELETE" && sent > 0 && answer?.body?.code === -2011) return answer;
      // -1021: it waited for longer than its recvWindow, and was not executed.
      const isRefused = answer !== null && answer.status !== 503 && answer.status !== 429;
      if (isRefused && answer.body?.code !== -1021) {
        throw new Error(
          `${method} ${JSON.stringify(parameters)} was answered ${JSON.stringify(answer.body)}`,
        );
      }
      this.#counts.sentAgain += 1;
      await pause(AGAIN_MS);
    }
    throw new Error(`${method} was sent ${SENT_AGAIN_MAX} times and never acknowledged`);
  }
}
