// Counts of entries as the writing thread keeps them: what a group of entries changes is gathered, and written once for each count.
// Whoever calls has a transaction open, and nobody else writes meanwhile.
import type { DatabaseSync } from "node:sqlite";
import { claimedNames } from "../copying/claimed-columns.ts";
import { DAY_MS, NO_REASON } from "../copying/count-keys.ts";
import type { Value } from "../group-columns.ts";

/** Where an entry is counted: by its copy, and by its strategy and day. */
type Counted = {
  readonly copyId: Value;
  readonly day: number;
  readonly status: Value;
  readonly reason: Value;
};

export type CountChanges = {
  /** Is told of an entry as it is going to be, before it is written. */
  note(row: readonly Value[]): void;
  /** Writes what has changed since. */
  write(strategyId: string): void;
};

const NAMES = claimedNames("entries");
const [COPY_ID, ENTRY_ID, STATUS, SKIP_REASON, IS_COUNTED, LEAD_AT] = [
  "copy_id",
  "entry_id",
  "status",
  "skip_reason",
  "is_counted",
  "lead_at",
].map((name) => NAMES.indexOf(name)) as [number, number, number, number, number, number];

type Before = {
  readonly status: string;
  readonly skip_reason: string | null;
  readonly is_counted: number;
  readonly lead_at: number;
};

export function countChanges(database: DatabaseSync): CountChanges {
  const find = database.prepare(
    "SELECT status, skip_reason, is_counted, lead_at FROM mirror_entries WHERE copy_id = ? AND entry_id = ?",
  );
  const ofCopy = database.prepare(
    `INSERT INTO copy_counts (copy_id, status, skip_reason, count) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const ofDay = database.prepare(
    `INSERT INTO day_counts (strategy_id, day, status, skip_reason, count) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const copies = new Changes();
  const days = new Changes();
  const count = ({ copyId, day, status, reason }: Counted, by: 1 | -1) => {
    copies.add([copyId, status, reason ?? NO_REASON], by);
    days.add([day, status, reason ?? NO_REASON], by);
  };
  return {
    note(row) {
      const copyId = row[COPY_ID] ?? null;
      const before = find.get(copyId, row[ENTRY_ID] ?? null) as Before | undefined;
      if (before?.is_counted === 1) {
        const { status, skip_reason: reason, lead_at } = before;
        count({ copyId, day: dayOf(lead_at), status, reason }, -1);
      }
      if (row[IS_COUNTED] !== 1) return;
      const [status = null, reason = null] = [row[STATUS], row[SKIP_REASON]];
      count({ copyId, day: dayOf(row[LEAD_AT] as number), status, reason }, 1);
    },

    write(strategyId) {
      copies.take((key, by) => ofCopy.run(...key, by));
      days.take((key, by) => ofDay.run(strategyId, ...key, by));
    },
  };
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** How much each count grows or shrinks, by its key. */
class Changes {
  readonly #byText = new Map<string, { readonly key: readonly Value[]; by: number }>();

  add(key: readonly Value[], by: number): void {
    const text = JSON.stringify(key);
    const change = this.#byText.get(text);
    if (change === undefined) this.#byText.set(text, { key, by });
    else change.by += by;
  }

  /** Hands over all that is not nothing, and begins anew. */
  take(use: (key: readonly Value[], by: number) => void): void {
    const changes = [...this.#byText.values()];
    this.#byText.clear();
    for (const { key, by } of changes) if (by !== 0) use(key, by);
  }
}
