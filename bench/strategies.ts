// The accounts that are traded on: prepared in the database before the server starts, and counted after it ended.
import type { Insertable } from "kysely";
import { openDataDirectory } from "../src/data-directory.ts";
import { placementKey } from "../src/domain/command-key.ts";
import { openStrategy } from "../src/engine/open-strategy.ts";
import { issueApiKey, type MasterKey } from "../src/identity/api-keys.ts";
import { encodeState } from "../src/store/codec.ts";
import { journalRow } from "../src/store/rows.ts";
import type { Tables } from "../src/store/schema.ts";
import type { Credentials, Trip } from "./requests.ts";
import { openRows } from "./rows.ts";
import type { Place } from "./stores.ts";

/** Rows of one statement. */
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

/**
 * Creates so many spot strategies in a new database, each with its seed and a key: what `lyrebird seed` does, in sets and
 * without the audit.
 */
export async function prepareStrategies(place: Place, count: number): Promise<Credentials[]> {
  const { store, master } = await openDataDirectory(place.dataDir, null, place.databaseUrl);
  await store.close();
  const prepared: Credentials[] = [];
  const rows = openRows(place);
  try {
    await rows.transaction().execute(async (transaction) => {
      while (prepared.length < count) {
        const made = Array.from({ length: Math.min(BATCH, count - prepared.length) }, (_, index) =>
          newStrategy(`bench-${prepared.length + index}`, master),
        );
        await transaction
          .insertInto("strategies")
          .values(made.map(({ strategy }) => strategy))
          .execute();
        await transaction
          .insertInto("journal")
          .values(made.map(({ entry }) => entry))
          .execute();
        await transaction
          .insertInto("api_keys")
          .values(made.map(({ key }) => key))
          .execute();
        for (const { credentials } of made) prepared.push(credentials);
      }
    });
  } finally {
    await rows.destroy();
  }
  return prepared;
}

type NewStrategy = {
  readonly strategy: Insertable<Tables["strategies"]>;
  readonly entry: Insertable<Tables["journal"]>;
  readonly key: Insertable<Tables["api_keys"]>;
  readonly credentials: Credentials;
};

function newStrategy(strategyId: string, master: MasterKey): NewStrategy {
  const at = Date.now();
  const { account, event } = openStrategy(strategyId, "SPOT", at);
  const { record, secret } = issueApiKey(master, { label: "bench", strategyId, createdAt: at });
  const { type, status } = account;
  return {
    strategy: { id: strategyId, type, status, version: 1, state: encodeState(account) },
    entry: journalRow(strategyId, { version: 1, key: null, at, events: [event] }),
    key: {
      id: record.keyId,
      api_key: record.apiKey,
      salt: record.salt,
      master_version: record.masterVersion,
      label: record.label,
      strategy_id: strategyId,
      created_at: record.createdAt,
      revoked_at: record.revokedAt,
    },
    credentials: { apiKey: record.apiKey, apiSecret: secret },
  };
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

/** How many orders the database of a stopped server holds; their number in the journal has to be the same. */
export async function countOrders(place: Place): Promise<number> {
  const rows = openRows(place);
  try {
    const orders = await rows
      .selectFrom("orders")
      .select((select) => select.fn.countAll().as("count"))
      .executeTakeFirstOrThrow();
    const placements = await rows
      .selectFrom("journal")
      .select((select) => select.fn.countAll().as("count"))
      .where("key", "like", placementKey("%"))
      .executeTakeFirstOrThrow();
    if (Number(orders.count) !== Number(placements.count)) {
      throw new Error(`the database holds ${orders.count} orders, its journal ${placements.count}`);
    }
    return Number(orders.count);
  } finally {
    await rows.destroy();
  }
}
