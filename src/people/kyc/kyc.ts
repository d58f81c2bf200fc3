// Identity verification (KYC): a person submits a form, and an operator approves it, or rejects it with a
// reason. Rejected people may submit again; approved people may use the API. The store has the form sealed.
// Only operators open it, and each opening is audited before the form is shown. The store accepts one
// decision for each submission. Source: specification, section 1 (the API is unavailable until approval).
import { randomUUID } from "node:crypto";
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { KycStatus, Person } from "../../domain/person.ts";
import type { MasterKey } from "../../keys/master-key.ts";
import type { KycSubmission, PageQuery, PeopleStore } from "../../store/ports/people.ts";
import { actorOf } from "../second-factor.ts";
import { faultOfBirthDate, KYC_FORM, type KycForm } from "./kyc-form.ts";
import { openForm, resealForm, sealForm } from "./sealed-forms.ts";

/** Why a form is rejected: what is wrong with each field, or that another one is pending or approved. */
export type KycFault = { readonly fields: Readonly<Record<string, string>> } | "NOT_NOW";

export type KycDecision =
  | { readonly status: "APPROVED"; readonly reason: null }
  | { readonly status: "REJECTED"; readonly reason: string };

/** Notifies a person of a decision. */
export type TellDecision = (person: Person, decision: KycDecision) => void;

type Parts = {
  readonly store: PeopleStore;
  readonly master: MasterKey;
  readonly tell: TellDecision;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

export class Kyc {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Submits a form that its schema has parsed; null if it is accepted. */
  async submit(person: Person, form: KycForm): Promise<KycFault | null> {
    const now = this.#parts.wallNow();
    const fault = faultOfBirthDate(form.birthDate, now);
    if (fault !== null) return { fields: { birthDate: fault } };
    const submissionId = randomUUID();
    const sealedForm = sealForm(this.#parts.master, submissionId, JSON.stringify(form));
    const { personId } = person;
    const isAccepted = await this.#parts.store.submitKyc(
      { submissionId, personId, sealedForm, submittedAt: now },
      {
        who: actorOf(person),
        what: "KYC_SUBMITTED",
        about: { kind: "PERSON", id: personId },
        at: now,
        details: { submissionId },
      },
    );
    return isAccepted ? null : "NOT_NOW";
  }

  /** The status of a person, and the last submission, if there is one. */
  async statusOf(personId: string): Promise<{
    readonly status: KycStatus;
    readonly reason: string | null;
    readonly last: KycSubmission | null;
  }> {
    const [person, [last]] = await Promise.all([
      this.#parts.store.findPerson(personId),
      this.#parts.store.listKycOf(personId),
    ]);
    return { status: person?.kyc ?? "NONE", reason: person?.kycReason ?? null, last: last ?? null };
  }

  /** Submissions of a status: pending ones oldest first, decided ones newest first. */
  async queue(status: KycSubmission["status"], page: PageQuery): Promise<readonly KycSubmission[]> {
    return await this.#parts.store.listKyc(status, page);
  }

  /** A submission and its form, opened for an operator, which is audited first. Null if there is none. */
  async view(
    submissionId: string,
    operator: Person,
  ): Promise<{ readonly submission: KycSubmission; readonly form: KycForm } | null> {
    const submission = await this.#parts.store.findKyc(submissionId);
    if (submission === null) return null;
    await this.#parts.store.audit(this.#recordOf(submission, operator, "KYC_VIEWED"));
    const form = KYC_FORM.parse(JSON.parse(openForm(this.#parts.master, submission)));
    // A form that was submitted during a rotation of the master key is sealed with the previous version.
    await resealForm(this.#parts.store, this.#parts.master, submission);
    return { submission, form };
  }

  /**
   * Decides a submission and notifies the person. NONE: there is none of this id. OWN: operators do not
   * decide about themselves. DECIDED: another operator was faster.
   */
  async decide(
    submissionId: string,
    decision: KycDecision,
    operator: Person,
  ): Promise<"DONE" | "NONE" | "OWN" | "DECIDED"> {
    const submission = await this.#parts.store.findKyc(submissionId);
    if (submission === null) return "NONE";
    if (submission.personId === operator.personId) return "OWN";
    const { status, reason } = decision;
    const audit = this.#recordOf(
      submission,
      operator,
      status === "APPROVED" ? "KYC_APPROVED" : "KYC_REJECTED",
      reason,
    );
    const isDecided = await this.#parts.store.decideKyc(
      { submissionId, status, reason, decidedBy: operator.personId, at: audit.at },
      audit,
    );
    if (!isDecided) return "DECIDED";
    const person = await this.#parts.store.findPerson(submission.personId);
    if (person !== null) this.#parts.tell(person, decision);
    return "DONE";
  }

  #recordOf(
    { submissionId, personId }: KycSubmission,
    operator: Person,
    what: "KYC_VIEWED" | "KYC_APPROVED" | "KYC_REJECTED",
    reason: string | null = null,
  ): NewAuditRecord {
    return {
      who: actorOf(operator),
      what,
      about: { kind: "PERSON", id: personId },
      at: this.#parts.wallNow(),
      details: { submissionId, ...(reason === null ? {} : { reason }) },
    };
  }
}
