// The port of the audit: what was done, as a chain of hashes. What changes something else of the store takes
// its record in the port of that, and is one transaction with it.
import type { AuditRecord, NewAuditRecord } from "../../domain/audit.ts";

export type AuditStore = {
  /** Adds a record of what needed no other change of the store. */
  audit(record: NewAuditRecord): Promise<void>;
  /**
   * Newest first; `before` is a position. Without `about` and `personId` all; `personId` is of the actor, of
   * the subject, or of its owner: of a key, a strategy, a copy or a venue account.
   */
  listAudit(query: {
    readonly before?: number | undefined;
    readonly limit: number;
    readonly about?: { readonly kind: string; readonly id: string } | undefined;
    readonly personId?: string | undefined;
  }): Promise<readonly AuditRecord[]>;
  /**
   * Recomputes every hash; null if the chain is whole, else the position of the first record that does not
   * fit.
   */
  verifyAudit(): Promise<{ readonly brokenAt: number } | null>;
};
