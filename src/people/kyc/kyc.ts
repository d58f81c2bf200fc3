// Identity verification (KYC): a person submits a form, an operator looks at it and approves or rejects it, with a reason. Who was
// rejected may submit again; who was approved may use the API.
//
// The form is kept sealed, and opened for operators alone: each time it is opened is audited before it is shown. The store decides
// each submission once, whichever operator comes first.
// Source: specification, section 1 (the API is unavailable until approval).
import { randomUUID } from "node:crypto";
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { KycStatus, Person } from "../../domain/person.ts";
import type { MasterKey } from "../../identity/master-key.ts";
import type { KycSubmission, PageQuery, PeopleStore } from "../../store/people-store.ts";
import { actorOf } from "../second-factor.ts";
import { faultOfBirthDate, KYC_FORM, type KycForm } from "./kyc-form.ts";
import { openForm, resealForm, sealForm } from "./sealed-forms.ts";

/** Why a form was not taken: by field what is wrong, or that there is one that is pending or approved. */
export type KycFault = { readonly fields: Readonly<Record<string, string>> } | "NOT_NOW";

export type KycDecision =
  | { readonly status: "APPROVED"; readonly reason: null }
  | { readonly status: "REJECTED"; readonly reason: string };

/** Has a person told what has been decided. */
export type TellDecision = (person: Person, decision: KycDecision) => void;

export class Kyc {
  readonly #store: PeopleStore;
  readonly #master: MasterKey;
  readonly #tell: TellDecision;
  readonly #wallNow: () => number;

  constructor(parts: {
    store: PeopleStore;
    master: MasterKey;
    tell: TellDecision;
    /** Wall time, Unix ms. */
    wallNow: () => number;
  }) {
    this.#store = parts.store;
    this.#master = parts.master;
    this.#tell = parts.tell;
    this.#wallNow = parts.wallNow;
  }

  /** Submits a form that its schema has read; null if it was taken. */
  async submit(person: Person, form: KycForm): Promise<KycFault | null> {
    const now = this.#wallNow();
    const fault = faultOfBirthDate(form.birthDate, now);
    if (fault !== null) return { fields: { birthDate: fault } };
    const submissionId = randomUUID();
    const sealedForm = sealForm(this.#master, submissionId, JSON.stringify(form));
    const { personId } = person;
    const isTaken = await this.#store.submitKyc(
      { submissionId, personId, sealedForm, submittedAt: now },
      {
        who: actorOf(person),
        what: "KYC_SUBMITTED",
        about: { kind: "PERSON", id: personId },
        at: now,
        details: { submissionId },
      },
    );
    return isTaken ? null : "NOT_NOW";
  }

  /** How far a person has come; what was last submitted, if anything was. */
  async statusOf(personId: string): Promise<{
    readonly status: KycStatus;
    readonly reason: string | null;
    readonly last: KycSubmission | null;
  }> {
    const [person, [last]] = await Promise.all([
      this.#store.findPerson(personId),
      this.#store.listKycOf(personId),
    ]);
    return { status: person?.kyc ?? "NONE", reason: person?.kycReason ?? null, last: last ?? null };
  }

  /** Submissions of a status: pending ones oldest first, decided ones newest first. */
  async queue(status: KycSubmission["status"], page: PageQuery): Promise<readonly KycSubmission[]> {
    return await this.#store.listKyc(status, page);
  }

  /** A submission and its form, opened for an operator; that it was is audited first. Null if there is none. */
  async view(
    submissionId: string,
    operator: Person,
  ): Promise<{ readonly submission: KycSubmission; readonly form: KycForm } | null> {
    const submission = await this.#store.findKyc(submissionId);
    if (submission === null) return null;
    await this.#store.audit(this.#recordOf(submission, operator, "KYC_VIEWED"));
    const form = KYC_FORM.parse(JSON.parse(openForm(this.#master, submission)));
    // One that was submitted while the master key was rotated was not yet sealed with the new version.
    await resealForm(this.#store, this.#master, submission);
    return { submission, form };
  }

  /**
   * Decides a submission and tells the person. NONE: there is none of this id. OWN: an operator does not decide about
   * themselves. DECIDED: somebody was faster.
   */
  async decide(
    submissionId: string,
    decision: KycDecision,
    operator: Person,
  ): Promise<"DONE" | "NONE" | "OWN" | "DECIDED"> {
    const submission = await this.#store.findKyc(submissionId);
    if (submission === null) return "NONE";
    if (submission.personId === operator.personId) return "OWN";
    const { status, reason } = decision;
    const audit = this.#recordOf(
      submission,
      operator,
      status === "APPROVED" ? "KYC_APPROVED" : "KYC_REJECTED",
      reason,
    );
    const isDecided = await this.#store.decideKyc(
      { submissionId, status, reason, decidedBy: operator.personId, at: audit.at },
      audit,
    );
    if (!isDecided) return "DECIDED";
    const person = await this.#store.findPerson(submission.personId);
    if (person !== null) this.#tell(person, decision);
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
      at: this.#wallNow(),
      details: { submissionId, ...(reason === null ? {} : { reason }) },
    };
  }
}
