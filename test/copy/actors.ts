// Traders with a strategy that may be followed, and copiers with an account at the venue. They are made
// through the stores, since hundreds of them would take too long through the dashboard. An account at the
// venue is a strategy.
import { sealCredentials } from "../../src/copy/credentials.ts";
import { auditedAs, beginCopyAt, openToCopiers } from "../../src/copy/testing/copy-rows.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { type CopySettings, EXACT_SETTINGS } from "../../src/domain/copying.ts";
import type { Profile } from "../../src/domain/person.ts";
import type { MasterKey } from "../../src/keys/master-key.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { decimal } from "../../src/money/decimal.ts";
import { newId } from "../../src/people/made-people.ts";
import type { Store } from "../../src/store/store.ts";
import type { Credentials } from "../support/servers/gateway.ts";

/** A service's database with the key that secrets are sealed under. */
export type Books = { readonly store: Store; readonly master: MasterKey };

/** A strategy that may be followed, and its owner's key. */
export type Lead = Credentials & { readonly type: StrategyType; readonly ownerId: string };

/** Somebody who follows, with the account that it is mirrored on. */
export type Copier = {
  readonly personId: string;
  readonly accountId: string;
  readonly copyId: string;
  /** The copier's account at the venue. */
  readonly venue: Credentials;
};

/**
 * A share of the balance to work with, the most that an order may be worth, and a stop loss: decimal texts.
 */
export type Terms = {
  readonly share?: string;
  readonly maxPerOrder?: string | null;
  readonly stopLoss?: string | null;
};

/** Nobody signs in with it. */
const NO_PASSWORD = "no password";

/** Somebody whose identity is approved, and who never signs in. */
export async function newPerson({ store }: Books, profile: Profile): Promise<string> {
  const personId = newId();
  const email = `${personId}@example.org`;
  await store.people.createPerson(
    {
      person: {
        ...{ personId, email, name: personId, role: "PERSON", profile, kyc: "APPROVED" },
        createdAt: Date.now(),
      },
      passwordHash: NO_PASSWORD,
    },
    auditedAs("SIGNED_UP", { kind: "PERSON", id: personId }, Date.now()),
  );
  return personId;
}

/** New strategies of a trader, open to copiers. */
export async function newLeads(books: Books, types: readonly StrategyType[]): Promise<Lead[]> {
  const { store, master } = books;
  const ownerId = await newPerson(books, "TRADER");
  const seeded = await seedStrategies(store, master, types, Date.now(), { ownerId });
  for (const { strategyId } of seeded) {
    await openToCopiers(store, strategyId);
  }
  return seeded.map((each) => ({ ...each, ownerId }));
}

/** New accounts at the venue. */
export async function newVenueAccounts(
  { store, master }: Books,
  type: StrategyType,
  count: number,
): Promise<Credentials[]> {
  const types = Array.from({ length: count }, () => type);
  return await seedStrategies(store, master, types, Date.now());
}

/** Somebody new connects an account at the venue and follows a strategy, from now on. */
export async function newCopier(
  books: Books,
  followed: {
    readonly lead: Pick<Lead, "strategyId" | "type">;
    readonly venue: Credentials;
    readonly origin: string;
    readonly terms?: Terms;
  },
): Promise<Copier> {
  const { lead, venue, origin, terms = {} } = followed;
  const personId = await newPerson(books, "COPIER");
  const [accountId, copyId] = [newId(), newId()];
  await beginCopyAt(books.store, {
    ...{ copyId, personId, accountId, strategyId: lead.strategyId, type: lead.type, venue: origin },
    sealed: sealCredentials(books.master, accountId, venue),
    ...{ settings: settingsOf(terms), at: Date.now() },
  });
  return { personId, accountId, copyId, venue };
}

export function settingsOf({ share = "1", maxPerOrder = null, stopLoss = null }: Terms): CopySettings {
  return {
    ...EXACT_SETTINGS,
    share: decimal(share),
    maxPerOrder: maxPerOrder === null ? null : decimal(maxPerOrder),
    stopLoss: stopLoss === null ? null : decimal(stopLoss),
  };
}
