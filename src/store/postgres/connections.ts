// Connections to one PostgreSQL database: bounded in number, in the wait for one and in the time of an
// answer. Invariants: each is checked before its first use, since after a failover another server may be
// behind an address; after a loss in flight no older connection to that address is used, since on a machine
// that is gone each would have to time out. Of several addresses the first that is a primary's is used,
// beginning with the last one that was. It does not decide what a loss means: nothing for a read or while the
// connection is unused, an unknown outcome for a commit.
import type { CompiledQuery, PostgresPool, PostgresPoolClient } from "kysely";
import {
  DatabaseError,
  Pool,
  type PoolClient,
  type QueryConfig,
  type QueryResultRow,
  TypeOverrides,
  types,
} from "pg";
import { StoreFailure, StoreUnavailable } from "../store.ts";
import { Addresses } from "./addresses.ts";
import { DatabaseUnfit, lookOver, OnStandby, type SessionSettings } from "./server-check.ts";

/** How long a connection may take to be had, new or from those that are in use, ms. */
const CONNECT_MS_MAX = 5_000;
/**
 * The same for each of several addresses: a machine that is gone answers nothing, and the next one is to be
 * tried soon.
 */
const CONNECT_MS_MAX_OF_SEVERAL = 2_000;
/** How long a statement may wait for a lock, ms. */
const LOCK_MS_MAX = 5_000;
/** How long the server may work on a statement of a request, ms. */
const STATEMENT_MS_MAX = 10_000;
/** How long an answer may take, ms: the server has given up before, so the network is to blame. */
const ANSWER_MS_MAX = 15_000;
/** A transaction that was left open by a process that hangs is ended, ms. */
const IDLE_TRANSACTION_MS_MAX = 15_000;
/** After this long without traffic the system asks whether the other side is still there, ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/** A connection that nobody has used for this long is closed, ms. */
const IDLE_MS_MAX = 60_000;

/** 64-bit integers are answered as numbers, as by the other store, and not as text. */
const TYPES = new TypeOverrides();
TYPES.setTypeParser(types.builtins.INT8, Number);

export type ConnectionTerms = {
  readonly connectionsMax: number;
  /**
   * For statements that look rows up by their keys, also in a table that has grown since it was last
   * analyzed.
   */
  readonly keyedOnly?: boolean;
  /** How long a statement may take, its waiting for locks included, ms. */
  readonly statementMsMax?: number;
};

/** Where a connection leads to, and how many losses there had been when it was opened. */
type Opening = { readonly address: string; readonly losses: number };

export class Connections {
  readonly #addresses: Addresses;
  readonly #settings: SessionSettings;
  readonly #terms: ConnectionTerms;
  /** By address: those that were tried. */
  readonly #pools = new Map<string, Pool>();
  /** By address: how often a connection was lost under way. Those that were opened before are not used. */
  readonly #losses = new Map<string, number>();
  readonly #openings = new WeakMap<PoolClient, Opening>();
  #closing: Promise<unknown> | null = null;

  constructor(url: string, terms: ConnectionTerms) {
    const { keyedOnly = false, statementMsMax } = terms;
    this.#addresses = new Addresses(url);
    this.#terms = terms;
    this.#settings = {
      statement_timeout: String(statementMsMax ?? STATEMENT_MS_MAX),
      lock_timeout: String(statementMsMax ?? LOCK_MS_MAX),
      idle_in_transaction_session_timeout: String(statementMsMax ?? IDLE_TRANSACTION_MS_MAX),
      default_transaction_isolation: "read committed",
      // Compiling takes longer than any statement of ours.
      jit: "off",
      enable_seqscan: keyedOnly ? "off" : "on",
    };
  }

  #poolOf(address: string): Pool {
    const known = this.#pools.get(address);
    if (known !== undefined) return known;
    const pool = new Pool({
      application_name: "lyrebird",
      connectionString: address,
      max: this.#terms.connectionsMax,
      connectionTimeoutMillis: this.#addresses.all.length > 1 ? CONNECT_MS_MAX_OF_SEVERAL : CONNECT_MS_MAX,
      query_timeout: this.#terms.statementMsMax ?? ANSWER_MS_MAX,
      idleTimeoutMillis: IDLE_MS_MAX,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      types: TYPES,
      onConnect: (client) => lookOver(client, this.#settings),
      // A transaction is sent at once: see `execute`.
      pipeline: true,
    });
    pool.on("error", () => {});
    // The statement that fails reports it.
    pool.on("connect", (client) => {
      client.on("error", () => {});
      this.#openings.set(client, { address, losses: this.#lossesOf(address) });
    });
    this.#pools.set(address, pool);
    return pool;
  }

  /**
   * A connection that is fit for use, to be released; with `true` if it may not be used again. Rejects with
   * StoreUnavailable, whose cause says why, if none can be had: nothing was sent.
   */
  async take(): Promise<PoolClient> {
    const errors: unknown[] = [];
    for (const address of this.#addresses.inOrder()) {
      // A pool that is made after the close would stay open.
      if (this.#closing !== null) break;
      try {
        const client = await this.#connect(address);
        this.#addresses.connected(address);
        return client;
      } catch (error) {
        errors.push(error);
      }
    }
    throw unavailable(errors.length === 1 ? errors[0] : reasonOfAll(errors));
  }

  /** A connection to an address that was opened after the last one there was lost under way. */
  async #connect(address: string): Promise<PoolClient> {
    for (;;) {
      const client = await this.#poolOf(address).connect();
      if (this.#openings.get(client)?.losses === this.#lossesOf(address)) return client;
      client.release(true);
    }
  }

  #lossesOf(address: string): number {
    return this.#losses.get(address) ?? 0;
  }

  /**
   * Releases a connection on which something has failed: it is not used again, and neither are older ones to
   * its address, unless the server itself has answered with the error.
   */
  drop(client: PoolClient, error: unknown): void {
    client.release(true);
    const opening = this.#openings.get(client);
    if (error instanceof DatabaseError || opening === undefined) return;
    const { address, losses } = opening;
    // Several that are lost together are one loss.
    if (losses === this.#lossesOf(address)) this.#losses.set(address, losses + 1);
  }

  /** Asks one question. Rejects with StoreUnavailable if the database is out of reach. */
  async query<Row extends QueryResultRow>(question: QueryConfig): Promise<Row[]> {
    const client = await this.take();
    try {
      const { rows } = await client.query<Row>(question);
      client.release();
      return rows;
    } catch (error) {
      this.drop(client, error);
      throw isOutOfReach(error) ? unavailable(error) : error;
    }
  }

  /**
   * As `Execute` says. The whole transaction is one round trip: statements are sent without waiting for
   * answers.
   */
  async execute(statements: readonly CompiledQuery<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const client = await this.take();
    const queries: QueryConfig[] = statements.map(({ sql, parameters }) => ({
      name: nameOf(sql),
      text: sql,
      values: [...parameters],
    }));
    const isAlone = queries.length === 1;
    const sent = isAlone ? queries : [{ text: "BEGIN" }, ...queries, { text: "COMMIT" }];
    const answers = await Promise.allSettled(sent.map((query) => client.query(query)));
    // Those after the first that failed failed for it.
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed !== undefined) {
      this.drop(client, failed.reason);
      throw isOutOfReach(failed.reason) ? unavailable(failed.reason) : failed.reason;
    }
    client.release();
    const rows = answers.map((answer) => (answer.status === "fulfilled" ? answer.value.rows : []));
    return isAlone ? rows : rows.slice(1, -1);
  }

  /** The face that Kysely's dialect knows. A connection on which something was lost is not used again. */
  forKysely(): PostgresPool {
    return {
      options: this.#poolOf(this.#addresses.all[0] as string).options,
      connect: async () => {
        const client = await this.take();
        let lost: unknown = null;
        const query = async (statement: string, parameters: readonly unknown[]) => {
          try {
            return await client.query(statement, [...parameters]);
          } catch (error) {
            if (!(error instanceof DatabaseError) || isReadOnly(error)) lost ??= error;
            if (!isOutOfReach(error)) throw error;
            if (statement !== "commit" || isRolledBack(error)) throw unavailable(error);
            throw new StoreFailure(`a commit failed: ${reasonOf(error)}`, { cause: error });
          }
        };
        return {
          // The type knows cursors too, which Kysely asks for only where it was given a maker of them.
          query: query as unknown as PostgresPoolClient["query"],
          release: (destroy = false) => (lost === null ? client.release(destroy) : this.drop(client, lost)),
        };
      },
      end: () => this.close(),
    };
  }

  /** Resolves when everything that is in flight has been answered. */
  async close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#pools.values()].map((pool) => pool.end()));
    await this.#closing;
  }
}

/** Names of prepared statements by their text, of which there are only as many as the code has. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `statement-${names.size + 1}`;
  names.set(text, name);
  return name;
}

/**
 * SQLSTATE classes that tell of the server's state, not of the statement: no connection, no resources,
 * shutting down.
 */
const OUT_OF_REACH = /^(08|53|57|58)/;

/** Whether an error says nothing about the statement: the same one may be answered in a moment. */
export function isOutOfReach(error: unknown): boolean {
  return !(error instanceof DatabaseError) || OUT_OF_REACH.test(error.code ?? "") || isRolledBack(error);
}

const DISK_FULL = "53100";
/** Serialization failure, deadlock, lock timeout, statement timeout, full disk. */
const ROLLED_BACK = ["40001", "40P01", "55P03", "57014", DISK_FULL];

/**
 * A write in a read-only transaction. Managed services make a database read-only when its disk is nearly
 * full, and a primary is read-only for a moment on its way to being a standby.
 */
const READ_ONLY = "25006";

/**
 * Whether the server says that it gave the statement up, for want of time or space or since it takes no
 * writes: none of it was carried out.
 */
export function isRolledBack(error: unknown): boolean {
  return error instanceof DatabaseError && (ROLLED_BACK.includes(error.code ?? "") || isReadOnly(error));
}

/**
 * Whether the server takes no writes at present. A session stays read-only for as long as it lasts: it must
 * not be used again.
 */
export function isReadOnly(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === READ_ONLY;
}

/** Whether the server's disk is full. */
export function isFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === DISK_FULL;
}

/**
 * What several addresses failed of: a primary's flaw, which only an operator can correct; otherwise all of
 * it. That others are standbys is as it should be.
 */
function reasonOfAll(errors: readonly unknown[]): unknown {
  const flaw = errors.find((error) => error instanceof DatabaseUnfit && !(error instanceof OnStandby));
  return flaw ?? new AggregateError(errors);
}

function unavailable(error: unknown): StoreUnavailable {
  return new StoreUnavailable(`the database is out of reach: ${reasonOf(error)}`, { cause: error });
}

/**
 * SQLSTATE classes of what only an operator can mend: who may connect, to which database, and what he may do
 * there.
 */
const UNFIT = /^(28|3D|42501)/;

/** Why the database cannot be used as it is set up; null if an error says nothing of that. */
export function unfitness(error: unknown): DatabaseUnfit | null {
  if (error instanceof DatabaseUnfit) return error;
  if (error instanceof DatabaseError && UNFIT.test(error.code ?? "")) return new DatabaseUnfit(error.message);
  return error instanceof Error && error.cause !== undefined ? unfitness(error.cause) : null;
}

/** The message of an error. A host name with several addresses fails once for each address. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
