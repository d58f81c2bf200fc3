// People on a real store, with a clock that the test owns.
import { join } from "node:path";
import { generateSync } from "otplib/functional";
import { onTestFinished } from "vitest";
import type { Person } from "../../domain/person.ts";
import type { MasterKey } from "../../keys/master-key.ts";
import { newMasterKey } from "../../keys/testing/master-keys.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import { type Caller, Cookies } from "../cookies.ts";
import { Lockout } from "../lockout.ts";
import { SecondFactors } from "../second-factor.ts";
import { newDirectory } from "./directory.ts";

export const CALLER: Caller = { address: "203.0.113.7", userAgent: "test", cookies: null };

export type FactorFixture = Awaited<ReturnType<typeof openFactorFixture>>;

/** Opens a new database that the test's end closes. */
export async function openFactorFixture(master: MasterKey = newMasterKey()) {
  const store = await openSqliteStore(join(newDirectory(), "lyrebird.sqlite"));
  onTestFinished(() => store.close());
  // The middle of a time step.
  let now = Date.UTC(2026, 0, 1) + 15_000;
  const wallNow = () => now;
  const parts = {
    people: store.people,
    master,
    cookies: new Cookies(() => "http://127.0.0.1:8080"),
    wallNow,
  };
  const lockout = new Lockout({ ...parts, log: { error() {} } });
  let made = 0;
  return {
    store,
    master,
    secondFactors: new SecondFactors({ store: store.people, master, lockout, wallNow }),
    /** Wall time, Unix ms, and how a test advances it. */
    now: wallNow,
    pass(ms: number): void {
      now += ms;
    },
    /** Another person, without a second factor. */
    async newPerson(terms: Partial<Pick<Person, "role" | "profile" | "kyc" | "name">> = {}): Promise<Person> {
      made += 1;
      return await newPerson(store, { email: `person-${made}@example.com`, createdAt: now + made, ...terms });
    },
  };
}

/** Creates a person whose password no text matches. */
export async function newPerson(
  store: Pick<Store, "people">,
  terms: { readonly email: string; readonly createdAt: number } & Partial<
    Pick<Person, "role" | "profile" | "kyc" | "name">
  >,
): Promise<Person> {
  const personId = `id of ${terms.email}`;
  const person = {
    personId,
    name: "Ada",
    role: "PERSON",
    profile: "COPIER",
    kyc: "NONE",
    ...terms,
  } as const;
  const isMade = await store.people.createPerson(
    { person, passwordHash: "none" },
    {
      who: { kind: "SERVICE" },
      what: "SIGNED_UP",
      about: { kind: "PERSON", id: personId },
      at: terms.createdAt,
      details: {},
    },
  );
  const found = await store.people.findPerson(personId);
  if (!isMade || found === null) throw new Error(`${terms.email} is taken`);
  return found;
}

/** What an authenticator with this seed shows at a time, Unix ms. */
export function codeAt(secret: string, at: number): string {
  return generateSync({ secret, epoch: Math.floor(at / 1_000) });
}
