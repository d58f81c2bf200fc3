// What people sign in with: passwords that are replaced only if they are what the caller saw, sessions, and
// links that work once.
import { beforeEach, describe, expect, test } from "vitest";
import type { StoredSession } from "../../ports/people.ts";
import type { Opened } from "../store-under-test.ts";
import {
  actionsIn,
  auditOf,
  beginSession,
  countSessions,
  SIGNED_UP_AT,
  sessionOf,
  signUp,
} from "./people-records.ts";

const AT = SIGNED_UP_AT;
/** Every session that is there. */
const ALL = { expiresAfter: 0, usedAfter: 0 };

export function signInCases(opened: Opened): void {
  describe("what people sign in with", () => {
    const { store, people } = opened;
    beforeEach(async () => {
      await signUp(store, "ann", "bob");
    });
    const begin = async (name: string, terms: Partial<StoredSession> = {}, max = 30) => {
      const session = { ...sessionOf(name), ...terms };
      await people.createSession({ ...session, tokenHash: `hash of ${session.sessionId}` }, max);
      return session.sessionId;
    };
    const idsOf = async (personId: string, live = ALL) =>
      (await people.listSessions(personId, live)).map(({ sessionId }) => sessionId);

    describe("a password", () => {
      test("is found by its person, after a reopening too", async () => {
        const other = (await opened.reopen()).people;
        for (const from of [people, other]) {
          expect(await from.findPasswordHash("id-ann")).toBe("password of ann");
          expect(await from.findPasswordHash("")).toBeNull();
          expect(await from.findPasswordHash("id-nobody")).toBeNull();
        }
      });

      test("is set whatever it was, also where there was none, which is audited", async () => {
        await opened.changeRows("DELETE FROM credentials WHERE user_id = 'id-bob'");
        for (const personId of ["id-ann", "id-bob"]) {
          const password = { personId, passwordHash: `new of ${personId}`, at: AT };
          await beginSession(store, personId.slice("id-".length));
          await people.setPasswordHash(password, auditOf("PASSWORD_RESET", personId));
          expect(await people.findPasswordHash(personId)).toBe(`new of ${personId}`);
          expect(await countSessions(store, personId)).toBe(0);
        }
        expect(await actionsIn(store)).toEqual(["PASSWORD_RESET", "PASSWORD_RESET"]);
      });

      test("is replaced, and audited, only if it is the one that the caller saw", async () => {
        const replace = (from: string, to: string, personId = "id-ann") =>
          people.replacePasswordHash(
            { personId, from, to, keptSession: "kept", at: AT },
            auditOf("PASSWORD_CHANGED", personId),
          );
        for (const sessionId of ["kept", "other"]) await begin("ann", { sessionId });
        expect(await replace("wrong", "late")).toBe(false);
        expect(await idsOf("id-ann")).toHaveLength(2);
        expect(await replace("password of ann", "new")).toBe(true);
        expect(await idsOf("id-ann")).toEqual(["kept"]);
        expect(await replace("password of ann", "late")).toBe(false);
        expect(await replace("new", "nobody's", "id-nobody")).toBe(false);
        expect(await people.findPasswordHash("id-ann")).toBe("new");
        expect(await people.findPasswordHash("id-bob")).toBe("password of bob");
        expect(await actionsIn(store)).toEqual(["PASSWORD_CHANGED"]);
      });

      test("of an unverified person of an earlier version is replaced with the name, once", async () => {
        await opened.changeRows(
          "UPDATE people SET email_verified = 0, name = 'Stranger' WHERE id = 'id-ann'",
        );
        expect(await people.findPerson("id-ann")).toMatchObject({ isEmailVerified: false });
        const verified = { personId: "id-ann", name: "Ann", passwordHash: "chosen", at: AT };
        const audit = auditOf("EMAIL_VERIFIED", "id-ann");
        expect(await people.verifyPerson(verified, audit)).toBe(true);
        expect(await people.verifyPerson({ ...verified, passwordHash: "late" }, audit)).toBe(false);
        expect(await people.verifyPerson({ ...verified, personId: "id-bob" }, audit)).toBe(false);
        expect(await people.findPerson("id-ann")).toMatchObject({ isEmailVerified: true, name: "Ann" });
        expect(await people.findPasswordHash("id-ann")).toBe("chosen");
        expect(await people.findPasswordHash("id-bob")).toBe("password of bob");
        expect(await actionsIn(store)).toEqual(["EMAIL_VERIFIED"]);
      });
    });

    describe("a session", () => {
      test("is found by the hash of its token as it was given, after a reopening too", async () => {
        const userAgent = `"Browser", 100% \\ ライアーバード 🐦`;
        const sessionId = await begin("ann", { address: "2001:db8::1", userAgent });
        const session = { ...sessionOf("ann"), address: "2001:db8::1", userAgent, lastUsedAt: AT };
        const other = (await opened.reopen()).people;
        for (const from of [people, other]) {
          expect(await from.findSession(`hash of ${sessionId}`)).toEqual(session);
          expect(await from.findSession("hash of nothing")).toBeNull();
          expect(await from.listSessions("id-ann", ALL)).toEqual([session]);
        }
        await people.recordSessionUse(sessionId, AT + 5);
        expect(await other.findSession(`hash of ${sessionId}`)).toEqual({ ...session, lastUsedAt: AT + 5 });
      });

      test("is the only one of its token", async () => {
        const sessionId = await begin("ann");
        const copy = { ...sessionOf("bob"), tokenHash: `hash of ${sessionId}` };
        await expect(people.createSession(copy, 30)).rejects.toThrow();
        expect(await people.findSession(`hash of ${sessionId}`)).toMatchObject({ personId: "id-ann" });
      });

      test("is listed, newest first, while it neither expires nor is idle", async () => {
        await begin("ann", { sessionId: "old", createdAt: AT - 10, expiresAt: AT + 10 });
        await begin("ann", { sessionId: "new", createdAt: AT, expiresAt: AT + 20 });
        await begin("bob");
        expect(await idsOf("id-ann")).toEqual(["new", "old"]);
        const asked = ["old", "new", "session-of-bob", "none"];
        const liveOf = async (live: typeof ALL) => [...(await people.liveSessionsOf(asked, live))].sort();
        expect(await liveOf(ALL)).toEqual(["new", "old", "session-of-bob"]);
        for (const [live, ids] of [
          [{ expiresAfter: AT + 10, usedAfter: 0 }, ["new"]],
          [{ expiresAfter: AT + 20, usedAfter: 0 }, []],
          [{ expiresAfter: AT, usedAfter: AT - 10 }, ["new"]],
          [{ expiresAfter: AT, usedAfter: AT }, []],
        ] as const) {
          expect(await idsOf("id-ann", live)).toEqual(ids);
          expect((await liveOf(live)).filter((id) => id !== "session-of-bob")).toEqual(ids);
        }
        expect(await people.liveSessionsOf([], ALL)).toEqual(new Set());
      });

      test("that begins removes those of its person that have expired, and the oldest beyond a bound", async () => {
        await begin("bob", { expiresAt: AT - 1 });
        await begin("ann", { sessionId: "expired", createdAt: AT + 3, expiresAt: AT + 4 });
        for (const id of [0, 1, 2]) await begin("ann", { sessionId: `${id}`, createdAt: AT + id });
        expect(await idsOf("id-ann")).toEqual(["expired", "2", "1", "0"]);
        await begin("ann", { sessionId: "3", createdAt: AT + 4 }, 3);
        expect(await idsOf("id-ann")).toEqual(["3", "2", "1"]);
        expect(await idsOf("id-bob")).toHaveLength(1);
      });

      test("is ended alone, with all others, or with all, and never another person's", async () => {
        await begin("bob");
        const restart = async () => {
          await people.endSessions("id-ann", "ALL", null);
          for (const id of ["a", "b", "c"]) await begin("ann", { sessionId: id });
        };
        for (const [which, ended, left] of [
          [{ only: "b" }, 1, ["a", "c"]],
          [{ only: "session-of-bob" }, 0, ["a", "b", "c"]],
          [{ allBut: "b" }, 2, ["b"]],
          ["ALL", 3, []],
        ] as const) {
          await restart();
          const audit = auditOf("SESSIONS_ENDED", "id-ann");
          expect(await people.endSessions("id-ann", which, audit)).toBe(ended);
          expect(await idsOf("id-ann")).toEqual(left);
        }
        expect(await actionsIn(store)).toEqual(["SESSIONS_ENDED", "SESSIONS_ENDED", "SESSIONS_ENDED"]);
        expect(await idsOf("id-bob")).toEqual(["session-of-bob"]);
      });
    });

    describe("a link", () => {
      const link = (nameHash: string, value = `reset ${nameHash} `, createdAt = AT) =>
        people.createLink({ nameHash, value, createdAt, expiresAt: createdAt + 10 });

      test("is found until it expires, and taken by one caller", async () => {
        await link("one");
        await link("two");
        const other = (await opened.reopen()).people;
        expect(await other.findLink("one", AT + 9)).toBe("reset one ");
        expect(await other.findLink("one", AT + 10)).toBeNull();
        expect(await people.takeLink("one", AT + 10)).toBeNull();
        const taken = await Promise.all([people, other, people].map((each) => each.takeLink("one", AT)));
        expect(taken.filter((value) => value === "reset one ")).toHaveLength(1);
        expect(taken.filter((value) => value === null)).toHaveLength(2);
        expect(await people.findLink("one", AT)).toBeNull();
        expect(await people.findLink("two", AT)).toBe("reset two ");
      });

      test("that is created removes those that have expired", async () => {
        await link("old");
        await link("new", "reset new ", AT + 10);
        expect(await people.findLink("old", AT)).toBeNull();
        expect(await people.findLink("new", AT)).toBe("reset new ");
      });

      test("ends with all that begin alike, in which nothing is a wildcard", async () => {
        const values = ["up a_b@x ", "up a_b@x of-an-earlier-version", "up acb@x ", "reset a_b@x ", "up 🐦 "];
        for (const [index, value] of values.entries()) await link(`${index}`, value);
        await people.endLinks("up a_b@x ");
        await people.endLinks("up % ");
        await people.endLinks("up 🐦 ");
        const left = await Promise.all(values.map((_, index) => people.findLink(`${index}`, AT)));
        expect(left).toEqual([null, null, "up acb@x ", "reset a_b@x ", null]);
      });
    });
  });
}
