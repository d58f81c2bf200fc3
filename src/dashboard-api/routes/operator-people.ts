// Operators' pages about people: identity forms to be decided, the list of people, and the audit.
import { z } from "zod";
import type { Person } from "../../domain/person.ts";
import { KYC_STATUSES } from "../../domain/person.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError, existing } from "../errors.ts";
import { PAGE_ROWS, pageOf, pageQuery, placeText } from "../paging.ts";
import { auditAnswers, submissionAnswers } from "../people-names.ts";
import { lineField } from "../reading.ts";
import { type DashboardCall, personOf, route } from "../route.ts";
import { nothing, page } from "../schemas/fields.ts";
import { kycDetailSchema, kycEntrySchema, personDetailSchema } from "../schemas/operators.ts";
import { auditSchema, personSchema } from "../schemas/people.ts";
import { keyAnswers } from "./keys.ts";

const REASON_LENGTH_MAX = 1_000;
const SEARCH_LENGTH_MAX = 254;
const LOCK_REASON_LENGTH_MAX = 200;

/** The person reads it, in a mail too. */
const reason = z
  .string()
  .trim()
  .min(1, "is empty: the person receives it")
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

export const OPERATOR_PEOPLE_ROUTES = [
  route("GET /operator/kyc", "OPERATOR", page(kycEntrySchema), {
    query: queued,
    async answer({ parts, query }) {
      const { status, before } = query;
      const found = await parts.people.kyc.queue(status, { after: before, limit: PAGE_ROWS + 1 });
      const shown = await submissionAnswers(peopleOf(parts), found);
      return {
        body: pageOf(
          shown,
          ({ submittedAt, decidedAt, submissionId }) => `${decidedAt ?? submittedAt}-${submissionId}`,
        ),
      };
    },
  }),

  route("GET /operator/kyc/:submissionId", "OPERATOR", kycDetailSchema, async (call) => {
    const viewed = existing(await call.parts.people.kyc.view(call.params.submissionId, personOf(call)));
    const store = peopleOf(call.parts);
    const { submission, form } = viewed;
    const [entry] = await submissionAnswers(store, [submission]);
    if (entry === undefined) throw new Error("every submission has an answer");
    return { body: { ...entry, form, audit: await auditOf(call.parts, submission.personId) } };
  }),

  route("POST /operator/kyc/:submissionId/decision", "OPERATOR", kycEntrySchema, {
    body: decision,
    async answer(call) {
      const { kyc } = call.parts.people;
      const submissionId = call.params.submissionId;
      const outcome = await kyc.decide(submissionId, call.body, personOf(call));
      if (outcome === "NONE") throw new DashboardError("NOT_FOUND");
      if (outcome === "OWN") {
        throw new DashboardError("NOT_FOR_YOU", { action: "Have another operator decide about you." });
      }
      if (outcome === "DECIDED") throw new DashboardError("STATE_CHANGED");
      const store = peopleOf(call.parts);
      const decided = await store.findKyc(submissionId);
      const [entry] = await submissionAnswers(store, decided === null ? [] : [decided]);
      if (entry === undefined) throw new Error(`a form that was decided stays: ${submissionId}`);
      return { body: entry };
    },
  }),

  route("GET /operator/people", "OPERATOR", page(personSchema), {
    query: searched,
    async answer({ parts, query }) {
      const { search, kyc, before } = query;
      const found = await peopleOf(parts).listPeople({
        search: search === "" ? undefined : search,
        kyc,
        after: before,
        limit: PAGE_ROWS + 1,
      });
      return { body: pageOf(found, ({ createdAt, personId }) => `${createdAt}-${personId}`) };
    },
  }),

  route("GET /operator/people/:personId", "OPERATOR", personDetailSchema, async ({ parts, params }) => {
    const store = peopleOf(parts);
    const { personId } = params;
    const person = existing(await store.findPerson(personId));
    const keys = (await store.listKeysOf(personId)).map(({ key }) => key);
    return {
      body: {
        person,
        contents: await parts.people.control.contentsOf(personId),
        strategies: await store.listStrategiesOf(personId),
        keys: await keyAnswers(parts, personId, keys),
        submissions: await submissionAnswers(store, await store.listKycOf(personId)),
        audit: await auditOf(parts, personId),
      },
    };
  }),

  route("POST /operator/people/:personId/end-sessions", "OPERATOR", nothing, {
    onlyStops: true,
    async answer(call) {
      await controlOf(call).endSessions(await otherPerson(call), operatorOf(call));
      return { body: {} };
    },
  }),

  route("POST /operator/people/:personId/lock", "OPERATOR", nothing, {
    onlyStops: true,
    body: z.strictObject({ reason: lineField(LOCK_REASON_LENGTH_MAX) }),
    async answer(call) {
      demandChanged(await controlOf(call).lock(await otherPerson(call), operatorOf(call), call.body.reason));
      return { body: {} };
    },
  }),

  route("POST /operator/people/:personId/unlock", "OPERATOR", nothing, async (call) => {
    demandChanged(await controlOf(call).unlock(await otherPerson(call), operatorOf(call)));
    return { body: {} };
  }),

  route("POST /operator/people/:personId/reset-second-factor", "OPERATOR", nothing, {
    body: z.strictObject({ code: codeText }),
    async answer(call) {
      const person = await otherPerson(call);
      await demandCode(call, call.body.code);
      demandChanged(await controlOf(call).resetSecondFactor(person, operatorOf(call)));
      return { body: {} };
    },
  }),

  route("POST /operator/people/:personId/keys/:keyId/revoke", "OPERATOR", nothing, {
    onlyStops: true,
    async answer(call) {
      const { keyId } = call.params;
      existing(await controlOf(call).revokeKey(await otherPerson(call), keyId, operatorOf(call)));
      return { body: {} };
    },
  }),

  route("POST /operator/people/:personId/close", "OPERATOR", nothing, {
    body: z.strictObject({ code: codeText }),
    async answer(call) {
      const person = await otherPerson(call);
      await demandCode(call, call.body.code);
      demandChanged(await controlOf(call).close(person, operatorOf(call)));
      return { body: {} };
    },
  }),

  route("GET /operator/audit", "OPERATOR", page(auditSchema), {
    query: pageQuery,
    async answer({ parts, query }) {
      const found = await peopleOf(parts).listAudit({ ...query, limit: PAGE_ROWS + 1 });
      const shown = await auditAnswers(peopleOf(parts), found);
      return { body: pageOf(shown, ({ position }) => String(position)) };
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

/**
 * The person that an operator may act on. Throws NOT_FOUND, or NOT_FOR_YOU for operators: a stolen operator
 * account must not lock out others.
 */
async function otherPerson(
  call: Pick<DashboardCall<unknown, unknown, "personId">, "parts" | "params">,
): Promise<Person> {
  const person = existing(await peopleOf(call.parts).findPerson(call.params.personId));
  if (person.role === "OPERATOR") {
    throw new DashboardError("NOT_FOR_YOU", {
      message: "Operators are locked, reset and closed by the command line alone.",
      action: "Use “lyrebird person” on the machine of the server.",
    });
  }
  return person;
}

/** Throws STATE_CHANGED where nothing was left to change. */
function demandChanged(isChanged: boolean): void {
  if (!isChanged) throw new DashboardError("STATE_CHANGED");
}

/** The newest records of a person's actions and of actions about them. */
async function auditOf(parts: Parts, personId: string): Promise<readonly z.output<typeof auditSchema>[]> {
  const store = peopleOf(parts);
  return await auditAnswers(store, await store.listAudit({ personId, limit: PAGE_ROWS }));
}
