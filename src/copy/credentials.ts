// The credentials of copiers' accounts as the store keeps them: sealed for one account's row alone, under a data key of the record's
// own. Disconnecting an account destroys the record, and with it the key.
//
// Of the key itself a keyed hash is kept beside, so that no two accounts have the same one: two copies that know nothing of each
// other would spend the same money. Without the master key the hash says nothing.
import { createHmac } from "node:crypto";
import { z } from "zod";
import type { VenueAccount } from "../domain/copying.ts";
import type { MasterKey } from "../identity/master-key.ts";
import { isRecordSealedBy, openRecord, rewrapRecord, sealRecord } from "../identity/record-sealing.ts";
import { derivedKey } from "../identity/sealing.ts";
import type { CopyStore, KeyDigests } from "../store/copy-store.ts";
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

/** What a key at a venue is told by: kept under the current version of the master key, known under any. */
export function digestsOf(
  master: MasterKey,
  place: Pick<VenueAccount, "venue" | "family">,
  apiKey: string,
): KeyDigests {
  const versions = Array.from({ length: master.newest }, (_, index) => index + 1);
  return {
    kept: digestOf(master, place, apiKey, master.current),
    known: versions.map((version) => digestOf(master, place, apiKey, version)),
  };
}

/** Whether an account's credentials are sealed under a version of the master key; those that are destroyed are under none. */
export function areSealedBy(version: number, { sealed }: { readonly sealed: string | null }): boolean {
  return sealed !== null && isRecordSealedBy(version, sealed);
}

/**
 * Wraps the data keys of all credentials anew that an older version of the master key has wrapped, and tells their keys by the
 * current one; answers how many it were.
 */
export async function rewrapCredentials(
  store: Pick<CopyStore, "listSealedAccounts" | "resealAccount" | "findAccount">,
  master: MasterKey,
): Promise<number> {
  let rewrapped = 0;
  for (const { accountId, sealed } of await store.listSealedAccounts()) {
    if (sealed === null || isRecordSealedBy(master.current, sealed)) continue;
    const to = rewrapRecord(master, whereOf(accountId), sealed);
    const account = await store.findAccount(accountId);
    if (account === null) continue;
    const { apiKey } = openCredentials(master, accountId, to);
    const keyDigest = digestsOf(master, account, apiKey).kept;
    if (await store.resealAccount(accountId, { from: sealed, to, keyDigest })) rewrapped += 1;
  }
  return rewrapped;
}

function digestOf(
  master: MasterKey,
  { venue, family }: Pick<VenueAccount, "venue" | "family">,
  apiKey: string,
  version: number,
): string {
  const key = derivedKey(master, DIGEST_DOMAIN, version);
  return createHmac("sha256", key)
    .update(JSON.stringify([venue, family, apiKey]))
    .digest("base64url");
}

function whereOf(accountId: string) {
  return { purpose: "venue credentials", row: accountId } as const;
}
