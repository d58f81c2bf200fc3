// Identity verification: the rules for a form, its seal, and its single decision.
import { describe, expect, test } from "vitest";
import { readMasterKey } from "../../keys/master-key.ts";
import { isSealedBy } from "../../keys/sealing.ts";
import { fileOf, newLine, newMasterKey, writeLines } from "../../keys/testing/master-keys.ts";
import { openFactorFixture } from "../testing/fixture.ts";
import { COUNTRIES } from "./countries.ts";
import { Kyc, type KycDecision } from "./kyc.ts";
import { KYC_FORM, type KycForm } from "./kyc-form.ts";
import { resealForms } from "./sealed-forms.ts";

const FORM: KycForm = {
  fullName: "Ada Lovelace",
  birthDate: "1990-05-17",
  country: "GB",
  address: "12 St James's Square\nLondon",
  documentKind: "PASSPORT",
  documentNumber: "X-1234567",
};
const APPROVED = { status: "APPROVED", reason: null } as const;
const REJECTED = { status: "REJECTED", reason: "The photograph cannot be seen." } as const;

async function openFixture(master = newMasterKey()) {
  const fixture = await openFactorFixture(master);
  const told: [email: string, decision: KycDecision][] = [];
  const parts = { store: fixture.store.people, master: fixture.master, wallNow: fixture.now };
  const newKyc = () =>
    new Kyc({ ...parts, tell: ({ email }, decision) => void told.push([email, decision]) });
  return { ...fixture, told, newKyc, kyc: newKyc() };
}

/** What is wrong with a form, by field. */
function faultsOf(change: Partial<Record<keyof KycForm, unknown>>): string[] {
  const parsed = KYC_FORM.safeParse({ ...FORM, ...change });
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."));
}

describe("a form", () => {
  test("is as it was typed, without what surrounds it, in composed characters", () => {
    expect(KYC_FORM.parse(FORM)).toEqual(FORM);
    expect(KYC_FORM.parse({ ...FORM, fullName: "  Zoe\u0308 Nuñez " }).fullName).toBe("Zoë Nuñez");
  });

  test.each([
    ["fullName", ["", "  ", "A", "12345", "Ada\nLovelace", "A\u0000da", "x".repeat(201), null, 7]],
    ["birthDate", ["", "17.05.1990", "1990-13-01", "1990-02-30", "1990-5-17", "1990-05-17T00:00", null]],
    ["country", ["", "gb", "GBR", "XX", "UK", "EU", null]],
    ["address", ["", "here", "12 Street\u0007 London", "x".repeat(501), null]],
    ["documentKind", ["", "passport", "LIBRARY_CARD", null]],
    ["documentNumber", ["", "12", "12<script>", "1".repeat(51), null]],
  ] as const)("is refused with a %s that cannot be one", (field, values) => {
    for (const value of values) expect(faultsOf({ [field]: value }), String(value)).toContain(field);
  });

  test("is refused with a field that is not known", () => {
    expect(KYC_FORM.safeParse({ ...FORM, status: "APPROVED" }).success).toBe(false);
  });

  test("may name any country of ISO 3166-1", () => {
    expect(COUNTRIES.size).toBe(249);
    for (const country of COUNTRIES) expect(faultsOf({ country })).toEqual([]);
  });

  // The fixture begins in the first minute of 1 January 2026, UTC.
  test.each([
    ["2008-01-01", "of a person who turns 18 today", true],
    ["2008-01-02", "of a person who turns 18 tomorrow", false],
    ["2026-01-02", "in the future", false],
    ["1906-01-02", "119 years ago", true],
    ["1906-01-01", "120 years ago", false],
    ["0001-01-01", "long ago", false],
  ])("with the date of birth %s, %s, is taken: %s", async (birthDate, _what, isTaken) => {
    const { kyc, newPerson } = await openFixture();
    const fault = await kyc.submit(await newPerson(), { ...FORM, birthDate });
    if (isTaken) expect(fault).toBeNull();
    else expect(fault).toEqual({ fields: { birthDate: expect.any(String) } });
  });
});

describe("from submission to decision", () => {
  test("a person is pending, then approved; operators see the form, which is audited each time", async () => {
    const { kyc, newPerson, store, told } = await openFixture();
    const person = await newPerson();
    const operator = await newPerson({ role: "OPERATOR" });
    expect(await kyc.submit(person, FORM)).toBeNull();
    expect(await kyc.statusOf(person.personId)).toMatchObject({ status: "PENDING", reason: null });
    const [{ submissionId = "" } = {}] = await kyc.queue("PENDING", { limit: 10 });
    expect((await kyc.view(submissionId, operator))?.form).toEqual(FORM);
    expect(await kyc.decide(submissionId, APPROVED, operator)).toBe("DONE");
    expect(await kyc.statusOf(person.personId)).toMatchObject({
      status: "APPROVED",
      last: { decidedBy: operator.personId, status: "APPROVED" },
    });
    expect(told).toEqual([[person.email, APPROVED]]);
    expect(await kyc.queue("PENDING", { limit: 10 })).toEqual([]);
    expect(await kyc.queue("APPROVED", { limit: 10 })).toMatchObject([{ submissionId }]);
    const audit = await store.people.listAudit({ personId: person.personId, limit: 10 });
    expect(audit.map(({ what, who }) => [what, "personId" in who ? who.personId : who.kind])).toEqual([
      ["KYC_APPROVED", operator.personId],
      ["KYC_VIEWED", operator.personId],
      ["KYC_SUBMITTED", person.personId],
      ["SIGNED_UP", "SERVICE"],
    ]);
  });

  test("a rejected person reads the reason and may submit again; neither a pending nor an approved one may", async () => {
    const { kyc, newPerson, told, pass } = await openFixture();
    const person = await newPerson();
    const operator = await newPerson({ role: "OPERATOR" });
    const submit = async () => {
      pass(1_000);
      const fault = await kyc.submit(person, FORM);
      const last = (await kyc.statusOf(person.personId)).last;
      return { fault, submissionId: last?.submissionId ?? "" };
    };
    const first = await submit();
    expect(await submit()).toEqual({ fault: "NOT_NOW", submissionId: first.submissionId });
    expect(await kyc.decide(first.submissionId, REJECTED, operator)).toBe("DONE");
    expect(await kyc.statusOf(person.personId)).toMatchObject({
      status: "REJECTED",
      reason: REJECTED.reason,
    });
    const second = await submit();
    expect(second.fault).toBeNull();
    expect(second.submissionId).not.toBe(first.submissionId);
    expect(await kyc.statusOf(person.personId)).toMatchObject({ status: "PENDING", reason: null });
    expect(await kyc.decide(second.submissionId, APPROVED, operator)).toBe("DONE");
    expect((await submit()).fault).toBe("NOT_NOW");
    expect(told.map(([, { status }]) => status)).toEqual(["REJECTED", "APPROVED"]);
  });

  test("of two operators who decide at once one decides, and the person is notified once", async () => {
    const { newKyc, newPerson, told, store, pass } = await openFixture();
    const operators = [await newPerson({ role: "OPERATOR" }), await newPerson({ role: "OPERATOR" })];
    for (let round = 0; round < 10; round += 1) {
      pass(1_000);
      const person = await newPerson();
      await newKyc().submit(person, FORM);
      const [{ submissionId = "" } = {}] = await store.people.listKycOf(person.personId);
      const outcomes = await Promise.all(
        operators.map((operator, index) =>
          newKyc().decide(submissionId, index === 0 ? APPROVED : REJECTED, operator),
        ),
      );
      expect(outcomes.toSorted()).toEqual(["DECIDED", "DONE"]);
      const expected = outcomes[0] === "DONE" ? "APPROVED" : "REJECTED";
      expect((await store.people.findPerson(person.personId))?.kyc).toBe(expected);
      expect(told.splice(0)).toMatchObject([[person.email, { status: expected }]]);
      const audit = await store.people.listAudit({ personId: person.personId, limit: 10 });
      expect(audit.filter(({ what }) => /^KYC_(APPROVED|REJECTED)$/.test(what))).toHaveLength(1);
    }
  });

  test("of two forms that one person submits at once one is taken", async () => {
    const { newKyc, newPerson, store } = await openFixture();
    const person = await newPerson();
    const faults = await Promise.all([newKyc().submit(person, FORM), newKyc().submit(person, FORM)]);
    expect(faults.filter((fault) => fault === null)).toHaveLength(1);
    expect(await store.people.listKycOf(person.personId)).toHaveLength(1);
  });

  test("nobody decides about themselves, nor about what there is not", async () => {
    const { kyc, newPerson, store } = await openFixture();
    const person = await newPerson();
    await kyc.submit(person, FORM);
    const [{ submissionId = "" } = {}] = await store.people.listKycOf(person.personId);
    expect(await kyc.decide(submissionId, APPROVED, { ...person, role: "OPERATOR" })).toBe("OWN");
    expect((await store.people.findPerson(person.personId))?.kyc).toBe("PENDING");
    const operator = await newPerson({ role: "OPERATOR" });
    expect(await kyc.decide("nothing", APPROVED, operator)).toBe("NONE");
    expect(await kyc.view("nothing", operator)).toBeNull();
  });

  test("forms are resealed after a rotation, decided or not, all at once or when they are read", async () => {
    const line = newLine();
    const { kyc, master, newPerson, store } = await openFixture(readMasterKey(fileOf(line)));
    const operator = await newPerson({ role: "OPERATOR" });
    const ids: string[] = [];
    for (const decision of [APPROVED, null, null]) {
      const person = await newPerson();
      await kyc.submit(person, FORM);
      const [{ submissionId = "" } = {}] = await store.people.listKycOf(person.personId);
      if (decision !== null) await kyc.decide(submissionId, decision, operator);
      ids.push(submissionId);
    }
    const versions = () =>
      Promise.all(
        ids.map(async (id) => (isSealedBy(2, (await store.people.findKyc(id))?.sealedForm ?? "") ? 2 : 1)),
      );
    writeLines(master.file, line, newLine());
    master.lookAgain();
    master.useNewest();
    expect((await kyc.view(ids[2] ?? "", operator))?.form).toEqual(FORM);
    expect(await versions()).toEqual([1, 1, 2]);
    expect(await resealForms(store.people, master)).toBe(2);
    expect(await versions()).toEqual([2, 2, 2]);
    expect(await resealForms(store.people, master)).toBe(0);
    for (const id of ids) expect((await kyc.view(id, operator))?.form).toEqual(FORM);
  });

  test("the form is nowhere in the database as it was typed, and in its own row alone it opens", async () => {
    const { kyc, master, newPerson, now, store } = await openFixture();
    const [one, other] = [await newPerson(), await newPerson()];
    const operator = await newPerson({ role: "OPERATOR" });
    await kyc.submit(one, FORM);
    await kyc.submit(other, { ...FORM, fullName: "Charles Babbage" });
    const [mine] = await store.people.listKycOf(one.personId);
    const [theirs] = await store.people.listKycOf(other.personId);
    if (mine === undefined || theirs === undefined) throw new Error("both were submitted");
    const kept = JSON.stringify([mine, theirs, await store.people.listAudit({ limit: 100 })]);
    for (const each of [FORM.fullName, FORM.documentNumber, "Lovelace", "1990-05-17"]) {
      expect(kept).not.toContain(each);
    }
    const moved = { ...mine, sealedForm: theirs.sealedForm };
    const swapped = new Kyc({
      store: { ...store.people, findKyc: async () => moved },
      master,
      tell: () => {},
      wallNow: now,
    });
    const right = new Kyc({ store: store.people, master, tell: () => {}, wallNow: now });
    expect((await right.view(mine.submissionId, operator))?.form).toEqual(FORM);
    await expect(swapped.view(mine.submissionId, operator)).rejects.toThrow(/does not open/);
  });
});
