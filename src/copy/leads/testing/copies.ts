// Strategies that are open to copiers, and copies of them, at accounts that receive no requests.
import type { AuditAction, NewAuditRecord } from "../../../domain/audit.ts";
import { EMPTY_BOOK, EXACT_SETTINGS } from "../../../domain/copying.ts";
import type { Store } from "../../../store/store.ts";

export async function openToCopiers(store: Store, strategyId: string): Promise<void> {
  await store.copying.setOpenToCopiers(strategyId, true, record("STRATEGY_OPENED_TO_COPIERS", strategyId));
}

/** Begins a copy of a spot strategy that is open to copiers, for a person and an account of its own. */
export async function beginCopy(
  store: Store,
  strategyId: string,
  { copyId, venue = "http://127.0.0.1:1" }: { readonly copyId: string; readonly venue?: string },
): Promise<void> {
  const mine = { personId: `person-${copyId}`, accountId: `account-${copyId}` };
  const account = {
    ...mine,
    family: "SPOT",
    venue,
    label: "",
    keyHint: "",
    sealed: "sealed",
    status: "CONNECTED",
    failure: null,
    createdAt: 0,
    checkedAt: 0,
    disconnectedAt: null,
  } as const;
  await store.copying.connectAccount(account, record("VENUE_ACCOUNT_CONNECTED", copyId), { liveMax: 1 });
  const begun = await store.copying.createCopy(
    {
      ...mine,
      copyId,
      strategyId,
      family: "SPOT",
      settings: EXACT_SETTINGS,
      status: "FOLLOWING",
      reason: null,
      startedAt: 0,
      endedAt: null,
      book: EMPTY_BOOK,
    },
    record("COPY_STARTED", copyId),
  );
  if (begun !== "CREATED") throw new Error(`a copy is begun: ${copyId} is ${begun}`);
}

/** Pauses a copy, as its copier does. */
export async function pauseCopy(store: Store, copyId: string): Promise<void> {
  const change = { copyId, from: ["FOLLOWING"], status: "PAUSED", reason: "COPIER", at: 0 } as const;
  if (!(await store.copying.changeCopy(change, record("COPY_PAUSED", copyId))))
    throw new Error(`a copy that follows can be paused: ${copyId}`);
}

function record(what: AuditAction, id: string): NewAuditRecord {
  return { who: { kind: "SERVICE" }, what, about: { kind: "COPY", id }, at: 0, details: {} };
}
