// The accounts that are traded on: prepared on the data directory before the server starts, and counted after it ended.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openDataDirectory } from "../src/data-directory.ts";
import { seedStrategies } from "../src/identity/seed.ts";
import type { Credentials, Trip } from "./requests.ts";

/** So many that none reaches its limits of 50 orders in 10 seconds and a weight of 1,200 a minute. */
export const STRATEGIES = 10_000;
const BATCH = 1_000;

/** Spot pairs of the simulated market with a lot step so fine that a fee leaves hardly any dust. */
const SYMBOLS = [
  { symbol: "DOGEUSDT", stepDecimals: 0 },
  { symbol: "TRXUSDT", stepDecimals: 1 },
  { symbol: "ADAUSDT", stepDecimals: 1 },
] as const;
/** What one order is worth, USDT: above every minimum, and a strategy starts with 200. */
const NOTIONAL = 12;
const FEE = 0.001;

/** Creates the strategies in a new data directory. */
export async function prepareStrategies(dataDir: string): Promise<Credentials[]> {
  const { store, master } = await openDataDirectory(dataDir, null);
  const prepared: Credentials[] = [];
  try {
    while (prepared.length < STRATEGIES) {
      const seeded = await seedStrategies(store, master, new Array(BATCH).fill("SPOT"), Date.now());
      for (const { apiKey, apiSecret } of seeded) prepared.push({ apiKey, apiSecret });
    }
  } finally {
    await store.close();
  }
  return prepared;
}

/** Order sizes at the gateway's present prices. */
export async function readTrips(url: string): Promise<Trip[]> {
  return await Promise.all(
    SYMBOLS.map(async ({ symbol, stepDecimals }) => {
      const response = await fetch(`${url}/api/v3/ticker/price?symbol=${symbol}`);
      const { price } = (await response.json()) as { price: string };
      const steps = Math.ceil((NOTIONAL / Number(price)) * 10 ** stepDecimals);
      const text = (lots: number) => (lots / 10 ** stepDecimals).toFixed(stepDecimals);
      return { symbol, buy: text(steps), sell: text(Math.floor(steps * (1 - FEE))) };
    }),
  );
}

/** How many orders the database of a stopped server holds, each with its journal entry. */
export function countOrders(dataDir: string): number {
  const database = new DatabaseSync(join(dataDir, "lyrebird.sqlite"), { readOnly: true });
  try {
    const row = database
      .prepare(
        `SELECT count(*) AS count FROM journal j JOIN orders o
         ON o.strategy_id = j.strategy_id AND j.key = 'order:' || o.client_order_id`,
      )
      .get();
    return Number(row?.count);
  } finally {
    database.close();
  }
}
