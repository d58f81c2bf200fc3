// Operators' pages about people: identity forms to be decided, who there is, and what was done.
import { z } from "zod";
import type { Person } from "../../domain/person.ts";
import { KYC_STATUSES } from "../../domain/person.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { PAGE_ROWS, pageOf, pageQuery, placeText } from "../paging.ts";
import { presentKey, presentName } from "../present/keys.ts";
import { presentAudit, presentPerson, presentSubmissions } from "../present/people.ts";
import { lineField } from "../reading.ts";
import { type DashboardCall, type DashboardRoute, personOf, route } from "../route.ts";
import type {
  AuditShape,
  KycDetailShape,
  KycEntryShape,
  PageShape,
  PersonDetailShape,
  PersonShape,
} from "../shapes.ts";

const REASON_LENGTH_MAX = 1_000;
const SEARCH_LENGTH_MAX = 254;
const LOCK_REASON_LENGTH_MAX = 200;

/** What the person is told, in a mail too. */
const reason = z
  .string()
  .trim()
  .min(1, "is empty: the person is told it")
  .max(REASON_LENGTH_MAX)
  .refine((text) => !/[^\P{C}\n]/u.test(text), "must be plain text");
const decision = z.discriminatedUnion("status", [
  z.strictObject({ status: z.literal("APPROVED"), reason: z.null().default(null) }),
  z.strictObject({ status: z.literal("REJECTED"), reason }),
]);
const queued = z.strictObject({
  before: placeText.optional(),
  status: z.enum(["PENDING", "APPROVED", "REJECTED"]).default("PENDING"),
});
const searched = z.strictObject({
  before: placeText.optional(),
  search: z.string().trim().max(SEARCH_LENGTH_MAX).optional(),
  kyc: z.enum(KYC_STATUSES).optional(),
});

export const OPERATOR_PEOPLE_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/operator/kyc",
    access: "OPERATOR",
    query: queued,
    async answer({ parts, query }) {
      const { status, before } = query;
      const found = await parts.people.kyc.queue(status, { after: before, limit: PAGE_ROWS + 1 });
      const shown = await presentSubmissions(peopleOf(parts), found);
      const body: PageShape<KycEntryShape> = pageOf(shown, {
        present: (entry) => entry,
        next: ({ submittedAt, decidedAt, submissionId }) => `${decidedAt ?? submittedAt}-${submissionId}`,
      });
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/operator/kyc/:submissionId",
    access: "OPERATOR",
    async answer(call) {
      const viewed = await call.parts.people.kyc.view(submissionIdOf(call), personOf(call));
      if (viewed === null) throw new DashboardError("NOT_FOUND");
      const store = peopleOf(call.parts);
      const { submission, form } = viewed;
      const [entry] = await presentSubmissions(store, [submission]);
      if (entry === undefined) throw new Error("what was given is presented");
      const body: KycDetailShape = { ...entry, form, audit: await auditOf(call.parts, submission.personId) };
      return { body };
    },
  }),

  route({
    method: "POST",
    path: "/operator/kyc/:submissionId/decision",
    access: "OPERATOR",
    body: decision,
    async answer(call) {
      const { kyc } = call.parts.people;
      const submissionId = submissionIdOf(call);
      const outcome = await kyc.decide(submissionId, call.body, personOf(call));
      if (outcome === "NONE") throw new DashboardError("NOT_FOUND");
      if (outcome === "OWN") {
        throw new DashboardError("NOT_FOR_YOU", { action: "Have another operator decide about you." });
      }
      if (outcome === "DECIDED") throw new DashboardError("STATE_CHANGED");
      const store = peopleOf(call.parts);
      const decided = await store.findKyc(submissionId);
      const [entry] = await presentSubmissions(store, decided === null ? [] : [decided]);
      if (entry === undefined) throw new Error(`a form that was decided stays: ${submissionId}`);
      return { body: entry };
    },
  }),

  route({
    method: "GET",
    path: "/operator/people",
    access: "OPERATOR",
    query: searched,
    async answer({ parts, query }) {
      const { search, kyc, before } = query;
      const found = await peopleOf(parts).listPeople({
        search: search === "" ? undefined : search,
        kyc,
        after: before,
        limit: PAGE_ROWS + 1,
      });
      const body: PageShape<PersonShape> = pageOf(found, {
        present: presentPerson,
        next: ({ createdAt, personId }) => `${createdAt}-${personId}`,
      });
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/operator/people/:personId",
    access: "OPERATOR",
    async answer({ parts, params }) {
      const store = peopleOf(parts);
      const { personId = "" } = params;
      const person = await store.findPerson(personId);
      if (person === null) throw new DashboardError("NOT_FOUND");
      const strategies = await store.listStrategiesOf(personId);
      const strategyById = new Map(strategies.map((strategy) => [strategy.strategyId, strategy]));
      const keys = (await store.listKeysOf(personId)).map(({ key }) => key);
      const uses = await parts.inspection.keyUses.lastUses(keys.map(({ keyId }) => keyId));
      const body: PersonDetailShape = {
        person: presentPerson(person),
        contents: await parts.people.control.contentsOf(personId),
        strategies: strategies.map(presentName),
        keys: keys.map((key) => presentKey(key, strategyById, uses)),
        submissions: await presentSubmissions(store, await store.listKycOf(personId)),
        audit: await auditOf(parts, personId),
      };
      return { body };
    },
  }),

  route({
    method: "POST",
    path: "/operator/people/:personId/end-sessions",
    access: "OPERATOR",
    onlyStops: true,
    async answer(call) {
      await controlOf(call).endSessions(await otherPerson(call), operatorOf(call));
      return { body: {} };
    },
  }),

  route({
    method: "POST",
    path: "/operator/people/:personId/lock",
    access: "OPERATOR",
    onlyStops: true,
    body: z.strictObject({ reason: lineField(LOCK_REASON_LENGTH_MAX) }),
    async answer(call) {
      demandChanged(await controlOf(call).lock(await otherPerson(call), operatorOf(call), call.body.reason));
      return { body: {} };
    },
  }),

  route({
    method: "POST",
    path: "/operator/people/:personId/unlock",
    access: "OPERATOR",
    async answer(call) {
      demandChanged(await controlOf(call).unlock(await otherPerson(call), operatorOf(call)));
      return { body: {} };
    },
  }),

  route({
    method: "POST",
    path: "/operator/people/:personId/reset-second-factor",
    access: "OPERATOR",
    body: z.strictObject({ code: codeText }),
    async answer(call) {
      const person = await otherPerson(call);
      await demandCode(call, call.body.code);
      demandChanged(await controlOf(call).resetSecondFactor(person, operatorOf(call)));
      return { body: {} };
    },
  }),

  route({
    method: "POST",
    path: "/operator/people/:personId/keys/:keyId/revoke",
    access: "OPERATOR",
    onlyStops: true,
    async answer(call) {
      const { keyId = "" } = call.params;
      const revoked = await controlOf(call).revokeKey(await otherPerson(call), keyId, operatorOf(call));
      if (revoked === null) throw new DashboardError("NOT_FOUND");
      return { body: {} };
    },
  }),

  route({
    method: "POST",
    path: "/operator/people/:personId/close",
    access: "OPERATOR",
    body: z.strictObject({ code: codeText }),
    async answer(call) {
      const person = await otherPerson(call);
      await demandCode(call, call.body.code);
      demandChanged(await controlOf(call).close(person, operatorOf(call)));
      return { body: {} };
    },
  }),

  route({
    method: "GET",
    path: "/operator/audit",
    access: "OPERATOR",
    query: pageQuery,
    async answer({ parts, query }) {
      const found = await peopleOf(parts).listAudit({ ...query, limit: PAGE_ROWS + 1 });
      const shown = await presentAudit(peopleOf(parts), found);
      const body: PageShape<AuditShape> = pageOf(shown, {
        present: (record) => record,
        next: ({ position }) => String(position),
      });
      return { body };
    },
  }),
];

type Parts = DashboardCall["parts"];

function peopleOf({ gateway }: Parts) {
  return gateway.store.people;
}

function controlOf({ parts }: Pick<DashboardCall, "parts">) {
  return parts.people.control;
}

function operatorOf(call: Pick<DashboardCall, "signedIn">) {
  return { kind: "OPERATOR", personId: personOf(call).personId } as const;
}

/** The person that an operator may act on. Throws NOT_FOUND, or NOT_FOR_YOU for operators: a stolen operator account must not lock out others. */
async function otherPerson(call: Pick<DashboardCall, "parts" | "params">): Promise<Person> {
  const { personId = "" } = call.params;
  const person = await peopleOf(call.parts).findPerson(personId);
  if (person === null) throw new DashboardError("NOT_FOUND");
  if (person.role === "OPERATOR") {
    throw new DashboardError("NOT_FOR_YOU", {
      message: "Operators are locked, reset and closed by the command line alone.",
      action: "Use “lyrebird person” on the machine of the server.",
    });
  }
  return person;
}

/** Throws STATE_CHANGED where there was nothing to do any more. */
function demandChanged(isChanged: boolean): void {
  if (!isChanged) throw new DashboardError("STATE_CHANGED");
}

function submissionIdOf({ params }: Pick<DashboardCall, "params">): string {
  const { submissionId = "" } = params;
  return submissionId;
}

/** The newest of what a person did and what was done to them. */
async function auditOf(parts: Parts, personId: string): Promise<readonly AuditShape[]> {
  const store = peopleOf(parts);
  return await presentAudit(store, await store.listAudit({ personId, limit: PAGE_ROWS }));
}
