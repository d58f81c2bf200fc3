// The audit: records are only ever added, and whatever is done to one afterwards shows.
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { NewAuditRecord } from "../../../domain/audit.ts";
import type { AuditStore } from "../../ports/audit.ts";
import { copiedByThree } from "../copying/records.ts";
import { upTo } from "../records.ts";
import type { Opened } from "../store-under-test.ts";
import { auditOf, unboundKeyOf } from "./people-records.ts";

/** Of every kind of actor, and with all that is hard to write in one way. */
const RECORDS: readonly NewAuditRecord[] = [
  auditOf("SIGNED_UP", "ann"),
  {
    who: { kind: "COMMAND_LINE" },
    what: "MASTER_KEY_ROTATED",
    about: { kind: "MASTER_KEY", id: "2" },
    at: 5,
    details: { b: "two", a: "one", "10": "ten", "9": "nine", ä: `"quoted" \\ \n\0 名前 🐦 \ud800` },
  },
  {
    who: { kind: "SERVICE" },
    what: "STRATEGY_CLOSE_ASKED",
    about: { kind: "STRATEGY", id: "alpha" },
    at: Number.MAX_SAFE_INTEGER,
    details: {},
  },
  {
    who: { kind: "OPERATOR", personId: "op" },
    what: "KYC_REJECTED",
    about: { kind: "PERSON", id: "ann" },
    at: 6,
    details: { reason: "unreadable" },
  },
];

export function auditCases(opened: Opened): void {
  describe("the audit", () => {
    const { people } = opened;

    test("is whole while there is nothing in it", async () => {
      expect(await people.listAudit({ limit: 9 })).toEqual([]);
      expect(await people.verifyAudit()).toBeNull();
    });

    test("keeps records as they are, numbered, each with a hash that anybody can compute again", async () => {
      for (const record of RECORDS) await people.audit(record);
      const kept = (await people.listAudit({ limit: 9 })).toReversed();
      const details = [
        "{}",
        `{"10":"ten","9":"nine","a":"one","b":"two","ä":"\\"quoted\\" \\\\ \\n\\u0000 名前 🐦 \\ud800"}`,
        "{}",
        `{"reason":"unreadable"}`,
      ];
      let hash = "0".repeat(64);
      const expected = RECORDS.map((record, index) => {
        const { at, who, what, about } = record;
        const position = index + 1;
        const head = JSON.stringify({ position, at, who, what, about }).slice(0, -1);
        hash = createHash("sha256").update(`${hash}\n${head},"details":${details[index]}}`).digest("hex");
        return { ...record, position, hash };
      });
      expect(kept).toEqual(expected);
      expect(await people.verifyAudit()).toBeNull();
    });

    test("is listed newest first, a page at a time, by what it is about and by who is concerned", async () => {
      for (const record of RECORDS) await people.audit(record);
      const positionsOf = async (query: Omit<Parameters<AuditStore["listAudit"]>[0], "limit">, limit = 9) =>
        (await people.listAudit({ ...query, limit })).map(({ position }) => position);
      expect(await positionsOf({}, 3)).toEqual([4, 3, 2]);
      expect(await positionsOf({ before: 2 }, 3)).toEqual([1]);
      expect(await positionsOf({ about: { kind: "STRATEGY", id: "alpha" } })).toEqual([3]);
      expect(await positionsOf({ about: { kind: "KEY", id: "alpha" } })).toEqual([]);
      expect(await positionsOf({ personId: "ann" })).toEqual([4, 1]);
      expect(await positionsOf({ personId: "op" })).toEqual([4]);
      expect(await positionsOf({ personId: "ann", before: 4 })).toEqual([1]);
      expect(await positionsOf({ personId: "ann" }, 1)).toEqual([4]);
      // What is of that id is not of that person.
      expect(await positionsOf({ personId: "alpha" })).toEqual([]);
    });

    test("of a person has what others did to their keys, strategies, copies and venue accounts", async () => {
      const { store } = opened;
      await copiedByThree(store);
      const { apiKey } = unboundKeyOf("anns", "ann");
      await people.createKey(unboundKeyOf("anns", "ann"), auditOf("KEY_CREATED", "op"));
      await people.createKey(unboundKeyOf("bobs", "bob"), auditOf("KEY_CREATED", "bob"));
      await opened.changeRows("UPDATE strategies SET owner_id = 'ann' WHERE id = 'two'");
      const listed = async (personId: string, page: { readonly before?: number; readonly limit: number }) =>
        (await people.listAudit({ personId, ...page })).map(({ about }) => `${about.kind} ${about.id}`);
      const ownBefore = await listed("ann", { limit: 100 });
      await store.revokeKey(apiKey, 7_000);
      await store.revokeKey(unboundKeyOf("bobs", "bob").apiKey, 7_000);
      for (const about of [
        { kind: "STRATEGY", id: "one" },
        { kind: "STRATEGY", id: "two" },
        { kind: "COPY", id: "ann-one" },
        { kind: "COPY", id: "bob-one" },
        { kind: "VENUE_ACCOUNT", id: "account-of-ann" },
        { kind: "VENUE_ACCOUNT", id: "account-of-bob" },
        { kind: "KEY", id: "two" },
      ] as const) {
        await people.audit({
          who: { kind: "SERVICE" },
          what: "STRATEGY_CLOSE_ASKED",
          about,
          at: 7_000,
          details: {},
        });
      }
      const own = ["VENUE_ACCOUNT account-of-ann", "COPY ann-one", "STRATEGY two", "KEY id-anns"];
      expect(await listed("ann", { limit: 100 })).toEqual([...own, ...ownBefore]);
      expect(await listed("ann", { limit: 3 })).toEqual(own.slice(0, 3));
      const [, , third] = await people.listAudit({ personId: "ann", limit: 3 });
      expect(await listed("ann", { before: third?.position ?? 0, limit: 1 })).toEqual(own.slice(3));
      const about = { kind: "COPY", id: "ann-one" };
      expect((await people.listAudit({ personId: "ann", about, limit: 1 })).map(({ who }) => who)).toEqual([
        { kind: "SERVICE" },
      ]);
      expect(await people.listAudit({ personId: "bob", about, limit: 9 })).toEqual([]);
    });

    test("goes on from where another store has left it, over several pages", async () => {
      const other = (await opened.reopen()).people;
      for (const number of upTo(520)) {
        await (number % 2 === 0 ? people : other).audit(auditOf("SIGNED_IN", `person-${number % 7}`));
      }
      for (const each of [people, other]) {
        expect(await each.verifyAudit()).toBeNull();
        const positions = (await each.listAudit({ limit: 1_000 })).map(({ position }) => position);
        expect(positions).toEqual(upTo(520).toReversed());
      }
    });

    describe("is not whole any more", () => {
      beforeEach(async () => {
        for (const number of upTo(9)) {
          await people.audit(auditOf("SIGNED_IN", `person-${number}`, { details: { from: "192.0.2.1" } }));
        }
      });

      test.each([
        ["an actor was changed", "UPDATE audit SET who_id = 'person-9' WHERE position = 4", 4],
        ["an actor was made a command", "UPDATE audit SET who_kind = 'SERVICE' WHERE position = 4", 4],
        ["an actor was left out", "UPDATE audit SET who_id = NULL WHERE position = 4", 4],
        ["an action was changed", "UPDATE audit SET what = 'SIGNED_UP' WHERE position = 1", 1],
        ["a subject was changed", "UPDATE audit SET about_id = 'other' WHERE position = 9", 9],
        ["a time was changed", "UPDATE audit SET at = at + 1 WHERE position = 5", 5],
        ["a detail was changed", 'UPDATE audit SET details = \'{"from":"::1"}\' WHERE position = 6', 6],
        ["details were spoiled", "UPDATE audit SET details = '{' WHERE position = 6", 6],
        ["a hash was changed", "UPDATE audit SET hash = 'x' WHERE position = 3", 3],
        ["a record was taken out", "DELETE FROM audit WHERE position = 4", 5],
        ["the first was taken out", "DELETE FROM audit WHERE position = 1", 2],
        ["the last was taken out", "DELETE FROM audit WHERE position = 9", 9],
        ["all were taken out", "DELETE FROM audit", 1],
        ["the head was taken out", "DELETE FROM audit_head", 1],
        ["the head was set back", "UPDATE audit_head SET position = 8", 8],
        ["the head's hash was changed", "UPDATE audit_head SET hash = 'x'", 9],
        [
          "one was added",
          "INSERT INTO audit SELECT 10, at, who_kind, who_id, what, about_kind, about_id, details, hash FROM audit WHERE position = 9",
          10,
        ],
      ])("when %s, and says where", async (_what, change, brokenAt) => {
        await opened.changeRows(change);
        expect(await people.verifyAudit()).toEqual({ brokenAt });
      });
    });
  });
}
