// Seeds of authenticators in the store: sealed under the master key, for one person's row only.
import type { MasterKey } from "../keys/master-key.ts";
import { countResealed, open, reseal, type Seal, seal } from "../keys/sealing.ts";
import type { PeopleStore, SecondFactor } from "../store/ports/people.ts";

type SealedSeed = Pick<SecondFactor, "personId" | "sealedSeed">;

/** Seals a person's seed under the current version of the master key. */
export function sealSeed(master: MasterKey, personId: string, seed: string): string {
  return seal(master, sealOf(personId), seed);
}

/** The seed. Throws SealBroken if it does not open. */
export function openSeed(master: MasterKey, { personId, sealedSeed }: SealedSeed): string {
  return open(master, sealOf(personId), sealedSeed);
}

/**
 * Seals a seed again if its seal is of an older version of the master key; answers whether it was replaced.
 */
export async function resealSeed(
  store: Pick<PeopleStore, "resealSecondFactor">,
  master: MasterKey,
  { personId, sealedSeed }: SealedSeed,
): Promise<boolean> {
  return await reseal(master, sealOf(personId), sealedSeed, (seals) =>
    store.resealSecondFactor(personId, seals),
  );
}

/** Seals again every seed whose seal is of an older version; answers how many. */
export async function resealSeeds(
  store: Pick<PeopleStore, "listSecondFactors" | "resealSecondFactor">,
  master: MasterKey,
): Promise<number> {
  return await countResealed(await store.listSecondFactors(), (factor) => resealSeed(store, master, factor));
}

function sealOf(row: string): Seal {
  return { purpose: "totp seed", row };
}
