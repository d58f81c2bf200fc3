// Accounts that operators lock and unlock, and accounts that are closed.
import { beforeEach, describe, expect, test } from "vitest";
import { auditedAs, copyOf, openToCopiers, venueAccountOf } from "../copying/records.ts";
import type { Opened } from "../store-under-test.ts";
import {
  actionsIn,
  auditOf,
  beginSession,
  countSessions,
  SIGNED_UP_AT,
  signUp,
  unboundKeyOf,
} from "./people-records.ts";

const AT = SIGNED_UP_AT + 500;
const OPERATOR = { who: { kind: "OPERATOR", personId: "id-ops" } } as const;

export function closedAccountCases(opened: Opened): void {
  describe("locked and closed accounts", () => {
    const { store } = opened;
    let ann: string;
    const key = () => unboundKeyOf("anns", ann);
    const statusOf = async (copyId: string) => {
      const { status, reason } = (await store.copying.findCopy(copyId)) ?? {};
      return [status, reason];
    };
    const lock = () => store.people.lockPerson(ann, AT, auditOf("PERSON_LOCKED", ann, OPERATOR));
    const unlock = () => store.people.unlockPerson(ann, auditOf("PERSON_UNLOCKED", ann, OPERATOR));
    let requests = 0;
    const newRequestId = () => {
      requests += 1;
      return `request-${requests}`;
    };
    const close = (personId = ann) =>
      store.people.closePerson(
        { personId, at: AT, newRequestId },
        auditOf("ACCOUNT_CLOSED", personId, OPERATOR),
      );

    beforeEach(async () => {
      ann = await signUp(store, "ann", "bob");
      await beginSession(store, "ann");
      await beginSession(store, "bob");
      await store.people.createKey(key(), auditOf("KEY_CREATED", ann));
      await store.people.createKey(unboundKeyOf("bobs", "id-bob"), auditOf("KEY_CREATED", "id-bob"));
      await openToCopiers(store, "one", "two");
      for (const [personId, strategyId] of [
        [ann, "one"],
        [ann, "two"],
        ["id-bob", "one"],
      ] as const) {
        const accountId = `${personId} ${strategyId}`;
        await store.copying.connectAccount(
          venueAccountOf(personId, { accountId }),
          auditedAs("VENUE_ACCOUNT_CONNECTED"),
          { liveMax: 9 },
        );
        const copy = copyOf(personId, strategyId, { accountId });
        expect(await store.copying.createCopy(copy, auditedAs("COPY_STARTED"))).toBe("CREATED");
      }
      const paused = { from: ["FOLLOWING"], status: "PAUSED", reason: "COPIER", at: AT } as const;
      await store.copying.changeCopy({ copyId: `${ann}-two`, ...paused }, auditedAs("COPY_PAUSED"));
    });

    test("a lock ends the sessions, has keys answered as revoked, and pauses what follows; unlocking restores it", async () => {
      const before = await store.copying.revisionOfLead("one");
      expect(await lock()).toBe(true);
      expect(await lock()).toBe(false);
      expect(await store.people.findPerson(ann)).toMatchObject({ lockedAt: AT, closedAt: null });
      expect([await countSessions(store, ann), await countSessions(store, "id-bob")]).toEqual([0, 1]);
      expect((await store.findKey(key().apiKey))?.key.revokedAt).toBe(AT);
      expect((await store.findKey(unboundKeyOf("bobs", "id-bob").apiKey))?.key.revokedAt).toBeNull();
      // It is no revocation: the list says so.
      expect((await store.people.listKeysOf(ann))[0]?.key.revokedAt).toBeNull();
      expect(await statusOf(`${ann}-one`)).toEqual(["PAUSED", "LOCKED"]);
      expect(await statusOf(`${ann}-two`)).toEqual(["PAUSED", "COPIER"]);
      expect(await statusOf("id-bob-one")).toEqual(["FOLLOWING", null]);
      expect(await store.copying.revisionOfLead("one")).toBeGreaterThan(before);
      expect(await unlock()).toBe(true);
      expect(await unlock()).toBe(false);
      expect((await store.findKey(key().apiKey))?.key).toEqual(key());
      expect(await statusOf(`${ann}-one`)).toEqual(["FOLLOWING", null]);
      expect(await statusOf(`${ann}-two`)).toEqual(["PAUSED", "COPIER"]);
      expect((await actionsIn(store)).slice(-2)).toEqual(["PERSON_LOCKED", "PERSON_UNLOCKED"]);
    });

    test("what was in flight when the lock began opens nothing, and leaves no session", async () => {
      await openToCopiers(store, "three");
      const account = venueAccountOf(ann, { accountId: "third" });
      const connect = () =>
        store.copying.connectAccount(account, auditedAs("VENUE_ACCOUNT_CONNECTED"), { liveMax: 9 });
      const begin = () =>
        store.copying.createCopy(copyOf(ann, "three", { accountId: "third" }), auditedAs("COPY_STARTED"));
      const resume = () =>
        store.copying.changeCopy(
          { copyId: `${ann}-two`, from: ["PAUSED"], status: "FOLLOWING", reason: null, at: AT },
          auditedAs("COPY_RESUMED"),
        );
      await lock();
      await beginSession(store, "ann");
      expect(await countSessions(store, ann)).toBe(0);
      expect([await connect(), await begin(), await resume()]).toEqual(["FULL", "TAKEN", false]);
      await unlock();
      await beginSession(store, "ann");
      expect(await countSessions(store, ann)).toBe(1);
      expect([await connect(), await begin(), await resume()]).toEqual(["CONNECTED", "CREATED", true]);
    });

    test("a key that was revoked before a lock stays revoked after it", async () => {
      await store.people.revokeOwnKey(
        { keyId: key().keyId, ownerId: ann, at: AT - 1 },
        auditOf("KEY_REVOKED", ann),
      );
      await lock();
      expect((await store.findKey(key().apiKey))?.key.revokedAt).toBe(AT - 1);
      await unlock();
      expect((await store.findKey(key().apiKey))?.key.revokedAt).toBe(AT - 1);
    });

    test("closing erases who somebody was, revokes, stops, and leaves others alone", async () => {
      await store.people.beginSecondFactor(ann, "seal", AT);
      const form = { submissionId: "form", personId: ann, sealedForm: "seal", submittedAt: AT };
      await store.people.submitKyc(form, auditOf("KYC_SUBMITTED", ann));
      expect(await close()).toBe(true);
      expect(await close()).toBe(false);
      expect(await store.people.findPersonByEmail("ann@example.com")).toBeNull();
      expect(await store.people.findPerson(ann)).toMatchObject({
        email: `closed:${ann}`,
        name: "",
        closedAt: AT,
      });
      expect([await countSessions(store, ann), await countSessions(store, "id-bob")]).toEqual([0, 1]);
      expect(await store.people.findPasswordHash(ann)).toBeNull();
      expect(await store.people.findSecondFactor(ann)).toBeNull();
      expect(await store.people.listForms()).toEqual([]);
      expect((await store.people.listKeysOf(ann))[0]?.key.revokedAt).toBe(AT);
      expect(await statusOf(`${ann}-one`)).toEqual(["STOPPED", "ACCOUNT_CLOSED"]);
      expect(await statusOf(`${ann}-two`)).toEqual(["STOPPED", "ACCOUNT_CLOSED"]);
      expect(await statusOf("id-bob-one")).toEqual(["FOLLOWING", null]);
      expect(await store.copying.listPendingRequests("one")).toMatchObject([
        { copyId: `${ann}-one`, kind: "WITHDRAW" },
      ]);
      expect((await actionsIn(store)).slice(-4)).toEqual([
        "ACCOUNT_CLOSED",
        "KEY_REVOKED",
        "COPY_STOPPED",
        "COPY_STOPPED",
      ]);
      expect(await store.people.verifyAudit()).toBeNull();
      // The address is free again, for somebody new.
      await signUp(store, "ann-again");
      expect(await lock()).toBe(false);
      expect(await unlock()).toBe(false);
    });

    test("nothing is written to an account that was closed in the meantime", async () => {
      const { people, copying } = store;
      await opened.changeRows(`UPDATE people SET email_verified = 0 WHERE id = '${ann}'`);
      await close();
      const audited = await actionsIn(store);
      const passwordHash = "of a new password";

      const form = { submissionId: "form", personId: ann, sealedForm: "seal", submittedAt: AT };
      expect(await people.submitKyc(form, auditOf("KYC_SUBMITTED", ann))).toBe(false);
      expect(await people.listForms()).toEqual([]);

      const password = { personId: ann, passwordHash, at: AT };
      expect(await people.setPasswordHash(password, auditOf("PASSWORD_RESET", ann))).toBe(false);
      const verified = { ...password, name: "Ann" };
      expect(await people.verifyPerson(verified, auditOf("EMAIL_VERIFIED", ann))).toBe(false);
      expect(await people.findPasswordHash(ann)).toBeNull();
      expect(await people.findPerson(ann)).toMatchObject({ name: "", kyc: "NONE" });

      expect(await people.beginSecondFactor(ann, "seal", AT)).toBe(false);
      const renewed = auditOf("RECOVERY_CODES_RENEWED", ann);
      expect(await people.replaceRecoveryCodes(ann, ["a code"], renewed)).toBe(false);
      expect(await people.findSecondFactor(ann)).toBeNull();
      expect(await people.countRecoveryCodes(ann)).toBe(0);

      await beginSession(store, "ann");
      expect(await countSessions(store, ann)).toBe(0);

      expect(await people.createKey(unboundKeyOf("new", ann), auditOf("KEY_CREATED", ann))).toBe(false);
      expect((await people.listKeysOf(ann)).map(({ key: { keyId } }) => keyId)).toEqual([key().keyId]);
      const use = { keyId: key().keyId, at: AT, address: "192.0.2.7", route: "GET /api/v3/account" };
      await people.noteKeyUses([use]);
      expect(await people.listKeyUses([key().keyId])).toEqual(new Map());

      const account = venueAccountOf(ann, { accountId: "new" });
      const connected = auditedAs("VENUE_ACCOUNT_CONNECTED");
      expect(await copying.connectAccount(account, connected, { liveMax: 9 })).toBe("FULL");
      expect(await copying.findAccount("new")).toBeNull();
      const copy = copyOf(ann, "one", { copyId: "new", accountId: `${ann} one` });
      expect(await copying.createCopy(copy, auditedAs("COPY_STARTED"))).toBe("TAKEN");
      expect(await copying.findCopy("new")).toBeNull();

      expect(await actionsIn(store)).toEqual(audited);
    });

    test("closed accounts are listed until what belongs to them is closed", async () => {
      expect(await store.people.listClosingPeople()).toEqual([]);
      await close();
      expect(await store.people.listClosingPeople()).toEqual([{ personId: ann, closedAt: AT }]);
      await store.people.endClosing(ann);
      expect(await store.people.listClosingPeople()).toEqual([]);
    });

    test("nobody is locked, unlocked or closed who is not there", async () => {
      for (const nobody of ["ghost", ""]) {
        const audit = auditOf("PERSON_LOCKED", "id-bob");
        expect(await store.people.lockPerson(nobody, AT, audit)).toBe(false);
        expect(await store.people.unlockPerson(nobody, audit)).toBe(false);
        expect(await close(nobody)).toBe(false);
      }
    });
  });
}
