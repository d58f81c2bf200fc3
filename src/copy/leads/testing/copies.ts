// Strategies that are open to copiers, and copies of them, at accounts that nobody asks.
import { EXACT_SETTINGS } from "../../../domain/copying.ts";
import type { Store } from "../../../store/store.ts";
import { auditedAs, beginCopyAt } from "../../testing/copy-rows.ts";

/** Begins a copy of a spot strategy that is open to copiers, for a person and an account of its own. */
export async function beginCopy(
  store: Store,
  strategyId: string,
  { copyId, venue = "http://127.0.0.1:1" }: { readonly copyId: string; readonly venue?: string },
): Promise<void> {
  await beginCopyAt(store, {
    ...{ copyId, personId: `person-${copyId}`, accountId: `account-${copyId}`, strategyId, type: "SPOT" },
    ...{ venue, sealed: "sealed", settings: EXACT_SETTINGS, at: 0 },
  });
}

/** Pauses a copy, as its copier does. */
export async function pauseCopy(store: Store, copyId: string): Promise<void> {
  const change = { copyId, from: ["FOLLOWING"], status: "PAUSED", reason: "COPIER", at: 0 } as const;
  if (!(await store.copying.changeCopy(change, auditedAs("COPY_PAUSED", { kind: "COPY", id: copyId }, 0))))
    throw new Error(`a copy that follows can be paused: ${copyId}`);
}
