// The look-ups that requests wait for: an account, an order, the open orders, a journal entry, a key, a
// signal. Each is one prepared statement for everybody who asks at the moment; an account and its open orders
// come from one statement, so that they belong together.
import type { Kysely } from "kysely";
import type { QueryResultRow } from "pg";
import { Batcher } from "../../concurrency/batcher.ts";
import type { JournalEntry } from "../../domain/strategy.ts";
import { BETWEEN_ORDERS, decodeAccount, decodeEvents, decodeOrders, type StrategyRow } from "../codec.ts";
import { areTexts } from "../dialect.ts";
import { orderFinder } from "../history.ts";
import { type BoundKeyRow, boundKeyOfRow, KEY_COLUMNS, REVOKED_AT } from "../key-rows.ts";
import type { LoadedAccount } from "../ports/trading.ts";
import type { Tables } from "../schema.ts";
import { encodeKey, SIGNAL_COLUMNS, type SignalRow, signalOfRow } from "../signal-rows.ts";
import type { Store } from "../store.ts";
import type { Connections } from "./connections.ts";

/** Statements that can be in flight at once: one of each kind. */
export const HOT_READS_MAX = 6;

/** More in one statement hardly saves anything; what is beyond waits for the next. */
const READS_MAX = 500;

const openOrdersOf = (strategyId: string) => `(
    SELECT string_agg(o.body, '${BETWEEN_ORDERS}' ORDER BY o.order_id) FROM orders o
    WHERE o.strategy_id = ${strategyId} AND o.is_open = 1)`;

const LOAD_ACCOUNTS = `
  SELECT wanted.place, s.id, s.type, s.status, s.version, s.state, ${openOrdersOf("s.id")} AS orders
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (wanted_id, place)
  JOIN strategies s ON s.id = wanted_id`;

const LIST_OPEN_ORDERS = `
  SELECT wanted.place, ${openOrdersOf("wanted_id")} AS orders
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (wanted_id, place)`;

const FIND_BODIES = `
  SELECT wanted.place, o.body
  FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS wanted (wanted_id, wanted_symbol, wanted_order, place)
  JOIN orders o ON o.strategy_id = wanted_id AND o.symbol = wanted_symbol AND o.order_id = wanted_order`;

const FIND_ENTRIES = `
  SELECT wanted.place, j.version, j.key, j.at, j.events
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (wanted_id, wanted_key, place)
  JOIN journal j ON j.strategy_id = wanted_id AND j.key = wanted_key`;

const FIND_KEYS = `
  SELECT wanted.place, ${KEY_COLUMNS.map((column) => (column === "revoked_at" ? `${REVOKED_AT} AS revoked_at` : `k.${column}`)).join(", ")},
    s.type, s.status
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (wanted_key, place)
  JOIN api_keys k ON k.api_key = wanted_key
  LEFT JOIN strategies s ON s.id = k.strategy_id
  LEFT JOIN people o ON o.id = k.owner_id`;

const SIGNAL = SIGNAL_COLUMNS.map((column) => `g.${column}`).join(", ");

/**
 * Each by its id or by its key: the other one is null, and meets nothing. By its id however little is known
 * of the table yet: no index has an expression of its strategy.
 */
const FIND_SIGNALS = `
  WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS w (strategy_id, signal_id, key, place)
  )
  SELECT wanted.place, ${SIGNAL} FROM wanted
  JOIN signals g ON g.signal_id = wanted.signal_id AND g.strategy_id || '' = wanted.strategy_id
  UNION ALL
  SELECT wanted.place, ${SIGNAL} FROM wanted
  JOIN signals g ON g.strategy_id = wanted.strategy_id AND g.idempotency_key = wanted.key`;

type Placed = QueryResultRow & { readonly place: number };
type AccountRow = Placed & StrategyRow & { readonly version: number; readonly orders: string | null };
type OpenOrdersRow = Placed & { readonly orders: string | null };
type BodyRow = Placed & { readonly body: string };
type EntryRow = Placed & {
  readonly version: number;
  readonly key: string;
  readonly at: number;
  readonly events: string;
};

type WantedSignal = {
  readonly strategyId: string;
  readonly signalId: string | null;
  readonly key: string | null;
};

export function hotReads(
  connections: Connections,
  db: Kysely<Tables>,
): Pick<Store, "loadAccount" | "findEntry" | "findOrder" | "listOpenOrders" | "findKey" | "findSignal"> {
  const accounts = batched(async (ids: readonly string[]) =>
    inPlace(
      ids.length,
      await connections.query<AccountRow>({ name: "load-accounts", text: LOAD_ACCOUNTS, values: [ids] }),
      accountOfRow,
    ),
  );
  const openOrders = batched(async (ids: readonly string[]) =>
    inPlace(
      ids.length,
      await connections.query<OpenOrdersRow>({
        name: "list-open-orders",
        text: LIST_OPEN_ORDERS,
        values: [ids],
      }),
      ({ orders }) => decodeOrders(orders),
    ),
  );
  const bodies = batched(
    async (wanted: readonly { strategyId: string; symbol: string; orderId: number }[]) => {
      const values = [
        wanted.map(({ strategyId }) => strategyId),
        wanted.map(({ symbol }) => symbol),
        wanted.map(({ orderId }) => orderId),
      ];
      return inPlace(
        wanted.length,
        await connections.query<BodyRow>({ name: "find-bodies", text: FIND_BODIES, values }),
        ({ body }) => body,
      );
    },
  );
  const entries = batched(async (wanted: readonly { strategyId: string; key: string }[]) => {
    const values = [wanted.map(({ strategyId }) => strategyId), wanted.map(({ key }) => key)];
    return inPlace(
      wanted.length,
      await connections.query<EntryRow>({ name: "find-entries", text: FIND_ENTRIES, values }),
      entryOfRow,
    );
  });
  const keys = batched(async (apiKeys: readonly string[]) =>
    inPlace(
      apiKeys.length,
      await connections.query<Placed & BoundKeyRow>({
        name: "find-keys",
        text: FIND_KEYS,
        values: [apiKeys],
      }),
      boundKeyOfRow,
    ),
  );
  const signals = batched(async (wanted: readonly WantedSignal[]) => {
    const values = [
      wanted.map(({ strategyId }) => strategyId),
      wanted.map(({ signalId }) => signalId),
      wanted.map(({ key }) => key),
    ];
    return inPlace(
      wanted.length,
      await connections.query<Placed & SignalRow>({ name: "find-signals", text: FIND_SIGNALS, values }),
      signalOfRow,
    );
  });
  const findEntry = (strategyId: string, key: string) => entries.add({ strategyId, key });
  return {
    loadAccount: (strategyId) => accounts.add(strategyId),
    findEntry,
    findOrder: orderFinder(db, {
      findEntry,
      findBody: (strategyId, symbol, orderId) => bodies.add({ strategyId, symbol, orderId }),
    }),
    async listOpenOrders(strategyId, symbol) {
      const open = (await openOrders.add(strategyId)) ?? [];
      return symbol === null ? open : open.filter((order) => order.symbol === symbol);
    },
    // What cannot be asked about would fail all that are asked with it.
    findKey: async (apiKey) => (areTexts(apiKey) ? await keys.add(apiKey) : null),
    async findSignal(strategyId, signal) {
      if ("idempotencyKey" in signal) {
        return await signals.add({ strategyId, signalId: null, key: encodeKey(signal.idempotencyKey) });
      }
      const { signalId } = signal;
      return areTexts(signalId) ? await signals.add({ strategyId, signalId, key: null }) : null;
    },
  };
}

/** Concurrent reads of one kind share a statement. */
function batched<Wanted, Found>(
  read: (batch: readonly Wanted[]) => Promise<readonly Found[]>,
): Batcher<Wanted, Found> {
  return new Batcher(read, { sizeMax: READS_MAX });
}

/**
 * What was found, each at the place of what it was wanted as; null where there is nothing. PostgreSQL counts
 * from 1.
 */
function inPlace<Row extends Placed, Found>(
  count: number,
  rows: readonly Row[],
  decode: (row: Row) => Found,
): readonly (Found | null)[] {
  const found = new Array<Found | null>(count).fill(null);
  for (const row of rows) found[row.place - 1] = decode(row);
  return found;
}

function accountOfRow(row: AccountRow): LoadedAccount {
  return { account: decodeAccount(row, decodeOrders(row.orders)), version: row.version };
}

function entryOfRow({ version, key, at, events }: EntryRow): JournalEntry {
  return { version, key, at, events: decodeEvents(events) };
}
