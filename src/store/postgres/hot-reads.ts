// The look-ups that requests wait for: an account, a journal entry, a key. Each is one prepared statement for everybody who
// asks at the moment; an account and its open orders come from one statement, so that they belong together.
import type { QueryResultRow } from "pg";
import type { StrategyStatus, StrategyType } from "../../domain/account.ts";
import { BETWEEN_ORDERS, decodeAccount, decodeEvents, decodeOrders, type StrategyRow } from "../codec.ts";
import type { BoundKey, JournalEntry, LoadedAccount, Store } from "../store.ts";
import type { Connections } from "./connections.ts";
import { GatheredReads } from "./gathered-reads.ts";

/** Statements that can be under way at once: one of each kind. */
export const HOT_READS_MAX = 3;

const LOAD_ACCOUNTS = `
  SELECT wanted.place, s.id, s.type, s.status, s.version, s.state,
    (SELECT string_agg(o.body, '${BETWEEN_ORDERS}' ORDER BY o.order_id) FROM orders o
     WHERE o.strategy_id = s.id AND o.is_open = 1) AS orders
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (wanted_id, place)
  JOIN strategies s ON s.id = wanted_id`;

const FIND_ENTRIES = `
  SELECT wanted.place, j.version, j.key, j.at, j.events
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (wanted_id, wanted_key, place)
  JOIN journal j ON j.strategy_id = wanted_id AND j.key = wanted_key`;

const FIND_KEYS = `
  SELECT wanted.place, k.id, k.api_key, k.salt, k.master_version, k.label, k.strategy_id, k.created_at, k.revoked_at,
    s.type, s.status
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (wanted_key, place)
  JOIN api_keys k ON k.api_key = wanted_key
  LEFT JOIN strategies s ON s.id = k.strategy_id`;

/** 64-bit integers come as text. */
type Placed = QueryResultRow & { readonly place: string };
type AccountRow = Placed & StrategyRow & { readonly version: string; readonly orders: string | null };
type EntryRow = Placed & {
  readonly version: string;
  readonly key: string;
  readonly at: string;
  readonly events: string;
};
type KeyRow = Placed & {
  readonly id: string;
  readonly api_key: string;
  readonly salt: string;
  readonly master_version: number;
  readonly label: string;
  readonly strategy_id: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
  readonly type: StrategyType | null;
  readonly status: StrategyStatus | null;
};

export function hotReads(connections: Connections): Pick<Store, "loadAccount" | "findEntry" | "findKey"> {
  const accounts = new GatheredReads(async (ids: readonly string[]) =>
    byIndex(
      await connections.query<AccountRow>({ name: "load-accounts", text: LOAD_ACCOUNTS, values: [ids] }),
      accountOfRow,
    ),
  );
  const entries = new GatheredReads(async (wanted: readonly { strategyId: string; key: string }[]) => {
    const values = [wanted.map(({ strategyId }) => strategyId), wanted.map(({ key }) => key)];
    return byIndex(
      await connections.query<EntryRow>({ name: "find-entries", text: FIND_ENTRIES, values }),
      entryOfRow,
    );
  });
  const keys = new GatheredReads(async (apiKeys: readonly string[]) =>
    byIndex(
      await connections.query<KeyRow>({ name: "find-keys", text: FIND_KEYS, values: [apiKeys] }),
      keyOfRow,
    ),
  );
  return {
    loadAccount: (strategyId) => accounts.find(strategyId),
    findEntry: (strategyId, key) => entries.find({ strategyId, key }),
    findKey: (apiKey) => keys.find(apiKey),
  };
}

/** PostgreSQL counts from 1. */
function byIndex<Row extends Placed, Found>(
  rows: readonly Row[],
  decode: (row: Row) => Found,
): ReadonlyMap<number, Found> {
  return new Map(rows.map((row) => [Number(row.place) - 1, decode(row)]));
}

function accountOfRow(row: AccountRow): LoadedAccount {
  return { account: decodeAccount(row, decodeOrders(row.orders)), version: Number(row.version) };
}

function entryOfRow({ version, key, at, events }: EntryRow): JournalEntry {
  return { version: Number(version), key, at: Number(at), events: decodeEvents(events) };
}

function keyOfRow(row: KeyRow): BoundKey {
  const { strategy_id: strategyId, type, status } = row;
  return {
    key: {
      keyId: row.id,
      apiKey: row.api_key,
      salt: row.salt,
      masterVersion: row.master_version,
      label: row.label,
      strategyId,
      createdAt: Number(row.created_at),
      revokedAt: row.revoked_at === null ? null : Number(row.revoked_at),
    },
    strategy: strategyId === null || type === null || status === null ? null : { strategyId, type, status },
  };
}
