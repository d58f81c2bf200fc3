// The trader of a demo: made at the first start of a demo data directory, approved and verified, with a password that is shown
// once. What a demo makes belongs to this person, and so does what an older one made for nobody.
import type { Person } from "../domain/person.ts";
import type { PeopleStore } from "../store/people-store.ts";
import { makePerson, newPassword } from "./made-people.ts";

/** Reserved for this machine, so that no mail is ever sent there. Source: RFC 6761, section 6.3. */
export const DEMO_EMAIL = "demo@lyrebird.localhost";

export type DemoPerson = {
  readonly personId: string;
  /** Null once the person was there already: it was shown before. */
  readonly password: string | null;
};

/**
 * Makes sure that a demo has its trader, and that strategies without an owner become this trader's. `at` is wall time, Unix ms.
 */
export async function provideDemoPerson(store: PeopleStore, at: number): Promise<DemoPerson> {
  const demo = (await findDemoPerson(store)) ?? (await makeDemoPerson(store, at));
  await store.adoptStrategies(demo.personId);
  return demo;
}

async function findDemoPerson(store: PeopleStore): Promise<DemoPerson | null> {
  const person: Person | null = await store.findPersonByEmail(DEMO_EMAIL);
  return person === null ? null : { personId: person.personId, password: null };
}

async function makeDemoPerson(store: PeopleStore, at: number): Promise<DemoPerson> {
  const password = newPassword();
  const personId = await makePerson(
    store,
    { email: DEMO_EMAIL, name: "Demo trader", role: "PERSON", profile: "TRADER", kyc: "APPROVED" },
    { password, who: { kind: "SERVICE" }, what: "SIGNED_UP", at },
  );
  if (personId !== null) return { personId, password };
  const other = await findDemoPerson(store);
  if (other === null) throw new Error("the address of the demo's trader is taken by nobody");
  return other;
}
