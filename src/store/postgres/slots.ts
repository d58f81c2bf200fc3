// Slots and their owners in a PostgreSQL database. A transaction that changes either holds one advisory lock,
// so that a lease never expires between the look at it and what follows. Times are the database's.
// Each server has watermarks of its own, of all its slots together. A new owner of a slot lowers its own to
// those of every server that is gone and to those that were given back (`symbol_notes`), in the transaction
// that takes the slot, so that the next owner after a second failure still replays all that is unchecked.
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import { slotOf } from "../../domain/strategy.ts";
import { type Execute, overRows } from "../dialect.ts";
import { ADVISORY_LOCKS } from "../frequent-writes.ts";
import type { SlotStore, SlotsView } from "../ports/slots.ts";
import type { SymbolNoteKind, Tables } from "../schema.ts";
import type { Store } from "../store.ts";

const SLOTS_LOCK = 3;
/** How long an expired lease stays readable, ms: every server that is alive looks more often. */
const EXPIRED_KEPT_MS = 60_000;

const LOCK = sql`SELECT pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS)}, ${sql.lit(SLOTS_LOCK)})`;
const NOW = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;
const LIVE_IDS = sql`(SELECT id FROM servers WHERE expires_at >= ${NOW})`;

type Note = { readonly kind: SymbolNoteKind; readonly symbol: string; readonly at: number };
type NoteStore = Pick<Store, "noteHeard" | "forgetHeard" | "listHeard" | "noteFunding" | "listFundingNoted">;
type SlotRow = { readonly slot: number; readonly epoch: number };

export class PostgresSlots implements SlotStore {
  readonly serverId: string;
  readonly #db: Kysely<Tables>;
  readonly #execute: Execute;
  readonly #executeLeases: Execute;
  readonly #putNotes: (rows: readonly (Note & { readonly server: string })[]) => CompiledQuery<unknown>;
  /** Writes of watermarks in flight. */
  readonly #writes = new Set<Promise<unknown>>();
  #isJoined = false;
  #isTaking = false;
  /** The slots that were this server's when it last asked, and until when they surely are, monotonic ms. */
  #own: ReadonlySet<number> = new Set();
  #ownUntil = 0;

  /** `executeLeases`: for what must not wait for other work. */
  constructor({
    db,
    execute,
    executeLeases,
    serverId,
  }: {
    readonly db: Kysely<Tables>;
    readonly execute: Execute;
    readonly executeLeases: Execute;
    readonly serverId: string;
  }) {
    this.serverId = serverId;
    this.#db = db;
    this.#execute = execute;
    this.#executeLeases = executeLeases;
    this.#putNotes = overRows(
      db,
      { server: "text", kind: "text", symbol: "text", at: "bigint" },
      (given) => sql`
        INSERT INTO server_notes (server, kind, symbol, at) SELECT server, kind, symbol, at FROM ${given}
        ON CONFLICT (server, kind, symbol) DO UPDATE SET at = excluded.at`,
    );
  }

  /**
   * Whether a strategy is in a slot that surely was this server's until now: every later owner loads what was
   * committed until now. The lease began in the database after it was asked for here.
   */
  isOwn(strategyId: string): boolean {
    return this.#own.has(slotOf(strategyId)) && performance.now() < this.#ownUntil;
  }

  async renew(leaseMs: number): Promise<SlotsView> {
    // An epoch begins with the time, so that a server whose row was removed does not come back with an
    // earlier one.
    this.#isJoined = true;
    const until = performance.now() + leaseMs;
    // Others load what was committed before they see this renewal. It may be answered here after that.
    this.#ownUntil = 0;
    const [, , , servers = [], own = [], free = []] = await this.#run(
      LOCK,
      sql`
        INSERT INTO servers (id, epoch, expires_at) VALUES (${this.serverId}, ${NOW}, ${NOW} + ${leaseMs})
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at,
          epoch = servers.epoch + CASE WHEN servers.expires_at < ${NOW} THEN 1 ELSE 0 END`,
      sql`DELETE FROM servers WHERE expires_at < ${NOW} - ${EXPIRED_KEPT_MS}`,
      sql`SELECT id, epoch, expires_at >= ${NOW} AS is_live FROM servers ORDER BY id`,
      this.#ownSlots(),
      sql`SELECT count(*) AS free, ${NOW} AS now FROM slots WHERE server NOT IN ${LIVE_IDS}`,
    );
    this.#ownUntil = until;
    this.#own = new Set(ownOf(own).keys());
    const rows = servers as { id: string; epoch: number; is_live: boolean }[];
    const [counted] = free as { free: number; now: number }[];
    return {
      servers: rows.map(({ id, epoch, is_live }) => ({ serverId: id, epoch, isLive: is_live })),
      own: ownOf(own),
      free: counted?.free ?? 0,
      now: counted?.now ?? 0,
    };
  }

  async take(count: number): Promise<SlotsView["own"]> {
    this.#isTaking = true;
    try {
      await Promise.allSettled(this.#writes);
      const answers = await this.#run(
        LOCK,
        sql`
          UPDATE slots SET server = ${this.serverId}, epoch = epoch + 1 WHERE ${this.serverId} IN ${LIVE_IDS}
            AND slot IN (SELECT slot FROM slots WHERE server NOT IN ${LIVE_IDS} ORDER BY slot LIMIT ${count})`,
        sql`
          INSERT INTO server_notes (server, kind, symbol, at)
          SELECT ${this.serverId}, kind, symbol, MIN(at) FROM (
            SELECT kind, symbol, at FROM symbol_notes
            UNION ALL SELECT kind, symbol, at FROM server_notes WHERE server NOT IN ${LIVE_IDS}
          ) AS inherited GROUP BY kind, symbol
          ON CONFLICT (server, kind, symbol) DO UPDATE SET at = LEAST(server_notes.at, excluded.at)`,
        // What everybody has inherited is of no use any more.
        sql`
          DELETE FROM server_notes WHERE server NOT IN ${LIVE_IDS}
            AND NOT EXISTS (SELECT FROM slots WHERE server NOT IN ${LIVE_IDS})`,
        sql`
          DELETE FROM symbol_notes WHERE NOT EXISTS (SELECT FROM slots WHERE server NOT IN ${LIVE_IDS})`,
        this.#ownSlots(),
      );
      const own = ownOf(answers.at(-1) ?? []);
      this.#own = new Set(own.keys());
      return own;
    } finally {
      this.#isTaking = false;
    }
  }

  async release(slots: readonly number[]): Promise<void> {
    this.#own = this.#own.difference(new Set(slots));
    await this.#run(
      LOCK,
      this.#returnNotes(),
      sql`UPDATE slots SET server = '' WHERE server = ${this.serverId} AND slot = ANY(${slots}::int[])`,
    );
  }

  async leave(): Promise<void> {
    this.#own = new Set();
    await this.#run(
      LOCK,
      this.#returnNotes(),
      sql`UPDATE slots SET server = '' WHERE server = ${this.serverId}`,
      sql`DELETE FROM server_notes WHERE server = ${this.serverId}`,
      sql`DELETE FROM servers WHERE id = ${this.serverId}`,
    );
    this.#isJoined = false;
  }

  /** The methods that keep watermarks: those of all servers before this one has joined, then its own. */
  notes(shared: NoteStore): NoteStore {
    return {
      noteHeard: async (heard) => {
        if (!this.#isJoined) return await shared.noteHeard(heard);
        await this.#note(heard.map(({ type, symbol, at }) => ({ kind: type, symbol, at })));
      },
      forgetHeard: async (type, symbols) => {
        if (!this.#isJoined) return await shared.forgetHeard(type, symbols);
        await this.#write(
          sql`
          DELETE FROM server_notes WHERE server = ${this.serverId} AND kind = ${type}
            AND symbol = ANY(${symbols}::text[])`.compile(this.#db),
        );
      },
      noteFunding: async (symbol, until) => {
        if (!this.#isJoined) return await shared.noteFunding(symbol, until);
        await this.#note([{ kind: "FUNDING", symbol, at: until }]);
      },
      listHeard: async (type) => {
        if (!this.#isJoined) return await shared.listHeard(type);
        return (await this.#notesOf(type)).map(({ symbol, at }) => ({ type, symbol, at }));
      },
      listFundingNoted: async () => {
        if (!this.#isJoined) return await shared.listFundingNoted();
        return (await this.#notesOf("FUNDING")).map(({ symbol, at }) => ({ symbol, until: at }));
      },
    };
  }

  async #note(notes: readonly Note[]): Promise<void> {
    const last = new Map(notes.map((each) => [`${each.kind} ${each.symbol}`, each]));
    if (last.size === 0) return;
    await this.#write(this.#putNotes([...last.values()].map((each) => ({ ...each, server: this.serverId }))));
  }

  /** Writes watermarks, unless slots are being taken: these may be later than the slots'. */
  async #write(statement: CompiledQuery<unknown>): Promise<void> {
    if (this.#isTaking) return;
    const write = this.#execute([statement]);
    this.#writes.add(write);
    try {
      await write;
    } finally {
      this.#writes.delete(write);
    }
  }

  async #notesOf(kind: SymbolNoteKind): Promise<{ symbol: string; at: number }[]> {
    return await this.#db
      .selectFrom("server_notes")
      .select(["symbol", "at"])
      .where("server", "=", this.serverId)
      .where("kind", "=", kind)
      .execute();
  }

  #ownSlots(): RawBuilder<unknown> {
    return sql`SELECT slot, epoch FROM slots WHERE server = ${this.serverId}`;
  }

  #returnNotes(): RawBuilder<unknown> {
    return sql`
      INSERT INTO symbol_notes (kind, symbol, at)
      SELECT kind, symbol, at FROM server_notes WHERE server = ${this.serverId}
      ON CONFLICT (kind, symbol) DO UPDATE SET at = LEAST(symbol_notes.at, excluded.at)`;
  }

  /** Runs statements as one transaction. */
  #run(...statements: readonly RawBuilder<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return this.#executeLeases(statements.map((statement) => statement.compile(this.#db)));
  }
}

function ownOf(rows: readonly unknown[]): ReadonlyMap<number, number> {
  return new Map((rows as readonly SlotRow[]).map(({ slot, epoch }) => [slot, epoch]));
}
