// Accounts at a venue and copies at them, as stores have them when somebody has connected one and follows a
// strategy, or in memory alone.
import type { StrategyType } from "../../domain/account.ts";
import type { AuditAction, AuditSubject, NewAuditRecord } from "../../domain/audit.ts";
import { type Copy, type CopySettings, EMPTY_BOOK } from "../../domain/copying.ts";
import type { CopyProgress } from "../../store/ports/copies.ts";
import type { Store } from "../../store/store.ts";
import { CopyState } from "../orders/copy-state.ts";

/**
 * The state of a spot copy that has just begun, in memory alone. `record`: receives what becomes durable.
 */
export function freshState(record: (progress: CopyProgress) => void = () => {}): CopyState {
  const copy = { copyId: "copy", strategyId: "one", type: "SPOT", status: "FOLLOWING", fromVersion: 0 };
  const began = { ...copy, doneSeq: 0, book: EMPTY_BOOK } as unknown as Copy;
  return new CopyState(began, [], async (progress) => record(progress));
}

/** Connects an account and begins a copy at it. */
export async function beginCopyAt(
  { copying }: Pick<Store, "copying">,
  copy: {
    readonly copyId: string;
    readonly personId: string;
    readonly accountId: string;
    readonly strategyId: string;
    readonly type: StrategyType;
    readonly venue: string;
    readonly sealed: string;
    readonly settings: CopySettings;
    /** Unix ms. */
    readonly at: number;
  },
): Promise<void> {
  const { copyId, personId, accountId, strategyId, type, venue, sealed, settings, at } = copy;
  const connected = await copying.connectAccount(
    {
      ...{ accountId, personId, type, venue, label: "an account", keyHint: "", sealed },
      ...{ status: "CONNECTED", failure: null, createdAt: at, checkedAt: at, disconnectedAt: null },
    },
    auditedAs("VENUE_ACCOUNT_CONNECTED", { kind: "VENUE_ACCOUNT", id: accountId }, at),
    { liveMax: 10 },
  );
  if (connected !== "CONNECTED") throw new Error(`an account is not connected: ${connected}`);
  const begun = await copying.createCopy(
    {
      ...{ copyId, personId, strategyId, accountId, type, settings, status: "FOLLOWING", reason: null },
      ...{ startedAt: at, endedAt: null, book: EMPTY_BOOK },
    },
    auditedAs("COPY_STARTED", { kind: "COPY", id: copyId }, at),
  );
  if (begun !== "CREATED") throw new Error(`a copy does not begin: ${begun}`);
}

/** Opens a strategy to copiers. */
export async function openToCopiers({ copying }: Pick<Store, "copying">, strategyId: string): Promise<void> {
  const about = { kind: "STRATEGY", id: strategyId } as const;
  await copying.setOpenToCopiers(strategyId, true, auditedAs("STRATEGY_OPENED_TO_COPIERS", about, 0));
}

/** A record of something that a test does in somebody's stead. */
export function auditedAs(what: AuditAction, about: AuditSubject, at: number): NewAuditRecord {
  return { who: { kind: "SERVICE" }, what, about, at, details: {} };
}
