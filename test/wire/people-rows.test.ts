// Second factors, identity forms and operators' pages about people, in a browser.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PAGE_ROWS } from "../../src/dashboard-api/paging.ts";
import type { KycEntryJson, PageJson, PersonJson } from "../../src/dashboard-api/schemas.ts";
import type { Browser } from "../support/dashboard/client.ts";
import { type DashboardFixture, openDashboardFixture, PASSWORD } from "../support/dashboard/fixture.ts";

const FORM = {
  fullName: "Ada Lovelace",
  birthDate: "1990-05-17",
  country: "GB",
  address: "12 St James's Square\nLondon",
  documentKind: "PASSPORT",
  documentNumber: "X-1234567",
};
const REASON = "The photograph cannot be seen.";

let fixture: DashboardFixture;
beforeAll(async () => {
  fixture = await openDashboardFixture();
});
afterAll(async () => {
  await fixture.close();
});

/** People who have signed up, and submitted a form, in one millisecond. */
async function crowd(count: number): Promise<readonly string[]> {
  const { people } = fixture.gateway.store;
  const at = fixture.wallNow();
  const ids = Array.from({ length: count }, (_, index) => `crowd${String(index).padStart(4, "0")}`);
  for (const id of ids) {
    const made = { personId: id, email: `${id}@example.net`, name: id, role: "PERSON" } as const;
    const person = { ...made, profile: "COPIER", kyc: "NONE", createdAt: at } as const;
    const audit = { who: { kind: "SERVICE" }, about: { kind: "PERSON", id }, at, details: {} } as const;
    await people.createPerson({ person, passwordHash: "none" }, { ...audit, what: "SIGNED_UP" });
    const submission = { submissionId: `form-of-${id}`, personId: id, sealedForm: "none", submittedAt: at };
    await people.submitKyc(submission, { ...audit, what: "KYC_SUBMITTED" });
  }
  return ids;
}

const newPerson = () => fixture.somebody({ kyc: "NONE", hasSecondFactor: false });
const newOperator = () => fixture.somebody({ role: "OPERATOR", profile: "COPIER", kyc: "NONE" });

/** A call that is refused: its status, its code, and the fields it complains of. */
async function refusal(browser: Browser, method: string, path: string, body?: unknown) {
  const { status, body: answered } = await browser.call(method, path, { body });
  return { status, code: answered.error?.code, fields: Object.keys(answered.error?.fields ?? {}) };
}

const refused = (status: number, code: string, fields: string[] = []) => ({ status, code, fields });

describe("the second factor", () => {
  test("is set up with the password and a code, is needed from then on, and goes with a code", async () => {
    const browser = await newPerson();
    expect(await browser.get("/second-factor")).toEqual({ isEnabled: false, recoveryCodesLeft: 0 });
    const wrong = await refusal(browser, "POST", "/second-factor", { password: "not my password" });
    expect(wrong).toEqual(refused(401, "CREDENTIALS_REFUSED", ["password"]));
    const first = await browser.send("POST", "/second-factor", { password: PASSWORD });
    expect(first).toEqual({ secret: expect.stringMatching(/^[A-Z2-7]{32}$/), uri: expect.any(String) });
    expect(await refusal(browser, "POST", "/second-factor/confirm", { code: "no code" })).toEqual(
      refused(403, "CODE_REFUSED", ["code"]),
    );
    const codes = await browser.enableSecondFactor(PASSWORD);
    expect(new Set(codes).size).toBe(10);
    expect(await browser.get("/second-factor")).toEqual({ isEnabled: true, recoveryCodesLeft: 10 });
    expect((await browser.get("/session")).person).toMatchObject({ hasSecondFactor: true });
    expect(await refusal(browser, "POST", "/second-factor", { password: PASSWORD })).toEqual(
      refused(409, "STATE_CHANGED"),
    );

    const code = browser.code();
    const renewed = await browser.send("POST", "/second-factor/recovery-codes", { code });
    expect(renewed.recoveryCodes).toHaveLength(10);
    for (const used of [code, codes[0], renewed.recoveryCodes[0]]) {
      expect(await refusal(browser, "POST", "/second-factor/recovery-codes", { code: used })).toEqual(
        refused(403, "CODE_REFUSED", ["code"]),
      );
    }
    const again = fixture.browser();
    const signIn = { email: browser.email, password: PASSWORD };
    expect(await refusal(again, "POST", "/session", signIn)).toEqual(refused(401, "CODE_NEEDED"));
    expect(await refusal(again, "POST", "/session", { ...signIn, code: "123456" })).toEqual(
      refused(403, "CODE_REFUSED", ["code"]),
    );
    await again.send("POST", "/session", { ...signIn, code: renewed.recoveryCodes[0] });
    expect(await again.get("/second-factor")).toEqual({ isEnabled: true, recoveryCodesLeft: 9 });
    expect(await again.send("POST", "/second-factor/disable", { code: renewed.recoveryCodes[1] })).toEqual({
      isEnabled: false,
      recoveryCodesLeft: 0,
    });
    expect(await refusal(again, "POST", "/second-factor/disable", { code: "123456" })).toEqual(
      refused(409, "STATE_CHANGED"),
    );
    expect(await refusal(again, "POST", "/second-factor/recovery-codes", { code: "123456" })).toEqual(
      refused(403, "SECOND_FACTOR_NEEDED"),
    );
    const { rows } = await again.get("/activity");
    expect(rows.map(({ what }: { what: string }) => what).toReversed()).toEqual([
      "SIGNED_UP",
      "SIGNED_IN",
      "SECOND_FACTOR_ENABLED",
      "RECOVERY_CODES_RENEWED",
      "RECOVERY_CODE_USED",
      "SIGNED_IN",
      "RECOVERY_CODE_USED",
      "SECOND_FACTOR_DISABLED",
    ]);
    // What was shown once is not in the log.
    for (const secret of [first.secret, code, ...codes]) expect(fixture.logged()).not.toContain(secret);
  });

  test("locks after too many wrong codes, with the duration", async () => {
    const browser = await fixture.somebody({});
    let answer = await browser.call("POST", "/second-factor/disable", { body: { code: "nothing" } });
    for (let tried = 0; tried < 50 && answer.status === 403; tried += 1) {
      answer = await browser.call("POST", "/second-factor/disable", { body: { code: "nothing" } });
    }
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({ code: "LOCKED", retryAfterSeconds: expect.any(Number) });
    expect(answer.headers["retry-after"]).toBe(String(answer.body.error.retryAfterSeconds));
    expect(await refusal(browser, "POST", "/second-factor/disable", { code: browser.code() })).toEqual(
      refused(429, "LOCKED"),
    );
    expect(await browser.get("/second-factor")).toMatchObject({ isEnabled: true });
  });
});

describe("identity forms", () => {
  test("go from submission over a rejection to approval, in the operator's words", async () => {
    const browser = await newPerson();
    const operator = await newOperator();
    const none = { status: "NONE", reason: null, submittedAt: null, decidedAt: null };
    expect(await browser.get("/kyc")).toEqual(none);
    expect(await browser.send("POST", "/kyc", FORM)).toMatchObject({ status: "PENDING", decidedAt: null });
    expect(await refusal(browser, "POST", "/kyc", FORM)).toEqual(refused(409, "STATE_CHANGED"));
    expect(await refusal(browser, "POST", "/keys", { label: "x", code: "123456" })).toEqual(
      refused(403, "KYC_NEEDED"),
    );

    const { rows, next } = await operator.get("/operator/kyc");
    expect(next).toBeNull();
    const [entry] = rows;
    expect(rows).toMatchObject([
      { status: "PENDING", person: { personId: browser.personId, email: browser.email, kyc: "PENDING" } },
    ]);
    expect(JSON.stringify(rows)).not.toContain(FORM.documentNumber);
    const path = `/operator/kyc/${entry.submissionId}`;
    const detail = await operator.get(path);
    expect(detail).toMatchObject({ submissionId: entry.submissionId, form: FORM });
    expect(detail.audit[0]).toMatchObject({ what: "KYC_VIEWED", who: operator.email });

    const decide = (body: object) => refusal(operator, "POST", `${path}/decision`, body);
    expect(await decide({ status: "REJECTED" })).toEqual(refused(400, "BODY_UNFIT", ["reason"]));
    expect(await decide({ status: "REJECTED", reason: "  " })).toEqual(
      refused(400, "BODY_UNFIT", ["reason"]),
    );
    expect(await decide({ status: "PENDING" })).toEqual(refused(400, "BODY_UNFIT", ["status"]));
    const decided = await operator.send("POST", `${path}/decision`, { status: "REJECTED", reason: REASON });
    expect(decided).toMatchObject({ status: "REJECTED", reason: REASON, decidedBy: operator.email });
    expect(await decide({ status: "APPROVED" })).toEqual(refused(409, "STATE_CHANGED"));
    expect(await browser.get("/kyc")).toMatchObject({ status: "REJECTED", reason: REASON });
    expect((await browser.get("/session")).person).toMatchObject({ kyc: "REJECTED", kycReason: REASON });

    expect(await browser.send("POST", "/kyc", FORM)).toMatchObject({ status: "PENDING", reason: null });
    const [second] = (await operator.get("/operator/kyc?status=PENDING")).rows;
    await operator.send("POST", `/operator/kyc/${second.submissionId}/decision`, { status: "APPROVED" });
    expect(await browser.get("/kyc")).toMatchObject({ status: "APPROVED", reason: null });
    expect((await operator.get("/operator/kyc?status=REJECTED")).rows).toMatchObject([
      { submissionId: entry.submissionId },
    ]);
    const { submissions, audit } = await operator.get(`/operator/people/${browser.personId}`);
    expect(submissions.map(({ status }: { status: string }) => status)).toEqual(["APPROVED", "REJECTED"]);
    expect(audit.map(({ what }: { what: string }) => what)).toEqual(
      expect.arrayContaining(["KYC_APPROVED", "KYC_REJECTED", "KYC_VIEWED", "KYC_SUBMITTED"]),
    );
    expect(fixture.logged()).not.toContain(FORM.documentNumber);
  });

  test("say by field what is wrong, and are not for operators", async () => {
    const browser = await newPerson();
    const wrong = { ...FORM, birthDate: "2020-01-01" };
    expect(await refusal(browser, "POST", "/kyc", wrong)).toEqual(refused(400, "BODY_UNFIT", ["birthDate"]));
    const { fields } = await refusal(browser, "POST", "/kyc", { ...wrong, country: "XX", extra: 1 });
    expect(fields.toSorted()).toEqual(["country", "extra"]);
    expect(await browser.get("/kyc")).toMatchObject({ status: "NONE" });
    expect(await refusal(await newOperator(), "POST", "/kyc", FORM)).toEqual(refused(403, "NOT_FOR_YOU"));
  });

  test("are decided by one of two operators who decide at once", async () => {
    const browser = await newPerson();
    await browser.send("POST", "/kyc", FORM);
    const first = await newOperator();
    const operators = [first, await newOperator()];
    const { rows } = await first.get("/operator/kyc");
    const path = `/operator/kyc/${rows[0].submissionId}/decision`;
    const answers = await Promise.all(
      operators.map((operator, index) =>
        operator.call("POST", path, {
          body: index === 0 ? { status: "APPROVED" } : { status: "REJECTED", reason: REASON },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const won = answers[0]?.status === 200 ? "APPROVED" : "REJECTED";
    expect(await browser.get("/kyc")).toMatchObject({ status: won });
  });

  test("that there are not are not found", async () => {
    const operator = await newOperator();
    for (const id of ["nothing", "%00", "..%2f..", "x".repeat(300)]) {
      expect(await refusal(operator, "GET", `/operator/kyc/${id}`)).toEqual(refused(404, "NOT_FOUND"));
      expect(await refusal(operator, "GET", `/operator/people/${id}`)).toEqual(refused(404, "NOT_FOUND"));
      expect(await refusal(operator, "POST", `/operator/kyc/${id}/decision`, { status: "APPROVED" })).toEqual(
        refused(404, "NOT_FOUND"),
      );
    }
  });
});

describe("operators' lists", () => {
  test("find people by a part of a name or an address, and by the state of their identity", async () => {
    const operator = await newOperator();
    const browser = await fixture.somebody({ name: "Zoë 100%_Zorn", kyc: "NONE", hasSecondFactor: false });
    const found = async (query: string) =>
      (await operator.get(`/operator/people?${query}`)).rows.map(
        ({ personId }: { personId: string }) => personId,
      );
    for (const search of ["Zorn", "zoë", "100%_", browser.email.slice(0, -3), browser.personId]) {
      expect(await found(new URLSearchParams({ search }).toString()), search).toContain(browser.personId);
    }
    expect(await found("search=Zorn&kyc=NONE")).toEqual([browser.personId]);
    expect(await found("search=Zorn&kyc=APPROVED")).toEqual([]);
    // A wildcard is a character like others.
    expect(await found("search=Z%25n")).toEqual([]);
    expect(await refusal(operator, "GET", "/operator/people?kyc=MAYBE")).toEqual(
      refused(400, "BODY_UNFIT", ["kyc"]),
    );
  });

  test("show the audit a page at a time, newest first, without a gap", async () => {
    const operator = await newOperator();
    const about = { kind: "PERSON", id: operator.personId } as const;
    for (let index = 0; index < PAGE_ROWS * 2; index += 1) {
      const record = {
        who: { kind: "SERVICE" },
        what: "PROFILE_CHANGED",
        about,
        at: index,
        details: {},
      } as const;
      await fixture.gateway.store.people.audit(record);
    }
    const positions: number[] = [];
    let path = "/operator/audit";
    for (let pages = 0; pages < 50; pages += 1) {
      const { rows, next } = await operator.get(path);
      positions.push(...rows.map(({ position }: { position: number }) => position));
      if (next === null) break;
      path = `/operator/audit?before=${next}`;
    }
    expect(positions.length).toBeGreaterThan(PAGE_ROWS * 2);
    expect(positions).toEqual(positions.map((_, index) => positions.length - index));
  });

  test("show who signed up, and what was submitted, in one millisecond: each once, over the ends of pages", async () => {
    const operator = await newOperator();
    const ids = await crowd(PAGE_ROWS * 2 + 1);
    const walk = async (path: string, idOf: (row: PersonJson & KycEntryJson) => string) => {
      const seen: string[] = [];
      for (let next: string | null = ""; next !== null; ) {
        const page: PageJson<PersonJson & KycEntryJson> = await operator.get(
          next === "" ? path : `${path}&before=${next}`,
        );
        seen.push(...page.rows.map(idOf));
        next = page.next;
      }
      return seen.filter((id) => id.startsWith("crowd"));
    };
    expect(await walk("/operator/people?search=crowd", ({ personId }) => personId)).toEqual(ids);
    expect(await walk("/operator/kyc?status=PENDING", ({ person }) => person.personId)).toEqual(ids);
    for (const place of ["1", "-x", "1-", "1-a%20b", "9999999999999999-a"]) {
      const path = `/operator/people?before=${place}`;
      expect(await refusal(operator, "GET", path)).toEqual(refused(400, "BODY_UNFIT", ["before"]));
    }
  });

  test("hold no secret: neither seeds nor recovery codes nor hashes", async () => {
    const operator = await newOperator();
    const browser = await fixture.somebody({});
    const all = JSON.stringify([
      await operator.get(`/operator/people/${browser.personId}`),
      await operator.get("/operator/people"),
      await operator.get("/operator/audit"),
    ]);
    expect(all).toContain(browser.email);
    expect(all).not.toMatch(/argon2|seal1|sealed|salt|"token"/);
  });
});
