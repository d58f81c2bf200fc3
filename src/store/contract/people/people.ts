// People: who they are, found, listed and counted; what they submitted to be known by.
import { beforeEach, describe, expect, test } from "vitest";
import type { Person } from "../../../domain/person.ts";
import type { KycSubmission, PeopleStore } from "../../ports/people.ts";
import type { Opened } from "../store-under-test.ts";
import { actionsIn, auditOf, beginSession, countSessions, SIGNED_UP_AT, signUp } from "./people-records.ts";

export function personCases(opened: Opened): void {
  describe("people", () => {
    const { store, people } = opened;

    const ANN: Person = {
      personId: "id-ann",
      email: "ann@example.com",
      isEmailVerified: true,
      name: "ann",
      role: "PERSON",
      profile: "COPIER",
      kyc: "NONE",
      kycReason: null,
      hasSecondFactor: false,
      lockedAt: null,
      closedAt: null,
      createdAt: SIGNED_UP_AT,
    };
    const namesOf = (found: readonly Person[]) => found.map(({ name }) => name);

    test("are found by their id and their address, and nobody else is", async () => {
      await signUp(store, "ann", "bob");
      expect(await people.findPerson("id-ann")).toEqual(ANN);
      expect(await people.findPersonByEmail("ann@example.com")).toEqual(ANN);
      for (const nobody of ["", "id-an", "ann@example.co_"]) {
        expect(await people.findPerson(nobody)).toBeNull();
        expect(await people.findPersonByEmail(nobody)).toBeNull();
      }
    });

    test("have the role and the profile that they were given, which is audited", async () => {
      await signUp(store, "ann", "bob");
      for (const name of ["ann", "bob"]) await beginSession(store, name);
      await people.setRole("id-ann", "OPERATOR", auditOf("OPERATOR_CREATED", "id-ann"));
      // Of another role are other sessions.
      expect([await countSessions(store, "id-ann"), await countSessions(store, "id-bob")]).toEqual([0, 1]);
      await people.setProfile("id-ann", "TRADER", auditOf("PROFILE_CHANGED", "id-ann"));
      expect(await people.findPerson("id-ann")).toEqual({ ...ANN, role: "OPERATOR", profile: "TRADER" });
      expect(await people.findPerson("id-bob")).toMatchObject({ role: "PERSON", profile: "COPIER" });
      await expect(
        people.setRole("ghost", "OPERATOR", auditOf("OPERATOR_CREATED", "ghost")),
      ).rejects.toThrow();
      await expect(
        people.setProfile("ghost", "TRADER", auditOf("PROFILE_CHANGED", "ghost")),
      ).rejects.toThrow();
      expect(await actionsIn(store)).toEqual(["OPERATOR_CREATED", "PROFILE_CHANGED"]);
    });

    test("who are made without signing up can sign in, once for each address", async () => {
      const person = { ...ANN, role: "OPERATOR", kyc: "APPROVED" } as const;
      const made = { person, passwordHash: "$argon2id$" };
      expect(await people.createPerson(made, auditOf("OPERATOR_CREATED", "id-ann"))).toBe(true);
      expect(await people.findPerson("id-ann")).toEqual(person);
      expect(await people.findPasswordHash("id-ann")).toBe("$argon2id$");
      const again = { person: { ...person, personId: "other" }, passwordHash: "another" };
      expect(await people.createPerson(again, auditOf("OPERATOR_CREATED", "other"))).toBe(false);
      expect(await people.findPasswordHash("id-ann")).toBe("$argon2id$");
      expect(await people.findPasswordHash("other")).toBeNull();
      expect(await actionsIn(store)).toEqual(["OPERATOR_CREATED"]);
    });

    test("are listed newest first, a page at a time", async () => {
      await signUp(store, "ann", "bob", "cid");
      expect(namesOf(await people.listPeople({ limit: 9 }))).toEqual(["cid", "bob", "ann"]);
      expect(namesOf(await people.listPeople({ limit: 2 }))).toEqual(["cid", "bob"]);
      const after = { at: SIGNED_UP_AT + 1, id: "id-bob" };
      expect(namesOf(await people.listPeople({ limit: 2, after }))).toEqual(["ann"]);
    });

    test("are each on one page, also those who signed up in the same millisecond", async () => {
      const names = ["ann", "bob", "cid", "dan", "eve"];
      for (const name of names) await signUp(store, name);
      const pages: (readonly string[])[] = [];
      for (let last: Person | undefined; pages.length === 0 || last !== undefined; ) {
        const after = last && { at: last.createdAt, id: last.personId };
        const page = await people.listPeople({ limit: 2, after });
        pages.push(namesOf(page));
        last = page.at(-1);
      }
      expect(pages).toEqual([["ann", "bob"], ["cid", "dan"], ["eve"], []]);
    });

    test.each([
      ["of a name", "ob", ["bob"]],
      ["of a name, in another case", "BOB", ["bob"]],
      ["of an address", "cid@EXAMPLE", ["cid"]],
      ["of many addresses", "@example.com", ["100%", "cid", "bob", "ann"]],
      ["that stands for nothing else", "%", ["100%"]],
      ["nor this", "_", []],
      ["of an id, which must be whole", "id-b", []],
      ["that is an id", "id-bob", ["bob"]],
    ])("are listed by a part %s", async (_what, search, expected) => {
      await signUp(store, "ann", "bob", "cid", "100%");
      expect(namesOf(await people.listPeople({ search, limit: 9 }))).toEqual(expected);
    });

    test("are listed and counted by how far their identity is known", async () => {
      expect(await people.countPeople()).toEqual({ NONE: 0, PENDING: 0, APPROVED: 0, REJECTED: 0 });
      await signUp(store, "ann", "bob", "cid");
      await people.submitKyc(submissionOf("one", "id-bob"), auditOf("KYC_SUBMITTED", "id-bob"));
      expect(await people.countPeople()).toEqual({ NONE: 2, PENDING: 1, APPROVED: 0, REJECTED: 0 });
      expect(namesOf(await people.listPeople({ kyc: "PENDING", limit: 9 }))).toEqual(["bob"]);
      expect(namesOf(await people.listPeople({ kyc: "NONE", search: "c", limit: 9 }))).toEqual([
        "cid",
        "ann",
      ]);
    });
  });

  describe("what people submit to be known by", () => {
    const { store, people } = opened;
    beforeEach(async () => {
      await signUp(store, "ann", "bob");
    });

    const submit = (id: string, personId: string, submittedAt = 1_000) =>
      people.submitKyc({ ...submissionOf(id, personId), submittedAt }, auditOf("KYC_SUBMITTED", personId));
    const decide = (id: string, status: "APPROVED" | "REJECTED", at = 2_000) =>
      people.decideKyc(
        {
          submissionId: id,
          status,
          reason: status === "REJECTED" ? "unreadable" : null,
          decidedBy: "id-op",
          at,
        },
        auditOf(`KYC_${status}`, "id-op"),
      );
    const pending = (id: string, personId: string, submittedAt = 1_000) => ({
      ...submissionOf(id, personId),
      submittedAt,
      status: "PENDING",
      decidedAt: null,
      decidedBy: null,
      reason: null,
    });

    test("waits for a decision, and nothing else can be submitted before it", async () => {
      expect(await submit("one", "id-ann")).toBe(true);
      expect(await submit("two", "id-ann")).toBe(false);
      expect(await submit("three", "ghost")).toBe(false);
      expect(await people.findPerson("id-ann")).toMatchObject({ kyc: "PENDING" });
      expect(await people.findPerson("id-bob")).toMatchObject({ kyc: "NONE" });
      expect(await people.findKyc("one")).toEqual(pending("one", "id-ann"));
      for (const id of ["two", "three"]) expect(await people.findKyc(id)).toBeNull();
      expect(await actionsIn(store)).toEqual(["KYC_SUBMITTED"]);
    });

    test("is approved once, for good", async () => {
      await submit("one", "id-ann");
      expect(await decide("one", "APPROVED")).toBe(true);
      expect(await decide("one", "REJECTED")).toBe(false);
      expect(await decide("ghost", "APPROVED")).toBe(false);
      expect(await submit("two", "id-ann")).toBe(false);
      expect(await people.findPerson("id-ann")).toMatchObject({ kyc: "APPROVED", kycReason: null });
      expect(await people.findPerson("id-bob")).toMatchObject({ kyc: "NONE" });
      const decision = { status: "APPROVED", decidedAt: 2_000, decidedBy: "id-op" };
      expect(await people.findKyc("one")).toEqual({ ...pending("one", "id-ann"), ...decision });
      expect(await actionsIn(store)).toEqual(["KYC_SUBMITTED", "KYC_APPROVED"]);
    });

    test("is rejected with a reason, which stands until the next is submitted", async () => {
      await submit("one", "id-ann");
      await decide("one", "REJECTED");
      expect(await people.findPerson("id-ann")).toMatchObject({ kyc: "REJECTED", kycReason: "unreadable" });
      expect(await submit("two", "id-ann", 3_000)).toBe(true);
      expect(await people.findPerson("id-ann")).toMatchObject({ kyc: "PENDING", kycReason: null });
      expect(
        (await people.listKycOf("id-ann")).map(({ submissionId, status }) => [submissionId, status]),
      ).toEqual([
        ["two", "PENDING"],
        ["one", "REJECTED"],
      ]);
      expect(await people.listKycOf("id-bob")).toEqual([]);
    });

    test("waits in a queue, the oldest first, and is listed by its decision, the newest first", async () => {
      await signUp(store, "cid", "dan");
      const names = ["bob", "ann", "cid", "dan"];
      for (const [index, name] of names.entries()) await submit(name, `id-${name}`, 1_000 + index);
      const idsOf = async (...asked: Parameters<PeopleStore["listKyc"]>) =>
        (await people.listKyc(...asked)).map(({ submissionId }) => submissionId);
      expect(await idsOf("PENDING", { limit: 3 })).toEqual(["bob", "ann", "cid"]);
      expect(await idsOf("PENDING", { limit: 3, after: { at: 1_002, id: "cid" } })).toEqual(["dan"]);
      for (const [index, name] of ["cid", "bob", "dan"].entries())
        await decide(name, "APPROVED", 2_000 + index);
      expect(await idsOf("PENDING", { limit: 9 })).toEqual(["ann"]);
      expect(await idsOf("APPROVED", { limit: 2 })).toEqual(["dan", "bob"]);
      expect(await idsOf("APPROVED", { limit: 2, after: { at: 2_001, id: "bob" } })).toEqual(["cid"]);
      expect(await idsOf("REJECTED", { limit: 9 })).toEqual([]);
    });

    test("is on one page each, whatever came or was decided in the same millisecond", async () => {
      const names = ["ann", "bob", "cid", "dan", "eve"];
      await signUp(store, "cid", "dan", "eve");
      for (const name of names) await submit(name, `id-${name}`, 1_000);
      const walk = async (status: "PENDING" | "APPROVED") => {
        const seen: string[] = [];
        for (
          let last: KycSubmission | undefined, isFirst = true;
          isFirst || last !== undefined;
          isFirst = false
        ) {
          const after = last && { at: last.decidedAt ?? last.submittedAt, id: last.submissionId };
          const page = await people.listKyc(status, { limit: 2, after });
          seen.push(...page.map(({ submissionId }) => submissionId));
          last = page.at(-1);
        }
        return seen;
      };
      expect(await walk("PENDING")).toEqual(names);
      for (const name of names) await decide(name, "APPROVED", 2_000);
      expect(await walk("APPROVED")).toEqual(names);
    });

    test("is resealed, decided or not, unless it has changed since it was read", async () => {
      await submit("one", "id-ann");
      await submit("two", "id-bob");
      await decide("one", "APPROVED");
      expect(await people.listForms()).toEqual([
        { submissionId: "one", sealedForm: "sealed one" },
        { submissionId: "two", sealedForm: "sealed two" },
      ]);
      expect(await people.resealForm("one", { from: "sealed one", to: "newer" })).toBe(true);
      expect(await people.resealForm("one", { from: "sealed one", to: "late" })).toBe(false);
      expect(await people.resealForm("none", { from: "sealed one", to: "newer" })).toBe(false);
      expect(await people.findKyc("one")).toMatchObject({ sealedForm: "newer", status: "APPROVED" });
      expect(await people.findKyc("two")).toMatchObject({ sealedForm: "sealed two" });
    });
  });
}

function submissionOf(submissionId: string, personId: string) {
  return { submissionId, personId, sealedForm: `sealed ${submissionId}`, submittedAt: 1_000 };
}
