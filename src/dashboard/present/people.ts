// People, and what was done to them, as the browser gets them.
import type { AuditRecord } from "../../domain/audit.ts";
import type { Person } from "../../domain/person.ts";
import type { KycSubmission, PeopleStore } from "../../store/people-store.ts";
import type { AuditShape, KycEntryShape, PersonShape } from "../shapes.ts";

type Finding = Pick<PeopleStore, "findPerson">;

export function presentPerson(person: Person): PersonShape {
  const {
    personId,
    email,
    name,
    role,
    profile,
    isEmailVerified,
    kyc,
    kycReason,
    hasSecondFactor,
    lockedAt,
    closedAt,
    createdAt,
  } = person;
  return {
    personId,
    email,
    name,
    role,
    profile,
    isEmailVerified,
    kyc,
    kycReason,
    hasSecondFactor,
    lockedAt,
    closedAt,
    createdAt,
  };
}

/** Records of the audit, with the e-mail addresses of those who acted. */
export async function presentAudit(
  store: Finding,
  records: readonly AuditRecord[],
): Promise<readonly AuditShape[]> {
  const people = await findAll(
    store,
    records.map(({ who }) => ("personId" in who ? who.personId : null)),
  );
  return records.map(({ position, at, what, who, about, details, hash }) => ({
    position,
    at,
    what,
    who: "personId" in who ? (people.get(who.personId)?.email ?? who.personId) : ACTORS[who.kind],
    about,
    details,
    hash,
  }));
}

const ACTORS = { COMMAND_LINE: "Command line", SERVICE: "System" } as const;

/** Submissions of identity forms without the forms, with who submitted them and who decided. */
export async function presentSubmissions(
  store: Finding,
  submissions: readonly KycSubmission[],
): Promise<readonly KycEntryShape[]> {
  const people = await findAll(
    store,
    submissions.flatMap(({ personId, decidedBy }) => [personId, decidedBy]),
  );
  return submissions.map(({ submissionId, personId, status, submittedAt, decidedAt, decidedBy, reason }) => {
    const person = people.get(personId);
    if (person === undefined) throw new Error(`a form was submitted by nobody: ${submissionId}`);
    return {
      submissionId,
      person: presentPerson(person),
      status,
      submittedAt,
      decidedAt,
      decidedBy: decidedBy === null ? null : (people.get(decidedBy)?.email ?? decidedBy),
      reason,
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
