// The hash chain of the audit records (decision 32). The hash of a record is SHA-256, as 64 lower-case hex
// digits, over the UTF-8 bytes of the hash of the record before it, a line feed and its canonical text, so
// that anyone who has the records can compute it. Invariant: every later hash is wrong if a record is
// changed, moved, inserted or removed. Alone it does not reveal that a person who can write to the database
// has recomputed all hashes; a hash that was recorded elsewhere does.
import { createHash } from "node:crypto";
import type { AuditRecord, NewAuditRecord } from "../domain/audit.ts";

/** The hash before the first record. */
export const NO_HASH = "0".repeat(64);

/** The end of the chain: the position and the hash of its last record. */
export type ChainHead = { readonly position: number; readonly hash: string };

/** The end of a chain without records. */
export const EMPTY_CHAIN: ChainHead = { position: 0, hash: NO_HASH };

/** The record that follows the head. */
export function chained(record: NewAuditRecord, head: ChainHead): AuditRecord {
  const position = head.position + 1;
  return { ...record, position, hash: hashOf({ ...record, position }, head.hash) };
}

/** Whether a record is the one that follows the head. */
export function follows(record: AuditRecord, head: ChainHead): boolean {
  return record.position === head.position + 1 && record.hash === hashOf(record, head.hash);
}

/** The details as JSON, sorted by name. */
export function canonicalDetails(details: NewAuditRecord["details"]): string {
  const fields = Object.keys(details)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(details[name])}`);
  return `{${fields.join(",")}}`;
}

function hashOf(record: Omit<AuditRecord, "hash">, hashBefore: string): string {
  return createHash("sha256")
    .update(`${hashBefore}\n${canonicalText(record)}`)
    .digest("hex");
}

/**
 * One line of JSON without spaces, its fields in this order, the details sorted by name (by code units).
 * `who` of the command line and of the service has no personId.
 */
function canonicalText({ position, at, who, what, about, details }: Omit<AuditRecord, "hash">): string {
  const actor = "personId" in who ? { kind: who.kind, personId: who.personId } : { kind: who.kind };
  const head = JSON.stringify({ position, at, who: actor, what, about: { kind: about.kind, id: about.id } });
  return `${head.slice(0, -1)},"details":${canonicalDetails(details)}}`;
}
