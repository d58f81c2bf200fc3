// Sign-ins that failed are remembered by who tried, for every process, as long as they count; so is the last
// use of each key.
import { describe, expect, test } from "vitest";
import { upTo } from "../records.ts";
import type { Opened } from "../store-under-test.ts";

export function failedSignInCases(opened: Opened): void {
  describe("failed sign-ins", () => {
    const { people } = opened;

    const FOR_EVER = { forgetBefore: 0 };

    test("are listed by holder, ascending, from a time on, however many are of one time", async () => {
      for (const at of [3_000, 1_000, 2_000, 2_000]) await people.noteFailedSignIn("mine", at, FOR_EVER);
      await people.noteFailedSignIn("other", 2_500, FOR_EVER);
      const listed = await people.listFailedSignIns(["mine", "ghost"], 2_000);
      expect(Object.fromEntries(listed)).toEqual({
        mine: [2_000, 2_000, 3_000],
        ghost: [],
      });
      expect((await people.listFailedSignIns(["mine", "other"], 0)).get("other")).toEqual([2_500]);
      expect(await people.listFailedSignIns([], 0)).toEqual(new Map());
    });

    test("that count no more are forgotten when one is noted, and a holder's on demand", async () => {
      for (const at of [1_000, 2_000]) await people.noteFailedSignIn("mine", at, FOR_EVER);
      await people.noteFailedSignIn("other", 3_000, { forgetBefore: 2_000 });
      expect((await people.listFailedSignIns(["mine"], 0)).get("mine")).toEqual([2_000]);
      await people.forgetFailedSignIns("mine");
      expect((await people.listFailedSignIns(["mine"], 0)).get("mine")).toEqual([]);
      expect((await people.listFailedSignIns(["other"], 0)).get("other")).toEqual([3_000]);
    });

    test("are counted by holder since a time, most first", async () => {
      for (const at of upTo(5)) await people.noteFailedSignIn("five", at, FOR_EVER);
      for (const at of upTo(9)) await people.noteFailedSignIn("nine", at, FOR_EVER);
      for (const at of [8, 9]) await people.noteFailedSignIn("two", at, FOR_EVER);
      expect(await people.countFailedSignIns(5, 9)).toEqual([
        { holder: "nine", count: 5 },
        { holder: "two", count: 2 },
        { holder: "five", count: 1 },
      ]);
      expect(await people.countFailedSignIns(5, 1)).toEqual([{ holder: "nine", count: 5 }]);
    });

    test("at two stores at once are all known to both", async () => {
      const other = (await opened.reopen()).people;
      await Promise.all(
        upTo(20).map((at) => (at % 2 === 0 ? people : other).noteFailedSignIn("mine", at, FOR_EVER)),
      );
      for (const each of [people, other]) {
        expect((await each.listFailedSignIns(["mine"], 0)).get("mine")).toEqual(upTo(20));
      }
    });
  });

  describe("the last use of a key", () => {
    const useOf = (keyId: string, at: number) => ({
      keyId,
      at,
      address: `192.0.2.${at}`,
      route: `GET /at/${at}`,
    });

    test("is the newest that was noted, in whatever order", async () => {
      const { people } = opened.store;
      await people.noteKeyUses([]);
      await people.noteKeyUses([useOf("a", 5), useOf("b", 7), useOf("a", 9), useOf("a", 8)]);
      await people.noteKeyUses([useOf("b", 6), useOf("c", 1)]);
      await people.noteKeyUses([useOf("c", 2)]);
      const other = (await opened.reopen()).people;
      expect(Object.fromEntries(await other.listKeyUses(["a", "b", "c", "ghost"]))).toEqual({
        a: useOf("a", 9),
        b: useOf("b", 7),
        c: useOf("c", 2),
      });
      expect(await other.listKeyUses(["b"])).toEqual(new Map([["b", useOf("b", 7)]]));
      expect(await other.listKeyUses([])).toEqual(new Map());
    });

    test("is the newest of what two stores note at once", async () => {
      const { people } = opened.store;
      const other = (await opened.reopen()).people;
      const keys = upTo(20).map((number) => `key-${number}`);
      await Promise.all(
        upTo(10).map((at) => {
          const uses = keys.map((keyId) => useOf(keyId, at));
          return at % 2 === 0 ? people.noteKeyUses(uses) : other.noteKeyUses(uses.toReversed());
        }),
      );
      const last = await people.listKeyUses(keys);
      expect([...last.values()].map(({ at }) => at)).toEqual(keys.map(() => 10));
    });
  });
}
