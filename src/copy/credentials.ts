// The credentials of copiers' accounts as the store keeps them: sealed for one account's row alone, under a
// data key of the record's own. Disconnecting an account destroys the record, and with it the key.
//
// Of the key itself a keyed hash is stored as well, so that no two accounts have the same one: two copies
// that know nothing of each other would spend the same money. An exchange has several origins, so the hash is
// of the key and the type alone. Without the master key the hash reveals nothing.
import { createHmac } from "node:crypto";
import { z } from "zod";
import type { VenueAccount } from "../domain/copying.ts";
import type { MasterKey } from "../keys/master-key.ts";
import { isRecordSealedBy, openRecord, rewrapRecord, sealRecord } from "../keys/record-sealing.ts";
import { derivedKey } from "../keys/sealing.ts";
import type { CopiesStore, KeyDigests } from "../store/ports/copies.ts";
import type { VenueCredentials } from "./venue/venue.ts";

/** Separates the keys of these hashes from all else that is derived. */
const DIGEST_DOMAIN = "lyrebird venue key";

const CREDENTIALS = z.strictObject({ apiKey: z.string(), apiSecret: z.string() });

/** Seals an account's credentials under the current version of the master key. */
export function sealCredentials(
  master: MasterKey,
  accountId: string,
  { apiKey, apiSecret }: VenueCredentials,
): string {
  return sealRecord(master, whereOf(accountId), JSON.stringify({ apiKey, apiSecret }));
}

/** The credentials. Throws SealBroken if they do not open. */
export function openCredentials(master: MasterKey, accountId: string, sealed: string): VenueCredentials {
  return CREDENTIALS.parse(JSON.parse(openRecord(master, whereOf(accountId), sealed)));
}

/**
 * The hashes of a key: stored under the current version of the master key, recognized under any version.
 * Earlier releases put the account's origin into the hash; those forms are recognized for every origin in
 * `origins`, all at which an account may be connected.
 */
export function digestsOf(
  master: MasterKey,
  { type, apiKey }: Pick<VenueAccount, "type"> & Pick<VenueCredentials, "apiKey">,
  origins: readonly string[],
): KeyDigests {
  const versions = Array.from({ length: master.newest }, (_, index) => index + 1);
  const forms = [[type, apiKey], ...origins.map((origin) => [origin, type, apiKey])];
  return {
    kept: digestOf(master, [type, apiKey], master.current),
    known: versions.flatMap((version) => forms.map((form) => digestOf(master, form, version))),
  };
}

/**
 * Whether an account's credentials are sealed under a version of the master key; those that are destroyed are
 * under none.
 */
export function areSealedBy(version: number, { sealed }: { readonly sealed: string | null }): boolean {
  return sealed !== null && isRecordSealedBy(version, sealed);
}

/**
 * Rewraps the data keys that an older version of the master key has wrapped, and stores the digests under the
 * current version. Returns how many there were.
 */
export async function rewrapCredentials(
  store: Pick<CopiesStore, "listSealedAccounts" | "resealAccount" | "findAccount">,
  master: MasterKey,
): Promise<number> {
  let rewrapped = 0;
  for (const { accountId, sealed } of await store.listSealedAccounts()) {
    if (sealed === null || isRecordSealedBy(master.current, sealed)) continue;
    const to = rewrapRecord(master, whereOf(accountId), sealed);
    const account = await store.findAccount(accountId);
    if (account === null) continue;
    const { apiKey } = openCredentials(master, accountId, to);
    const keyDigest = digestsOf(master, { type: account.type, apiKey }, []).kept;
    if (await store.resealAccount(accountId, { from: sealed, to, keyDigest })) rewrapped += 1;
  }
  return rewrapped;
}

function digestOf(master: MasterKey, form: readonly string[], version: number): string {
  const key = derivedKey(master, DIGEST_DOMAIN, version);
  return createHmac("sha256", key).update(JSON.stringify(form)).digest("base64url");
}

function whereOf(accountId: string) {
  return { purpose: "venue credentials", row: accountId } as const;
}
