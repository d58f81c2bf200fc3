// Records of the audit and identity forms, with the e-mail addresses of the people in them.
import type { z } from "zod";
import type { AuditRecord } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { KycSubmission, PeopleStore } from "../store/ports/people.ts";
import type { kycEntrySchema } from "./schemas/operators.ts";
import type { auditSchema } from "./schemas/people.ts";

type Finding = Pick<PeopleStore, "findPerson">;

const ACTORS = { COMMAND_LINE: "Command line", SERVICE: "System" } as const;

export async function auditAnswers(
  store: Finding,
  records: readonly AuditRecord[],
): Promise<readonly z.output<typeof auditSchema>[]> {
  const people = await findAll(
    store,
    records.map(({ who }) => ("personId" in who ? who.personId : null)),
  );
  return records.map(({ who, ...record }) => ({
    ...record,
    who: "personId" in who ? (people.get(who.personId)?.email ?? who.personId) : ACTORS[who.kind],
  }));
}

/** Submissions of identity forms without the forms, with who submitted them and who decided. */
export async function submissionAnswers(
  store: Finding,
  submissions: readonly KycSubmission[],
): Promise<readonly z.output<typeof kycEntrySchema>[]> {
  const people = await findAll(
    store,
    submissions.flatMap(({ personId, decidedBy }) => [personId, decidedBy]),
  );
  return submissions.map(({ personId, decidedBy, ...submission }) => {
    const person = people.get(personId);
    if (person === undefined) throw new Error(`a form has a person: ${submission.submissionId}`);
    return {
      ...submission,
      person,
      decidedBy: decidedBy === null ? null : (people.get(decidedBy)?.email ?? decidedBy),
    };
  });
}

async function findAll(
  store: Finding,
  personIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, Person>> {
  const wanted = [...new Set(personIds.filter((id) => id !== null))];
  const found = await Promise.all(wanted.map((id) => store.findPerson(id)));
  return new Map(found.filter((person) => person !== null).map((person) => [person.personId, person]));
}
