// The records of the sign-in library: kept as they are, found and changed by any of their fields, and by nothing else.
import { beforeEach, describe, expect, test } from "vitest";
import {
  type PeopleStore,
  RecordTaken,
  type SignInCondition,
  type SignInModel,
  type SignInRecord,
} from "../../people-store.ts";
import type { Opened } from "../store-under-test.ts";
import { SIGNED_UP_AT, userOf } from "./people-records.ts";

const TIMES = { createdAt: new Date(SIGNED_UP_AT), updatedAt: new Date(SIGNED_UP_AT + 1) };
const LATER = new Date(SIGNED_UP_AT + 604_800_000);

/** One of each model, with every field that it has. */
const RECORDS: { readonly [M in SignInModel]: SignInRecord } = {
  user: userOf("ann", { emailVerified: true, image: "https://example.com/ann.png" }),
  session: {
    id: "session-1",
    token: "hash-1",
    expiresAt: LATER,
    ipAddress: "2001:db8::1",
    userAgent: `"Browser", 100% \\ ライアーバード 🐦`,
    userId: "id-ann",
    ...TIMES,
  },
  account: {
    id: "account-1",
    accountId: "id-ann",
    providerId: "credential",
    userId: "id-ann",
    accessToken: null,
    refreshToken: null,
    idToken: null,
    accessTokenExpiresAt: LATER,
    refreshTokenExpiresAt: null,
    scope: null,
    password: "$argon2id$",
    ...TIMES,
  },
  verification: { id: "link-1", identifier: "hash-2", value: "hash-3", expiresAt: LATER, ...TIMES },
};
const MODELS = Object.keys(RECORDS) as SignInModel[];

function where(
  field: string,
  operator: SignInCondition["operator"],
  value: SignInCondition["value"],
  connector: SignInCondition["connector"] = "AND",
): SignInCondition {
  return { field, operator, value, connector };
}

export function signInRecordCases(opened: Opened): void {
  describe("the records of the sign-in library", () => {
    let records: PeopleStore["signIn"];
    beforeEach(() => {
      records = opened().store.people.signIn;
    });

    test.each(MODELS)("a %s is answered and found as it was given, after a reopening too", async (model) => {
      const record = RECORDS[model];
      expect(await records.create(model, record)).toEqual(record);
      const other = (await opened().reopen()).people.signIn;
      for (const from of [records, other]) expect(await from.find(model, [])).toEqual([record]);
      const byId = [where("id", "eq", String(record.id))];
      expect(await records.update(model, byId, { updatedAt: LATER })).toBe(1);
      expect(await other.find(model, byId)).toEqual([{ ...record, updatedAt: LATER }]);
      expect(await records.remove(model, byId)).toBe(1);
      expect(await other.count(model, [])).toBe(0);
    });

    test("times may be given as Unix ms, and what is left out is null", async () => {
      const { image: _none, ...user } = userOf("ann", { createdAt: 5, updatedAt: 6 });
      expect(await records.create("user", user)).toEqual({
        ...user,
        image: null,
        createdAt: new Date(5),
        updatedAt: new Date(6),
      });
    });

    test.each([
      ["id", { email: "other@example.com" }],
      ["e-mail address", { id: "other" }],
    ])("of two people with one %s the second is not made", async (_what, terms) => {
      await records.create("user", userOf("ann"));
      await expect(records.create("user", userOf("ann", terms))).rejects.toThrow(RecordTaken);
      expect(await records.find("user", [])).toEqual([userOf("ann")]);
    });

    test("a token is one session's, and an account at a provider one account", async () => {
      for (const model of ["session", "account"] as const) {
        await records.create(model, RECORDS[model]);
        await expect(records.create(model, { ...RECORDS[model], id: "other" })).rejects.toThrow(RecordTaken);
      }
    });

    describe("of several people", () => {
      const names = ["ann", "bob", "100%", "1000", "a_c", "abc", "a\\d", "Zoë"];
      beforeEach(async () => {
        for (const [index, name] of names.entries()) {
          const terms = { createdAt: new Date(index), emailVerified: index % 2 === 0 };
          await records.create("user", userOf(name, { id: String(index), ...terms }));
        }
      });
      const found = async (...conditions: SignInCondition[]) =>
        (await records.find("user", conditions, { sortBy: { field: "createdAt", direction: "asc" } })).map(
          ({ name }) => name,
        );

      test.each<[string, SignInCondition[], string[]]>([
        ["equal", [where("name", "eq", "bob")], ["bob"]],
        ["equal, in another case", [where("name", "eq", "Bob")], []],
        ["not equal", [where("createdAt", "ne", new Date(0)), where("createdAt", "lt", 2)], ["bob"]],
        ["null", [where("image", "eq", null), where("name", "eq", "bob")], ["bob"]],
        ["not null", [where("image", "ne", null)], []],
        ["before", [where("createdAt", "lt", new Date(2))], ["ann", "bob"]],
        ["at the latest", [where("createdAt", "lte", new Date(1))], ["ann", "bob"]],
        ["after", [where("createdAt", "gt", new Date(6))], ["Zoë"]],
        ["at the earliest", [where("createdAt", "gte", 6)], ["a\\d", "Zoë"]],
        ["true", [where("emailVerified", "eq", true), where("createdAt", "lt", 3)], ["ann", "100%"]],
        ["one of", [where("name", "in", ["bob", "nobody", "100%"])], ["bob", "100%"]],
        ["one of none", [where("name", "in", [])], []],
        ["none of", [where("id", "not_in", names.map((_, index) => String(index)).slice(1))], ["ann"]],
        ["containing", [where("email", "contains", "NN@")], ["ann"]],
        ["containing a sign for anything", [where("name", "contains", "0%")], ["100%"]],
        ["containing a sign for any letter", [where("name", "contains", "a_")], ["a_c"]],
        ["containing a backslash", [where("name", "contains", "\\")], ["a\\d"]],
        ["beginning", [where("name", "starts_with", "a")], ["ann", "a_c", "abc", "a\\d"]],
        ["ending", [where("name", "ends_with", "0%")], ["100%"]],
        ["of two", [where("name", "eq", "bob", "OR"), where("name", "eq", "ann", "OR")], ["ann", "bob"]],
        [
          "of two, and something else",
          [
            where("emailVerified", "eq", true),
            where("name", "eq", "bob", "OR"),
            where("name", "eq", "ann", "OR"),
          ],
          ["ann"],
        ],
        ["what no text is", [where("name", "eq", "a\0b")], []],
        ["one of what no text is", [where("name", "in", ["a\0b"])], []],
      ])("those that are %s", async (_what, conditions, expected) => {
        expect(await found(...conditions)).toEqual(expected);
        expect(await records.count("user", conditions)).toBe(expected.length);
      });

      test("a part is answered in the order that was asked for", async () => {
        const sortBy = { field: "createdAt", direction: "desc" } as const;
        const page = await records.find("user", [], { limit: 2, offset: 1, sortBy });
        expect(page.map(({ name }) => name)).toEqual(["a\\d", "abc"]);
        const rest = await records.find("user", [], { offset: 6, sortBy });
        expect(rest.map(({ name }) => name)).toEqual(["bob", "ann"]);
      });

      test("many are changed and removed at once, and it is said how many", async () => {
        const verified = [where("emailVerified", "eq", true)];
        expect(await records.update("user", verified, { name: "verified", emailVerified: false })).toBe(4);
        expect(await records.count("user", verified)).toBe(0);
        expect(await records.remove("user", [where("name", "eq", "verified")])).toBe(4);
        expect(await found()).toEqual(["bob", "1000", "abc", "Zoë"]);
        expect(await records.update("user", [where("name", "eq", "nobody")], { name: "x" })).toBe(0);
      });

      test("none is changed or removed without a condition", async () => {
        await expect(records.update("user", [], { name: "x" })).rejects.toThrow(/says which/);
        await expect(records.remove("user", [])).rejects.toThrow(/says which/);
        expect(await found()).toEqual(names);
      });
    });

    test.each(["role", "kyc", "email = '' OR 1=1 --", "constructor", "__proto__"])(
      "a field that a model has not, %s, is neither asked about nor written",
      async (field) => {
        await records.create("user", userOf("ann"));
        const byId = [where("id", "eq", "id-ann")];
        await expect(records.find("user", [where(field, "eq", "x")])).rejects.toThrow(/has no field/);
        await expect(records.find("user", [], { sortBy: { field, direction: "asc" } })).rejects.toThrow(
          /has no field/,
        );
        const change = Object.fromEntries([[field, "x"]]);
        await expect(records.update("user", byId, change)).rejects.toThrow(/has no field/);
        await expect(records.create("user", { ...userOf("bob"), ...change })).rejects.toThrow(/has no field/);
        expect(await records.find("user", [])).toEqual([userOf("ann")]);
      },
    );

    test("a field holds nothing of another kind", async () => {
      const wrong = [
        { name: 5 },
        { emailVerified: 1 },
        { createdAt: "today" },
        { createdAt: new Date(Number.NaN) },
      ];
      for (const terms of wrong) {
        await expect(records.create("user", userOf("ann", terms)), JSON.stringify(terms)).rejects.toThrow(
          /cannot hold/,
        );
      }
      expect(await records.count("user", [])).toBe(0);
    });
  });
}
