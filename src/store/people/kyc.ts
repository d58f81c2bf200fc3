// Identity forms and the decisions about them. The status in the person's row changes in the transaction of
// the submission.
import type { Kysely, Selectable } from "kysely";
import { isAfter } from "../dialect.ts";
import type { KycSubmission, PeopleStore } from "../ports/people.ts";
import type { Tables } from "../schema.ts";
import { auditedIf } from "./audit.ts";

export function kycQueries(db: Kysely<Tables>) {
  return {
    async submitKyc({ submissionId, personId, sealedForm, submittedAt }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("people")
          .set({ kyc: "PENDING", kyc_reason: null })
          .where("id", "=", personId)
          .where("kyc", "in", ["NONE", "REJECTED"])
          .where("closed_at", "is", null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await transaction
          .insertInto("kyc_submissions")
          .values({
            id: submissionId,
            person_id: personId,
            sealed_form: sealedForm,
            status: "PENDING",
            submitted_at: submittedAt,
          })
          .execute();
        return true;
      });
    },

    async findKyc(submissionId) {
      const row = await db
        .selectFrom("kyc_submissions")
        .selectAll()
        .where("id", "=", submissionId)
        .executeTakeFirst();
      return row === undefined ? null : submissionOfRow(row);
    },

    async listKycOf(personId) {
      const rows = await db
        .selectFrom("kyc_submissions")
        .selectAll()
        .where("person_id", "=", personId)
        .orderBy("submitted_at", "desc")
        .orderBy("id")
        .execute();
      return rows.map(submissionOfRow);
    },

    async listKyc(status, { after, limit }) {
      const [time, order] =
        status === "PENDING" ? (["submitted_at", "asc"] as const) : (["decided_at", "desc"] as const);
      let query = db.selectFrom("kyc_submissions").selectAll().where("status", "=", status);
      if (after !== undefined) query = query.where(isAfter({ time, order, id: "id" }, after));
      const rows = await query.orderBy(time, order).orderBy("id").limit(limit).execute();
      return rows.map(submissionOfRow);
    },

    async listForms() {
      const rows = await db
        .selectFrom("kyc_submissions")
        .select(["id", "sealed_form"])
        .orderBy("id")
        .execute();
      return rows.map(({ id, sealed_form }) => ({ submissionId: id, sealedForm: sealed_form }));
    },

    async resealForm(submissionId, { from, to }) {
      const { numUpdatedRows } = await db
        .updateTable("kyc_submissions")
        .set({ sealed_form: to })
        .where("id", "=", submissionId)
        .where("sealed_form", "=", from)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async decideKyc({ submissionId, status, reason, decidedBy, at }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const decided = await transaction
          .updateTable("kyc_submissions")
          .set({ status, reason, decided_by: decidedBy, decided_at: at })
          .where("id", "=", submissionId)
          .where("status", "=", "PENDING")
          .returning("person_id")
          .executeTakeFirst();
        if (decided === undefined) return false;
        await transaction
          .updateTable("people")
          .set({ kyc: status, kyc_reason: status === "REJECTED" ? reason : null })
          .where("id", "=", decided.person_id)
          .execute();
        return true;
      });
    },
  } satisfies Partial<PeopleStore>;
}

function submissionOfRow(row: Selectable<Tables["kyc_submissions"]>): KycSubmission {
  return {
    submissionId: row.id,
    personId: row.person_id,
    sealedForm: row.sealed_form,
    status: row.status,
    submittedAt: row.submitted_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    reason: row.reason,
  };
}
