// Identity forms in the store: sealed under the master key, for one submission's row only.
import type { MasterKey } from "../../keys/master-key.ts";
import { countResealed, open, reseal, type Seal, seal } from "../../keys/sealing.ts";
import type { KycSubmission, PeopleStore } from "../../store/ports/people.ts";

type SealedForm = Pick<KycSubmission, "submissionId" | "sealedForm">;

/** Seals the text of a form under the current version of the master key. */
export function sealForm(master: MasterKey, submissionId: string, form: string): string {
  return seal(master, sealOf(submissionId), form);
}

/** The text of a form. Throws SealBroken if it does not open. */
export function openForm(master: MasterKey, { submissionId, sealedForm }: SealedForm): string {
  return open(master, sealOf(submissionId), sealedForm);
}

/**
 * Seals a form again if its seal is of an older version of the master key; answers whether it was replaced.
 */
export async function resealForm(
  store: Pick<PeopleStore, "resealForm">,
  master: MasterKey,
  { submissionId, sealedForm }: SealedForm,
): Promise<boolean> {
  return await reseal(master, sealOf(submissionId), sealedForm, (seals) =>
    store.resealForm(submissionId, seals),
  );
}

/** Seals again every form whose seal is of an older version; answers how many. */
export async function resealForms(
  store: Pick<PeopleStore, "listForms" | "resealForm">,
  master: MasterKey,
): Promise<number> {
  return await countResealed(await store.listForms(), (form) => resealForm(store, master, form));
}

function sealOf(row: string): Seal {
  return { purpose: "kyc form", row };
}
