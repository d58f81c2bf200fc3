// People who do not sign up: operators, created from the command line, and the trader of a demo. Their
// addresses count as verified.
import { randomBytes } from "node:crypto";
import type { Actor, AuditAction } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { PeopleStore } from "../store/ports/people.ts";
import { Passwords } from "./passwords.ts";

const PASSWORD_BYTES = 18;
const ID_BYTES = 8;

export type MadePerson = Pick<Person, "email" | "name" | "role" | "profile" | "kyc">;

/**
 * Creates a person who can sign in with a password at once; null if the address is taken, which the store
 * decides, so that two processes do not both create one. It is audited.
 */
export async function makePerson(
  store: Pick<PeopleStore, "createPerson">,
  made: MadePerson,
  terms: {
    readonly password: string;
    readonly who: Actor;
    readonly what: AuditAction;
    /** Wall time, Unix ms. */
    readonly at: number;
  },
): Promise<string | null> {
  const personId = newId();
  const passwordHash = await new Passwords().hash(terms.password);
  if (passwordHash === null) throw new Error("the only password to be hashed does not wait");
  const { who, what, at } = terms;
  const isMade = await store.createPerson(
    { person: { personId, createdAt: at, ...made }, passwordHash },
    { who, what, about: { kind: "PERSON", id: personId }, at, details: { email: made.email } },
  );
  return isMade ? personId : null;
}

/** A password of 144 random bits, to be shown once. */
export function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString("base64url");
}

/** An id of a person or of a session. */
export function newId(): string {
  return randomBytes(ID_BYTES).toString("hex");
}
