// Seeds of authenticators in the store: sealed under the master key, for one person's row only.
import type { MasterKey } from "../keys/master-key.ts";
import { isSealedByCurrent, open, seal } from "../keys/sealing.ts";
import type { PeopleStore, SecondFactor } from "../store/ports/people.ts";

type SealedSeed = Pick<SecondFactor, "personId" | "sealedSeed">;

/** Seals a person's seed under the current version of the master key. */
export function sealSeed(master: MasterKey, personId: string, seed: string): string {
  return seal(master, { purpose: "totp seed", row: personId }, seed);
}

/** The seed. Throws SealBroken if it does not open. */
export function openSeed(master: MasterKey, { personId, sealedSeed }: SealedSeed): string {
  return open(master, { purpose: "totp seed", row: personId }, sealedSeed);
}

/**
 * Seals a seed again if its seal is of an older version of the master key; answers whether it was replaced.
 */
export async function resealSeed(
  store: Pick<PeopleStore, "resealSecondFactor">,
  master: MasterKey,
  factor: SealedSeed,
): Promise<boolean> {
  if (isSealedByCurrent(master, factor.sealedSeed)) return false;
  const to = sealSeed(master, factor.personId, openSeed(master, factor));
  return await store.resealSecondFactor(factor.personId, { from: factor.sealedSeed, to });
}

/** Seals again every seed whose seal is of an older version; answers how many. */
export async function resealSeeds(
  store: Pick<PeopleStore, "listSecondFactors" | "resealSecondFactor">,
  master: MasterKey,
): Promise<number> {
  let resealed = 0;
  for (const factor of await store.listSecondFactors()) {
    if (await resealSeed(store, master, factor)) resealed += 1;
  }
  return resealed;
}
