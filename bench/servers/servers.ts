// Servers that share one PostgreSQL database: the processor time of an order, of all servers and of
// PostgreSQL together, by how many servers there are, with requests sent to them by turns or by key; and of a
// second of the market, with few and with many open orders spread over the servers. The load grows with the
// servers, so that each has as much to do as one alone: as many requests in flight, which share transactions,
// and as many before for the compiler. What all of them take without load is taken off an order. Processor
// time, since on few cores throughput cannot grow with processes. The sender's own time does not count.
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { SLOTS } from "../../src/domain/strategy.ts";
import { eventually } from "../../test/support/eventually.ts";
import { newDirectory } from "../../test/support/servers/gateway.ts";
import { signed, type WireAnswer } from "../../test/support/signed-client.ts";
import { restingPriceOf } from "../../test/support/spot-trader.ts";
import { processorMs } from "../processes/machine.ts";
import { type Gateway, startGateway } from "../processes/processes.ts";
import type { BenchStore } from "../stores.ts";
import { prepareStrategies, SPOT } from "../strategies.ts";
import { MeasurementFailed } from "../trial.ts";
import type { Credentials } from "../wire/requests.ts";

export type ServersOptions = {
  /** How many servers there are, one measurement after another. */
  readonly counts: readonly number[];
  /** Orders that are placed and canceled in each measurement, for each server. */
  readonly orders: number;
  /** Open orders while a second of the market is measured. */
  readonly openOrders: number;
  /** How long servers without load, and the market with open orders, are measured, s. */
  readonly idleSeconds: number;
};

/** Processor time, ms. */
export type ServersMeasured = {
  readonly count: number;
  /** Of an order that is placed, rests and is canceled, and PostgreSQL's part of it. */
  readonly byTurns: PerOrder;
  readonly byKey: PerOrder;
  /** Of a server in each second in which it follows the symbol, with few open orders and with many. */
  readonly perSecond: { readonly few: readonly number[]; readonly many: readonly number[] };
  readonly fewOrders: number;
  readonly manyOrders: number;
};
export type PerOrder = { readonly all: number; readonly postgres: number };

const SYMBOL = "DOGEUSDT";
/** A key may place fifty orders in ten seconds. */
const ORDERS_PER_KEY = 20;
/** Requests in flight, for each server. */
const IN_FLIGHT = 16;
/** The watermark and the leases go on all the time; what is started with the servers has to end first. */
const SETTLED_MS = 3_000;

/** Measures one number of servers after another, each on a database of its own. */
export async function measureServers(
  store: BenchStore,
  options: ServersOptions,
  say: (text: string) => void,
): Promise<ServersMeasured[]> {
  const measured: ServersMeasured[] = [];
  for (const count of options.counts) {
    say(`${count} ${count === 1 ? "server" : "servers"} on one database`);
    measured.push(await measureOne(store, count, options));
  }
  return measured;
}

async function measureOne(
  store: BenchStore,
  count: number,
  options: ServersOptions,
): Promise<ServersMeasured> {
  const { dataDir, databaseUrl } = await store.newPlace();
  if (databaseUrl === null) throw new Error("servers share a PostgreSQL database");
  const keysOf = (orders: number) => Math.max(count, Math.ceil(orders / ORDERS_PER_KEY));
  const place = { dataDir, databaseUrl };
  const forLoad = await prepareStrategies(place, 3 * keysOf(options.orders * count), SPOT);
  const forTriggers = await prepareStrategies(place, keysOf(options.openOrders), SPOT);
  const gateways: Gateway[] = [];
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (let index = 0; index < count; index += 1) {
      const own = index === 0 ? dataDir : newDirectory();
      if (index > 0) copyFileSync(join(dataDir, "master.key"), join(own, "master.key"));
      gateways.push(await startGateway({ dataDir: own, databaseUrl }, null));
    }
    await eventually("every server has its share of the slots", async () => {
      const { rows } = await client.query(
        "SELECT count(*) AS slots FROM slots WHERE server <> '' GROUP BY server",
      );
      return rows.length === count && rows.every(({ slots }) => Number(slots) >= Math.floor(SLOTS / count));
    });
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    const clock = new ProcessorClock(gateways, parentOf(Number(rows[0].pid)));
    const urls = gateways.map(({ url }) => url);
    const price = await restingPriceOf(urls[0] ?? "", SYMBOL);
    const third = forLoad.length / 3;
    // The first run of all is the compiler's.
    await placeAll(forLoad.slice(0, third), {
      urls,
      price,
      orders: options.orders * count,
      isCanceled: true,
      isByKey: false,
    });
    await wait(SETTLED_MS);
    const idle = await clock.during(() => wait(options.idleSeconds * 1_000));
    const load = async (keys: readonly Credentials[], isByKey: boolean): Promise<PerOrder> => {
      const orders = options.orders * count;
      const used = await clock.during(() =>
        placeAll(keys, { urls, price, orders, isCanceled: true, isByKey }),
      );
      const of = (part: "servers" | "postgres") => used[part] - (idle[part] * used.ms) / idle.ms;
      return { all: (of("servers") + of("postgres")) / orders, postgres: of("postgres") / orders };
    };
    const byTurns = await load(forLoad.slice(third, 2 * third), false);
    const byKey = await load(forLoad.slice(2 * third), true);
    const secondsWith = async (orders: number): Promise<readonly number[]> => {
      await placeAll(forTriggers, { urls, price, orders, isCanceled: false, isByKey: false });
      await wait(SETTLED_MS);
      const seconds: number[] = [];
      while (seconds.length < options.idleSeconds) {
        const used = await clock.during(() => wait(1_000));
        seconds.push((used.servers / count / used.ms) * 1_000);
      }
      return seconds;
    };
    // One of each key, so that every server follows the symbol.
    const fewOrders = forTriggers.length;
    const few = await secondsWith(fewOrders);
    const many = await secondsWith(options.openOrders - fewOrders);
    return { count, byTurns, byKey, perSecond: { few, many }, fewOrders, manyOrders: options.openOrders };
  } finally {
    await client.end();
    for (const gateway of gateways) await gateway.stop();
  }
}

/** The processor time of servers and of PostgreSQL. */
class ProcessorClock {
  readonly #gateways: readonly Gateway[];
  readonly #postmaster: number;

  constructor(gateways: readonly Gateway[], postmaster: number) {
    this.#gateways = gateways;
    this.#postmaster = postmaster;
  }

  /** What is used while work is done, and how long that takes, ms. */
  async during(work: () => Promise<unknown>): Promise<{ servers: number; postgres: number; ms: number }> {
    const [before, startedAt] = [this.#read(), performance.now()];
    await work();
    const [after, endedAt] = [this.#read(), performance.now()];
    return {
      servers: after.servers - before.servers,
      postgres: after.postgres - before.postgres,
      ms: endedAt - startedAt,
    };
  }

  #read(): { servers: number; postgres: number } {
    const of = (pids: readonly number[]) => pids.reduce((total, pid) => total + processorMs(pid), 0);
    // Children that have ended count as their parent's.
    const list = readFileSync(`/proc/${this.#postmaster}/task/${this.#postmaster}/children`, "utf8");
    const children = list.trim().split(" ").filter(Boolean).map(Number);
    return {
      servers: of(this.#gateways.map(({ pid }) => pid)),
      postgres: of([...children, this.#postmaster]),
    };
  }
}

function parentOf(pid: number): number {
  const [, parent] = /^PPid:\s+([0-9]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(parent);
}

type Placing = {
  readonly urls: readonly string[];
  readonly price: string;
  readonly orders: number;
  readonly isCanceled: boolean;
  readonly isByKey: boolean;
};

/** Places orders that rest, spread over keys, and cancels each if they are to be. */
async function placeAll(keys: readonly Credentials[], placing: Placing): Promise<void> {
  const { urls, price, orders, isCanceled, isByKey } = placing;
  let [next, turn] = [0, 0];
  const urlOf = (key: number) => urls[(isByKey ? key : turn++) % urls.length] ?? "";
  const terms = { symbol: SYMBOL, side: "BUY", type: "LIMIT", timeInForce: "GTC", price };
  // A strategy starts with 200 USDT, and open orders reserve theirs.
  const quantity = String(Math.ceil((isCanceled ? 12 : 6) / Number(price)));
  const worker = async () => {
    for (let index = next++; index < orders; index = next++) {
      const key = index % keys.length;
      const credentials = keys[key];
      if (credentials === undefined) throw new Error("there are as many keys");
      const placed = await surely(() =>
        signed(urlOf(key), credentials, "POST", "/api/v3/order", { ...terms, quantity }),
      );
      if (!isCanceled) continue;
      const { orderId } = placed.body;
      await surely(() =>
        signed(urlOf(key), credentials, "DELETE", "/api/v3/order", { symbol: SYMBOL, orderId }),
      );
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT * urls.length }, worker));
}

/** A good answer; what the budgets do not admit is sent again. */
async function surely(send: () => Promise<WireAnswer>): Promise<WireAnswer> {
  for (;;) {
    const answer = await send();
    if (answer.status === 200) return answer;
    if (answer.status !== 429)
      throw new MeasurementFailed(`an order was answered ${JSON.stringify(answer.body)}`);
    await wait(Number(answer.headers.get("retry-after") ?? 1) * 1_000);
  }
}
