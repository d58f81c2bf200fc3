// Identity forms in the store: sealed under the master key, for one submission's row only.
import type { MasterKey } from "../../keys/master-key.ts";
import { isSealedByCurrent, open, seal } from "../../keys/sealing.ts";
import type { KycSubmission, PeopleStore } from "../../store/ports/people.ts";

type SealedForm = Pick<KycSubmission, "submissionId" | "sealedForm">;

/** Seals the text of a form under the current version of the master key. */
export function sealForm(master: MasterKey, submissionId: string, form: string): string {
  return seal(master, { purpose: "kyc form", row: submissionId }, form);
}

/** The text of a form. Throws SealBroken if it does not open. */
export function openForm(master: MasterKey, { submissionId, sealedForm }: SealedForm): string {
  return open(master, { purpose: "kyc form", row: submissionId }, sealedForm);
}

/**
 * Seals a form again if its seal is of an older version of the master key; answers whether it was replaced.
 */
export async function resealForm(
  store: Pick<PeopleStore, "resealForm">,
  master: MasterKey,
  form: SealedForm,
): Promise<boolean> {
  if (isSealedByCurrent(master, form.sealedForm)) return false;
  const to = sealForm(master, form.submissionId, openForm(master, form));
  return await store.resealForm(form.submissionId, { from: form.sealedForm, to });
}

/** Seals again every form whose seal is of an older version; answers how many. */
export async function resealForms(
  store: Pick<PeopleStore, "listForms" | "resealForm">,
  master: MasterKey,
): Promise<number> {
  let resealed = 0;
  for (const form of await store.listForms()) {
    if (await resealForm(store, master, form)) resealed += 1;
  }
  return resealed;
}
