// Operators' pages about people: identity forms to be decided, who there is, and what was done.
import { z } from "zod";
import { KYC_STATUSES } from "../../domain/person.ts";
import { DashboardError } from "../errors.ts";
import { PAGE_ROWS, pageOf, pageQuery, placeText } from "../paging.ts";
import { presentKey, presentName } from "../present/keys.ts";
import { presentAudit, presentPerson, presentSubmissions } from "../present/people.ts";
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
        strategies: strategies.map(presentName),
        keys: keys.map((key) => presentKey(key, strategyById, uses)),
        submissions: await presentSubmissions(store, await store.listKycOf(personId)),
        audit: await auditOf(parts, personId),
      };
      return { body };
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

function submissionIdOf({ params }: Pick<DashboardCall, "params">): string {
  const { submissionId = "" } = params;
  return submissionId;
}

/** The newest of what a person did and what was done to them. */
async function auditOf(parts: Parts, personId: string): Promise<readonly AuditShape[]> {
  const store = peopleOf(parts);
  return await presentAudit(store, await store.listAudit({ personId, limit: PAGE_ROWS }));
}
