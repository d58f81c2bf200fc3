// People and what is audited of them, as the cases make them.
import type { AuditAction, AuditRecord, NewAuditRecord } from "../../../domain/audit.ts";
import type { SignInRecord } from "../../people-store.ts";
import type { ApiKeyRecord, Store } from "../../store.ts";
import { keyOf } from "../records.ts";

/** When everybody signed up, unless a case says otherwise: wall time, Unix ms. */
export const SIGNED_UP_AT = 1_795_228_304_525;

/** What the sign-in library keeps of a person of that name. */
export function userOf(name: string, terms: SignInRecord = {}): SignInRecord {
  return {
    id: `id-${name}`,
    name,
    email: `${name}@example.com`,
    emailVerified: false,
    image: null,
    createdAt: new Date(SIGNED_UP_AT),
    updatedAt: new Date(SIGNED_UP_AT),
    ...terms,
  };
}

/** What it keeps of a session of the person of that name. */
export function sessionOf(name: string): SignInRecord {
  return {
    id: `session-of-${name}`,
    userId: `id-${name}`,
    token: `token-of-${name}`,
    ipAddress: "192.0.2.7",
    userAgent: "a browser",
    expiresAt: new Date(SIGNED_UP_AT + 1_000),
    createdAt: new Date(SIGNED_UP_AT),
    updatedAt: new Date(SIGNED_UP_AT),
  };
}

/** Signs people up, each a millisecond after the one before; answers the id of the first. */
export async function signUp(store: Store, ...names: readonly string[]): Promise<string> {
  for (const [index, name] of names.entries()) {
    await store.people.signIn.create("user", userOf(name, { createdAt: new Date(SIGNED_UP_AT + index) }));
  }
  return `id-${names[0]}`;
}

/** A record of what a person did to themselves. */
export function auditOf(
  what: AuditAction,
  personId: string,
  terms: Partial<NewAuditRecord> = {},
): NewAuditRecord {
  return {
    who: { kind: "PERSON", personId },
    what,
    about: { kind: "PERSON", id: personId },
    at: SIGNED_UP_AT,
    details: {},
    ...terms,
  };
}

/** A key of somebody's that is bound to nothing yet. */
export function unboundKeyOf(name: string, ownerId: string, terms: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return keyOf(name, { ownerId, strategyId: null, ...terms });
}

/** What was audited, oldest first. */
export async function auditedIn(store: Store): Promise<readonly AuditRecord[]> {
  return (await store.people.listAudit({ limit: 1_000 })).toReversed();
}

/** The kinds of what was audited, oldest first. */
export async function actionsIn(store: Store): Promise<readonly AuditAction[]> {
  return (await auditedIn(store)).map(({ what }) => what);
}
