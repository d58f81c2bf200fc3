// The trader of a demo: created at the first start of a demo data directory, approved and verified, with a
// password that is shown once. The demo's strategies belong to this person, also those that an older version
// created without an owner.
import type { Person } from "../domain/person.ts";
import type { PeopleStore } from "../store/ports/people.ts";
import { makePerson, newPassword } from "./made-people.ts";

/** Reserved for this machine, so that no mail goes there. Source: RFC 6761, section 6.3. */
export const DEMO_EMAIL = "demo@lyrebird.localhost";

export type DemoPerson = {
  readonly personId: string;
  /** Null if the person existed before: then it was shown before. */
  readonly password: string | null;
};

/**
 * Creates the trader if there is none, and gives them the strategies without an owner. `at` is wall time,
 * Unix ms.
 */
export async function provideDemoPerson(store: PeopleStore, at: number): Promise<DemoPerson> {
  const demo = (await findDemoPerson(store)) ?? (await createDemoPerson(store, at));
  await store.adoptStrategies(demo.personId);
  return demo;
}

async function findDemoPerson(store: PeopleStore): Promise<DemoPerson | null> {
  const person: Person | null = await store.findPersonByEmail(DEMO_EMAIL);
  return person === null ? null : { personId: person.personId, password: null };
}

async function createDemoPerson(store: PeopleStore, at: number): Promise<DemoPerson> {
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
