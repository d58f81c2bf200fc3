// One read transaction for all that is read within a turn of the event loop: taking and giving back the database's read lock
// costs as much as the reading. It begins with the first read of a turn and ends with the turn, or as soon as something is
// known to have been committed, so that whoever was told of a commit sees it.
import type { DatabaseSync } from "node:sqlite";

export class TurnSnapshot {
  readonly #database: DatabaseSync;
  #isOpen = false;
  #number = 0;
  #endOfTurn: NodeJS.Immediate | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Tells one snapshot from another. */
  get number(): number {
    return this.#number;
  }

  /** Makes sure that there is one; to be called before every read. */
  enter(): void {
    if (this.#isOpen) return;
    this.#database.exec("BEGIN");
    this.#isOpen = true;
    this.#number += 1;
    this.#endOfTurn ??= setImmediate(() => {
      this.#endOfTurn = null;
      this.leave();
    });
  }

  /** Ends it: the next read sees all that is committed by then. */
  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // There is nothing to commit. A read that failed may have ended it already.
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }
}
