// The keys that were looked up, as long as the audit has nothing newer, which is asked once a turn: whatever is done to a
// key or to its owner, by whatever process, is audited in the same transaction. The status of a strategy changes without that, by commits of
// this process alone, which forget what is held.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type BoundKeyRow, boundKeyOfRow, KEY_COLUMNS, REVOKED_AT } from "../key-rows.ts";
import type { BoundKey } from "../store.ts";
import type { TurnSnapshot } from "./turn-snapshot.ts";

const COLUMNS = KEY_COLUMNS.filter((column) => column !== "revoked_at").map((column) => `k.${column}`);

/** Keys held at once; beyond it all are looked up again. */
const KEYS_HELD_MAX = 50_000;

export class HeldKeys {
  readonly #held = new Map<string, BoundKey>();
  readonly #snapshot: TurnSnapshot;
  readonly #keyWithStrategy: StatementSync;
  readonly #newestAudit: StatementSync;
  #turn = -1;
  #audited: unknown = null;

  constructor(database: DatabaseSync, snapshot: TurnSnapshot) {
    this.#snapshot = snapshot;
    this.#keyWithStrategy = database.prepare(
      `SELECT ${COLUMNS.join(", ")}, ${REVOKED_AT} AS revoked_at, s.type, s.status
       FROM api_keys k LEFT JOIN strategies s ON s.id = k.strategy_id LEFT JOIN people o ON o.id = k.owner_id
       WHERE k.api_key = ?`,
    );
    this.#newestAudit = database.prepare("SELECT MAX(position) AS newest FROM audit");
  }

  /** To be called within a snapshot. */
  find(apiKey: string): BoundKey | null {
    if (this.#turn !== this.#snapshot.number) {
      this.#turn = this.#snapshot.number;
      const newest = this.#newestAudit.get()?.newest;
      if (newest !== this.#audited) this.#held.clear();
      this.#audited = newest;
    }
    const held = this.#held.get(apiKey);
    if (held !== undefined) return held;
    const found = this.#lookUp(apiKey);
    if (found === null) return null;
    // No `BoundedMap`: every request looks a key up, and the map is emptied after each change of keys in any case.
    if (this.#held.size >= KEYS_HELD_MAX) this.#held.clear();
    this.#held.set(apiKey, found);
    return found;
  }

  forget(): void {
    this.#held.clear();
  }

  #lookUp(apiKey: string): BoundKey | null {
    const row = this.#keyWithStrategy.get(apiKey) as BoundKeyRow | undefined;
    return row === undefined ? null : boundKeyOfRow(row);
  }
}
