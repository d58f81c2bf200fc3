// The accounts that are traded on: prepared in the database before the server starts, and counted after it
// ended.
import { randomBytes } from "node:crypto";
import type { Insertable } from "kysely";
import { openDataDirectory } from "../src/config/data-directory.ts";
import type { Account, StrategyType } from "../src/domain/account.ts";
import type { DomainEvent } from "../src/domain/event.ts";
import type { FillProfile } from "../src/domain/fill-profile.ts";
import type { Income } from "../src/domain/income.ts";
import { openStrategy } from "../src/engine/open-strategy.ts";
import { issueApiKey } from "../src/keys/api-keys.ts";
import type { MasterKey } from "../src/keys/master-key.ts";
import { keyRow } from "../src/store/key-rows.ts";
import { createdRow, incomeRow, journalRow } from "../src/store/rows.ts";
import type { Tables } from "../src/store/schema.ts";
import { openRows } from "../test/campaigns/harness/stored-rows.ts";
import { STRICT_SPOT } from "./in-process/decisions.ts";
import type { Place } from "./stores.ts";
import type { Credentials, Trip, Trips } from "./wire/requests.ts";

/** Rows of one statement. */
const BATCH = 1_000;
/** As the program's own ids. */
const ID_BYTES = 8;

type Traded = { readonly symbol: string; readonly stepDecimals: number };

/**
 * Pairs and contracts of the simulated market; the pairs with a lot step so fine that a fee leaves hardly any
 * dust.
 */
const SYMBOLS: { readonly [T in StrategyType]: readonly Traded[] } = {
  SPOT: [
    { symbol: "DOGEUSDT", stepDecimals: 0 },
    { symbol: "TRXUSDT", stepDecimals: 1 },
    { symbol: "ADAUSDT", stepDecimals: 1 },
  ],
  FUTURES: [
    { symbol: "DOGEUSDT", stepDecimals: 0 },
    { symbol: "TRXUSDT", stepDecimals: 0 },
    { symbol: "ADAUSDT", stepDecimals: 0 },
  ],
};
const PRICE_PATHS: { readonly [T in StrategyType]: string } = {
  SPOT: "/api/v3/ticker/price",
  FUTURES: "/fapi/v2/ticker/price",
};
/** The value of one order, USDT: above every minimum, and a strategy starts with 200 at least. */
const NOTIONAL = 12;
/** The fee of a purchase in coins; a contract has none. */
const FEES: { readonly [T in StrategyType]: number } = { SPOT: 0.001, FUTURES: 0 };

/** The state of a strategy that is put into the database. */
export type Opened = {
  readonly account: Account;
  readonly events: readonly DomainEvent[];
  readonly incomes: readonly Income[];
};
/** Makes the strategy of this number. `at` is market time, Unix ms. */
export type Opening = (strategyId: string, at: number, number: number) => Opened;

export const SPOT: Opening = (strategyId, at) => withSeed(strategyId, "SPOT", at);
export const FUTURES: Opening = (strategyId, at) => withSeed(strategyId, "FUTURES", at);
export const STRICT: Opening = (strategyId, at) => withSeed(strategyId, "SPOT", at, STRICT_SPOT);

function withSeed(strategyId: string, type: StrategyType, at: number, profile?: FillProfile): Opened {
  const { account, event, incomes } = openStrategy(strategyId, type, at, profile);
  return { account, events: [event], incomes };
}

/**
 * Creates this many strategies in a database, each with a key: as `lyrebird seed`, in sets and without the
 * audit.
 */
export async function prepareStrategies(place: Place, count: number, open: Opening): Promise<Credentials[]> {
  const { store, master } = await openDataDirectory(place.dataDir, null, place.databaseUrl);
  await store.close();
  const prepared: Credentials[] = [];
  const rows = openRows(place);
  try {
    await rows.transaction().execute(async (transaction) => {
      while (prepared.length < count) {
        const made = Array.from({ length: Math.min(BATCH, count - prepared.length) }, (_, index) =>
          newStrategy(prepared.length + index, open, master),
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
        const incomes = made.flatMap((each) => each.incomes);
        if (incomes.length > 0) await transaction.insertInto("incomes").values(incomes).execute();
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
  readonly incomes: readonly Insertable<Tables["incomes"]>[];
  readonly credentials: Credentials;
};

function newStrategy(number: number, open: Opening, master: MasterKey): NewStrategy {
  const at = Date.now();
  const strategyId = randomBytes(ID_BYTES).toString("hex");
  const { account, events, incomes } = open(strategyId, at, number);
  const { record, secret } = issueApiKey(master, {
    label: "bench",
    ownerId: null,
    strategyId,
    createdAt: at,
  });
  const entry = { version: 1, key: null, at, events };
  return {
    strategy: createdRow({
      first: { account, entry, orders: [], trades: [], legs: [], incomes, signals: [] },
      ownerId: null,
      name: `bench ${strategyId}`,
      createdAt: at,
    }),
    entry: journalRow(strategyId, entry),
    key: keyRow(record),
    incomes: incomes.map((income) => incomeRow(strategyId, income)),
    credentials: { apiKey: record.apiKey, apiSecret: secret },
  };
}

/** Order sizes at the gateway's present prices. */
export async function readTrips(url: string): Promise<Trips> {
  return { SPOT: await tripsOf(url, "SPOT"), FUTURES: await tripsOf(url, "FUTURES") };
}

async function tripsOf(url: string, type: StrategyType): Promise<Trip[]> {
  return await Promise.all(
    SYMBOLS[type].map(async ({ symbol, stepDecimals }) => {
      const response = await fetch(`${url}${PRICE_PATHS[type]}?symbol=${symbol}`);
      const { price } = (await response.json()) as { price: string };
      const steps = Math.ceil((NOTIONAL / Number(price)) * 10 ** stepDecimals);
      const text = (lots: number) => (lots / 10 ** stepDecimals).toFixed(stepDecimals);
      return { symbol, buy: text(steps), sell: text(Math.floor(steps * (1 - FEES[type]))) };
    }),
  );
}
