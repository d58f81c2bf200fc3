// Seeds of authenticators in the store: sealed under the master key, for one person's row only.
import { sealedRows } from "../keys/sealing.ts";
import type { PeopleStore, SecondFactor } from "../store/ports/people.ts";

export const {
  seal: sealSeed,
  open: openSeed,
  reseal: resealSeed,
  resealAll: resealSeeds,
} = sealedRows({
  purpose: "totp seed",
  idOf: ({ personId }: Pick<SecondFactor, "personId" | "sealedSeed">) => personId,
  sealedOf: ({ sealedSeed }) => sealedSeed,
  list: (store: Pick<PeopleStore, "listSecondFactors" | "resealSecondFactor">) => store.listSecondFactors(),
  replace: (store, personId, seals) => store.resealSecondFactor(personId, seals),
});
