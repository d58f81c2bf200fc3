// Writes that come often and that nobody's answer depends on: budgets, market-data coverage, failed
// handshakes and sign-ins, uses of keys.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type CompiledQuery, type Kysely, sql } from "kysely";
import { formatDecimal } from "../money/decimal.ts";
import { encodeBudgets } from "./budget-codec.ts";
import { type Execute, isPostgres, overRows } from "./dialect.ts";
import { lastUses } from "./people/key-uses.ts";
import type { PeopleStore } from "./ports/people.ts";
import type { QueueNote } from "./ports/trading.ts";
import type { SymbolNoteKind, Tables } from "./schema.ts";
import type { Store } from "./store.ts";

/**
 * Keys of the advisory locks in a PostgreSQL database: the first number is Lyrebird's, the second says which
 * lock.
 */
export const ADVISORY_LOCKS = 1_280_922_180;
const BUDGET_LOG_LOCK = 2;

export function frequentWrites(db: Kysely<Tables>, execute: Execute) {
  /**
   * The last entries of the budget log that were sent. On several connections entries would overtake each
   * other.
   */
  let logged: Promise<unknown> = Promise.resolve();
  const putNotes = overRows(
    db,
    { kind: "text", symbol: "text", at: "bigint" },
    (given) => sql`
      INSERT INTO symbol_notes (kind, symbol, at) SELECT kind, symbol, at FROM ${given} WHERE true
      ON CONFLICT (kind, symbol) DO UPDATE SET at = excluded.at`,
  );
  const putQueueNotes = overRows(
    db,
    {
      strategy_id: "text",
      order_id: "bigint",
      symbol: "text",
      ahead: "text",
      traded: "text",
      canceled: "text",
      trade_id: "bigint",
      at: "bigint",
    },
    (given) => sql`
      INSERT INTO queue_notes (strategy_id, order_id, symbol, ahead, traded, canceled, trade_id, at)
      SELECT strategy_id, order_id, symbol, ahead, traded, canceled, trade_id, at FROM ${given} WHERE true
      ON CONFLICT (strategy_id, order_id) DO UPDATE SET ahead = excluded.ahead, traded = excluded.traded,
        canceled = excluded.canceled, trade_id = excluded.trade_id, at = excluded.at
      WHERE excluded.at >= queue_notes.at`,
  );
  const dropQueueNotes = overRows(
    db,
    { strategy_id: "text", order_id: "bigint" },
    (given) => sql`
      DELETE FROM queue_notes WHERE (strategy_id, order_id) IN (SELECT strategy_id, order_id FROM ${given})
        AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.strategy_id = queue_notes.strategy_id
          AND o.order_id = queue_notes.order_id AND o.is_open = 1)`,
  );
  return {
    async logBudgets(entries, { forgetBefore }) {
      const added: CompiledQuery<unknown>[] = [];
      for (const entry of entries) {
        const { process, at } = entry;
        const values = sql`CAST(${process} AS text), CAST(${at} AS bigint), CAST(${encodeBudgets(entry)} AS text)`;
        const add = sql`
          INSERT INTO budget_log (position, process, at, body)
          SELECT COALESCE(MAX(position), 0) + 1, ${values} FROM budget_log`;
        added.push(add.compile(db));
        await nextTurn();
      }
      if (added.length === 0) return;
      // Positions ascend in the order of commit. The newest entry is never removed.
      const lock = sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS}, ${BUDGET_LOG_LOCK})`;
      const statements = [
        ...(isPostgres(db) ? [lock.compile(db)] : []),
        ...added,
        sql`DELETE FROM budget_log WHERE at < ${forgetBefore}`.compile(db),
      ];
      const written = isPostgres(db) ? logged.then(() => execute(statements)) : execute(statements);
      logged = written.catch(() => {});
      await written;
    },

    noteHeard: (heard) => note(heard.map(({ type, symbol, at }) => ({ kind: type, symbol, at }))),

    async forgetHeard(type, symbols) {
      await execute([
        db.deleteFrom("symbol_notes").where("kind", "=", type).where("symbol", "in", symbols).compile(),
      ]);
    },

    async noteQueues(notes) {
      if (notes.length === 0) return;
      // In one order everywhere, so that two servers never wait for each other.
      const sorted = notes.toSorted((one, other) => (nameOfNote(one) < nameOfNote(other) ? -1 : 1));
      const rows = sorted.map(({ strategyId, orderId, symbol, tradeId, at, ...position }) => ({
        strategy_id: strategyId,
        order_id: orderId,
        symbol,
        ahead: position.ahead === null ? null : formatDecimal(position.ahead),
        traded: formatDecimal(position.tradedAtPrice),
        canceled: formatDecimal(position.canceledAhead),
        trade_id: tradeId,
        at,
      }));
      await execute([putQueueNotes(rows)]);
    },

    async forgetQueues(orders) {
      if (orders.length === 0) return;
      const rows = orders.map(({ strategyId, orderId }) => ({ strategy_id: strategyId, order_id: orderId }));
      await execute([dropQueueNotes(rows)]);
    },

    noteFunding: (symbol, until) => note([{ kind: "FUNDING", symbol, at: until }]),

    async noteFailedHandshake({ apiKey, address }, at, { forgetBefore }) {
      await execute([
        db.insertInto("failed_handshakes").values({ api_key: apiKey, address, at }).compile(),
        db.deleteFrom("failed_handshakes").where("at", "<", forgetBefore).compile(),
      ]);
    },
  } satisfies Partial<Store>;

  async function note(notes: readonly { kind: SymbolNoteKind; symbol: string; at: number }[]): Promise<void> {
    const last = new Map(notes.map((each) => [`${each.kind} ${each.symbol}`, each]));
    if (last.size === 0) return;
    // In one order everywhere, so that two servers never wait for each other.
    const rows = [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
    await execute([putNotes(rows)]);
  }
}

function nameOfNote({ strategyId, orderId }: Pick<QueueNote, "strategyId" | "orderId">): string {
  return `${strategyId} ${orderId}`;
}

export function frequentPeopleWrites(db: Kysely<Tables>, execute: Execute) {
  const putKeyUses = overRows(
    db,
    { key_id: "text", at: "bigint", address: "text", route: "text" },
    (given) => sql`
      INSERT INTO key_uses (key_id, at, address, route)
      SELECT key_id, at, address, route FROM ${given} WHERE NOT EXISTS (
        SELECT 1 FROM api_keys k JOIN people p ON p.id = k.owner_id
        WHERE k.id = given.key_id AND p.closed_at IS NOT NULL)
      ON CONFLICT (key_id) DO UPDATE SET at = excluded.at, address = excluded.address, route = excluded.route
      WHERE excluded.at > key_uses.at`,
  );
  return {
    async noteFailedSignIn(holder, at, { forgetBefore }) {
      await execute([
        db.insertInto("failed_sign_ins").values({ holder, at }).compile(),
        db.deleteFrom("failed_sign_ins").where("at", "<", forgetBefore).compile(),
      ]);
    },

    async noteKeyUses(uses) {
      if (uses.length === 0) return;
      await execute([putKeyUses(lastUses(uses).map(({ keyId, ...use }) => ({ ...use, key_id: keyId })))]);
    },
  } satisfies Partial<PeopleStore>;
}
