// What is written under a claim, as columns: how both stores take it. A few long arrays cost far less to hand to another thread, or
// to a server, than many short rows.
import type { LeadAction, MirrorEntry, MirrorKind, MirrorStatus } from "../../domain/copying.ts";
import type { CopyProgress, CopyStore } from "../copy-store.ts";
import type { Columns, Value } from "../group-columns.ts";
import { encodeAction, encodeBook, encodeEntry } from "./codec.ts";
import { encodeLeadAccount } from "./lead-accounts.ts";

type ColumnTypes = Readonly<Record<string, "text" | "bigint">>;

/** What a claimant's writes say of each table, or of what happens to its rows. */
export const CLAIMED_COLUMNS = {
  actions: { seq: "bigint", version: "bigint", kind: "text", body: "text" },
  /** A copy that does not go anywhere by itself has nothing of a move. */
  copies: {
    id: "text",
    book: "text",
    done_seq: "bigint",
    status: "text",
    reason: "text",
    moved_at: "bigint",
    from_status: "text",
    from_reason: "text",
  },
  entries: {
    copy_id: "text",
    entry_id: "bigint",
    collective_id: "text",
    symbol: "text",
    status: "text",
    skip_reason: "text",
    is_counted: "bigint",
    is_executed: "bigint",
    is_open: "bigint",
    lead_at: "bigint",
    body: "text",
  },
  finishes: { id: "text", copy_id: "text", done_at: "bigint", failure: "text" },
} as const satisfies Readonly<Record<string, ColumnTypes>>;

export type ClaimedTable = keyof typeof CLAIMED_COLUMNS;

export type AdvanceColumns = {
  readonly strategyId: string;
  readonly holder: string;
  readonly fromVersion: number;
  readonly version: number;
  readonly seq: number;
  /** Null before the first entry. */
  readonly account: string | null;
  readonly actions: Columns;
};

export type ProgressColumns = {
  readonly strategyId: string;
  readonly holder: string;
  readonly copies: Columns;
  readonly entries: Columns;
  readonly finishes: Columns;
};

/** Statuses of which something is still to be done: by the executor, or by polls of the account. */
const OPEN: readonly MirrorStatus[] = ["NEW", "SENT", "UNCONFIRMED", "RESTING"];
/** What these become is not known yet: they are not counted. */
const UNDECIDED: readonly MirrorStatus[] = ["NEW", "SENT", "UNCONFIRMED"];

/** Entries of these kinds move nothing that was ordered, and are not counted. */
const NOT_COUNTED: readonly MirrorKind[] = [
  "CANCEL",
  "CANCEL_LEG",
  "SET_LEVERAGE",
  "WITHDRAW",
  "WRITE_OFF",
  "PROFIT_SHARE",
];

export function advanceColumns(advance: Parameters<CopyStore["advanceLead"]>[0]): AdvanceColumns {
  const { strategyId, holder, fromVersion, version, seq, account, actions } = advance;
  return {
    strategyId,
    holder,
    fromVersion,
    version,
    seq,
    account: account && encodeLeadAccount(account),
    actions: columnsOf("actions", actions.map(actionRow)),
  };
}

/** Copies in the order of their ids, in which they are locked. */
export function progressColumns(
  strategyId: string,
  holder: string,
  progress: readonly CopyProgress[],
): ProgressColumns {
  const inOrder = progress.toSorted((one, other) => (one.copyId < other.copyId ? -1 : 1));
  return {
    strategyId,
    holder,
    copies: columnsOf("copies", inOrder.map(copyRow)),
    entries: columnsOf(
      "entries",
      inOrder.flatMap(({ entries }) => entries.map(entryRow)),
    ),
    finishes: columnsOf("finishes", inOrder.flatMap(finishRows)),
  };
}

function actionRow(action: LeadAction) {
  const { seq, version, kind } = action;
  return { seq, version, kind, body: encodeAction(action) };
}

function copyRow({ copyId, book, doneSeq, moves }: CopyProgress) {
  return {
    id: copyId,
    book: encodeBook(book),
    done_seq: doneSeq,
    status: moves?.status ?? null,
    reason: moves?.reason ?? null,
    moved_at: moves?.at ?? null,
    from_status: moves?.from.status ?? null,
    from_reason: moves?.from.reason ?? null,
  };
}

function entryRow(entry: MirrorEntry) {
  const { copyId, entryId, collectiveId, symbol, status, skip, leadAt } = entry;
  return {
    copy_id: copyId,
    entry_id: entryId,
    collective_id: collectiveId,
    symbol,
    status,
    skip_reason: skip?.reason ?? null,
    is_counted: isCounted(entry) ? 1 : 0,
    is_executed: isExecuted(entry) ? 1 : 0,
    is_open: OPEN.includes(status) || entry.isFeeDue === true ? 1 : 0,
    lead_at: leadAt,
    body: encodeEntry(entry),
  };
}

/** Fills of the strategy's orders that were not copied were counted when they were placed. */
function isCounted({ kind, status }: MirrorEntry): boolean {
  return (
    !NOT_COUNTED.includes(kind) && !UNDECIDED.includes(status) && !(kind === "FILL" && status === "SKIPPED")
  );
}

/** Whether it executed something of which the strategy's own price is known. */
function isExecuted({ executedQuantity, leadPrice, symbol, side, acknowledgedAt }: MirrorEntry): boolean {
  const isKnown = leadPrice !== null && symbol !== null && side !== null && acknowledgedAt !== null;
  return executedQuantity > 0n && isKnown;
}

function finishRows({ copyId, finishes }: CopyProgress) {
  if (finishes === null) return [];
  const { requestId, at, failure } = finishes;
  const words = failure === null ? null : JSON.stringify(failure);
  return [{ id: requestId, copy_id: copyId, done_at: at, failure: words }];
}

/** The names of the columns. */
export function claimedNames(table: ClaimedTable): string[] {
  return Object.keys(CLAIMED_COLUMNS[table]);
}

function columnsOf<Table extends ClaimedTable>(
  table: Table,
  rows: readonly { readonly [Name in keyof (typeof CLAIMED_COLUMNS)[Table]]: Value }[],
): Columns {
  const names = claimedNames(table) as (keyof (typeof CLAIMED_COLUMNS)[Table])[];
  return names.map((name) => rows.map((row) => row[name]));
}
