// What the database says of a strategy, read beside the running gateway, and whether that can be. Between two
// readings only the market moves a strategy: it fills, triggers and liquidates what waits for it, and settles
// funding. An answer of 200 to a write may add one entry to that. Whatever was added must account for every
// change of balances and open orders, to the last digit; where nothing was added nothing may have changed.
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { apply } from "../../../src/engine/apply.ts";
import {
  decodeAccount,
  decodeEvents,
  decodeOrder,
  encodeOrder,
  encodeState,
  type StrategyRow,
} from "../../../src/store/codec.ts";
import { keyOfEntry } from "../../../src/store/rows.ts";

/** A strategy as committed at one moment. */
export type Snapshot = {
  readonly row: StrategyRow & { readonly version: number };
  /** The bodies of its open orders, by their ids. */
  readonly open: readonly string[];
};

/**
 * The entry that a request may have added: with this key, null for none; undefined if it may have added
 * nothing.
 */
export type OwnKey = string | null | undefined;

type Entry = { readonly version: number; readonly key: string | null; readonly events: string };

export class Ledger {
  readonly #database: DatabaseSync;
  readonly #row: StatementSync;
  readonly #open: StatementSync;
  readonly #entries: StatementSync;

  constructor(dataDir: string) {
    this.#database = new DatabaseSync(join(dataDir, "lyrebird.sqlite"), { readOnly: true });
    this.#row = this.#database.prepare(
      "SELECT id, type, status, version, state FROM strategies WHERE id = ?",
    );
    this.#open = this.#database.prepare(
      "SELECT body FROM orders WHERE strategy_id = ? AND is_open = 1 ORDER BY order_id",
    );
    this.#entries = this.#database.prepare(
      "SELECT version, key, events FROM journal WHERE strategy_id = ? AND version > ? ORDER BY version",
    );
  }

  read(strategyId: string): Snapshot {
    return this.#atOnce(() => this.#snapshot(strategyId));
  }

  /** Reads a strategy again, and says everything that is wrong with what became of it. */
  follow(before: Snapshot, ownKey: OwnKey): { readonly after: Snapshot; readonly faults: readonly string[] } {
    const { id, version } = before.row;
    const { after, entries } = this.#atOnce(() => ({
      after: this.#snapshot(id),
      entries: (this.#entries.all(id, version) as (Entry & { key: string })[]).map((entry) => ({
        ...entry,
        key: keyOfEntry(entry.key),
      })),
    }));
    const isUntouched =
      entries.length === 0 && after.row.version === version && sameState(textOf(before), textOf(after));
    return { after, faults: isUntouched ? [] : faultsOf(before, after, entries, ownKey) };
  }

  /** How often the market has moved anybody: fills of what rested, triggers of stops and of legs. */
  marketMoves(): number {
    const moves = this.#database.prepare(
      "SELECT count(*) AS count FROM journal WHERE key LIKE 'fill:%' OR key LIKE 'trigger:%' OR key LIKE 'leg:%'",
    );
    return Number(moves.get()?.count);
  }

  close(): void {
    this.#database.close();
  }

  #snapshot(strategyId: string): Snapshot {
    const row = this.#row.get(strategyId) as Snapshot["row"] | undefined;
    if (row === undefined) throw new Error(`a strategy is there for ever: ${strategyId}`);
    return { row, open: (this.#open.all(strategyId) as { body: string }[]).map(({ body }) => body) };
  }

  #atOnce<Value>(read: () => Value): Value {
    this.#database.exec("BEGIN");
    const value = read();
    this.#database.exec("COMMIT");
    return value;
  }
}

function faultsOf(before: Snapshot, after: Snapshot, entries: readonly Entry[], ownKey: OwnKey): string[] {
  const faults: string[] = [];
  // What could not be closed at once is closed later, when its market is back.
  const isClosing = before.row.status === "CLOSING";
  const own = entries.filter((entry) => !isOfMarket(entry) && !(isClosing && entry.key === null));
  const mayAdd = ownKey === undefined ? 0 : 1;
  if (own.length > mayAdd || own.some(({ key }) => key !== ownKey)) {
    const added = own.map(({ key, events }) => `${key}: ${events}`).join("; ");
    faults.push(`the journal has entries that the request may not have made: ${added}`);
  }
  const account = decodeAccount(before.row, before.open.map(decodeOrder));
  for (const { events } of entries) for (const event of decodeEvents(events)) apply(account, event);
  const open = [...account.openOrders.values()].sort((one, other) => one.orderId - other.orderId);
  const expected: State = [account.status, encodeState(account), ...open.map(encodeOrder)];
  const actual = textOf(after);
  if (!sameState(expected, actual)) {
    faults.push(
      `the journal does not make the account: ${expected.join("\n")}\nbut it is\n${actual.join("\n")}`,
    );
  }
  if (after.row.version !== before.row.version + entries.length) {
    faults.push(`${entries.length} entries lead from version ${before.row.version} to ${after.row.version}`);
  }
  return faults;
}

/** What the market does to a strategy: all but a liquidation has a key. */
function isOfMarket({ key, events }: Entry): boolean {
  if (key !== null) return /^((fill|trigger|leg):[0-9]+|funding:[A-Z0-9]+:[0-9]+)$/.test(key);
  return decodeEvents(events).some(
    (event) => event.type === "OrderPlaced" && event.order.type === "LIQUIDATION",
  );
}

/** Status, balances and numbers, open orders. */
type State = readonly string[];

function textOf({ row, open }: Snapshot): State {
  return [row.status, row.state, ...open];
}

function sameState(one: State, other: State): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
