// People and what is audited of them, as the cases make them.
import type { AuditAction, AuditRecord, NewAuditRecord } from "../../../domain/audit.ts";
import type { ApiKeyRecord } from "../../../domain/strategy.ts";
import type { Store } from "../../store.ts";
import { keyOf } from "../records.ts";

/** When everybody signed up, unless a case says otherwise: wall time, Unix ms. */
export const SIGNED_UP_AT = 1_795_228_304_525;

/** A session of the person of that name. */
export function sessionOf(name: string) {
  return {
    sessionId: `session-of-${name}`,
    personId: `id-${name}`,
    address: "192.0.2.7",
    userAgent: "a browser",
    createdAt: SIGNED_UP_AT,
    expiresAt: SIGNED_UP_AT + 1_000,
  };
}

/** Begins a session of the person of that name. */
export async function beginSession({ people }: Store, name: string): Promise<void> {
  await people.createSession({ ...sessionOf(name), tokenHash: `token-of-${name}` }, 30);
}

/** How many sessions a person has. */
export async function countSessions({ people }: Store, personId: string): Promise<number> {
  return (await people.listSessions(personId, { expiresAfter: 0, usedAfter: 0 })).length;
}

/** Signs people up, each a millisecond after the one before; answers the id of the first. */
export async function signUp(store: Store, ...names: readonly string[]): Promise<string> {
  for (const [index, name] of names.entries()) {
    const person = {
      personId: `id-${name}`,
      email: `${name}@example.com`,
      name,
      createdAt: SIGNED_UP_AT + index,
      ...({ role: "PERSON", profile: "COPIER", kyc: "NONE" } as const),
    };
    const created = { person, passwordHash: `password of ${name}` };
    await store.people.createPerson(created, auditOf("SIGNED_UP", person.personId));
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

/** The kinds of what was audited since people signed up, oldest first. */
export async function actionsIn(store: Store): Promise<readonly AuditAction[]> {
  return (await auditedIn(store)).map(({ what }) => what).filter((what) => what !== "SIGNED_UP");
}
