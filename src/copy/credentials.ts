// The credentials of copiers' accounts as the store keeps them: sealed for one account's row alone, under a data key of the record's
// own. Disconnecting an account destroys the record, and with it the key.
import { z } from "zod";
import type { MasterKey } from "../identity/api-keys.ts";
import { isRecordSealedBy, openRecord, rewrapRecord, sealRecord } from "../identity/record-sealing.ts";
import type { CopyStore } from "../store/copy-store.ts";
import type { VenueCredentials } from "./venue/venue.ts";

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

/** Whether an account's credentials are sealed under a version of the master key; those that are destroyed are under none. */
export function areSealedBy(version: number, { sealed }: { readonly sealed: string | null }): boolean {
  return sealed !== null && isRecordSealedBy(version, sealed);
}

/** Wraps the data keys of all credentials anew that an older version of the master key has wrapped; answers how many it were. */
export async function rewrapCredentials(
  store: Pick<CopyStore, "listSealedAccounts" | "resealAccount">,
  master: MasterKey,
): Promise<number> {
  let rewrapped = 0;
  for (const { accountId, sealed } of await store.listSealedAccounts()) {
    if (sealed === null || isRecordSealedBy(master.current, sealed)) continue;
    const to = rewrapRecord(master, whereOf(accountId), sealed);
    if (await store.resealAccount(accountId, { from: sealed, to })) rewrapped += 1;
  }
  return rewrapped;
}

function whereOf(accountId: string) {
  return { purpose: "venue credentials", row: accountId } as const;
}
