// Identity forms in the store: sealed under the master key, for one submission's row only.
import { sealedRows } from "../../keys/sealing.ts";
import type { KycSubmission, PeopleStore } from "../../store/ports/people.ts";

export const {
  seal: sealForm,
  open: openForm,
  reseal: resealForm,
  resealAll: resealForms,
} = sealedRows({
  purpose: "kyc form",
  idOf: ({ submissionId }: Pick<KycSubmission, "submissionId" | "sealedForm">) => submissionId,
  sealedOf: ({ sealedForm }) => sealedForm,
  list: (store: Pick<PeopleStore, "listForms" | "resealForm">) => store.listForms(),
  replace: (store, submissionId, seals) => store.resealForm(submissionId, seals),
});
