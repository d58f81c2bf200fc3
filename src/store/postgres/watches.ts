// Which strategies this process watches, in the database, so that others notify it of their commits. Rows are
// written in the background: until then, and whenever one cannot be written, who watches polls. Rows of a
// process that was killed cost notifications that nobody receives, until they expire.
import { setTimeout as pause } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import type { Cancel } from "../../concurrency/time.ts";
import { type Execute, overRows } from "../dialect.ts";
import type { Tables } from "../schema.ts";

/** How long a row counts, ms, and how often those of this process are renewed. */
const KEPT_MS = 3_600_000;
const RENEW_MS = 600_000;
/** How long after a failure rows are written again, ms. */
const RETRY_MS = 1_000;

const NOW = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

type Deps = { readonly db: Kysely<Tables>; readonly execute: Execute; readonly process: string };

export class Watches {
  readonly #deps: Deps;
  readonly #put: ReturnType<typeof overRows<"server" | "strategy_id">>;
  /** By strategy id: how many in this process watch it. */
  readonly #watched = new Map<string, number>();
  /** Strategies whose row may not be as it should. */
  #changed = new Set<string>();
  readonly #writing = new SingleFlight(() => this.#write());
  #renewals: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#put = overRows(
      deps.db,
      { server: "text", strategy_id: "text" },
      (given) => sql`
        INSERT INTO watches (strategy_id, server, renewed_at) SELECT strategy_id, server, ${NOW} FROM ${given}
        ON CONFLICT (strategy_id, server) DO UPDATE SET renewed_at = excluded.renewed_at`,
    );
  }

  /** Watches a strategy until the returned function is called. */
  add(strategyId: string): Cancel {
    this.#renewals ??= setInterval(() => this.#renew(), RENEW_MS).unref();
    this.#count(strategyId, 1);
    let isWatching = true;
    return () => {
      if (isWatching) this.#count(strategyId, -1);
      isWatching = false;
    };
  }

  /** Removes the rows of this process, if the database is within reach. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#renewals === null) return;
    clearInterval(this.#renewals);
    await this.#writing.current;
    const { db, execute, process } = this.#deps;
    await execute([sql`DELETE FROM watches WHERE server = ${process}`.compile(db)]).catch(() => {});
  }

  #count(strategyId: string, more: 1 | -1): void {
    const count = (this.#watched.get(strategyId) ?? 0) + more;
    if (count > 0) this.#watched.set(strategyId, count);
    else this.#watched.delete(strategyId);
    // The first or the last one.
    if (count === (more === 1 ? 1 : 0)) this.#change([strategyId]);
  }

  #renew(): void {
    const { db, execute } = this.#deps;
    void execute([sql`DELETE FROM watches WHERE renewed_at < ${NOW} - ${KEPT_MS}`.compile(db)]).catch(
      () => {},
    );
    this.#change(this.#watched.keys());
  }

  #change(strategyIds: Iterable<string>): void {
    if (this.#isClosed) return;
    for (const strategyId of strategyIds) this.#changed.add(strategyId);
    void this.#writing.run();
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { db, execute, process } = this.#deps;
    while (this.#changed.size > 0 && !this.#isClosed) {
      // Those that change together are written together.
      await new Promise(setImmediate);
      const ids = [...this.#changed];
      this.#changed = new Set();
      const [added, removed] = [true, false].map((isWatched) =>
        ids.filter((strategyId) => this.#watched.has(strategyId) === isWatched),
      );
      try {
        await execute([
          this.#put((added ?? []).map((strategyId) => ({ server: process, strategy_id: strategyId }))),
          sql`DELETE FROM watches WHERE server = ${process} AND strategy_id = ANY(${removed ?? []}::text[])`.compile(
            db,
          ),
        ]);
      } catch {
        for (const strategyId of ids) this.#changed.add(strategyId);
        await pause(RETRY_MS, undefined, { ref: false });
      }
    }
  }
}
