// Second factors: a seed is enabled by its first code, a code of a time step is accepted once, a recovery
// code is used once.
import { beforeEach, describe, expect, test } from "vitest";
import type { Opened } from "../store-under-test.ts";
import { actionsIn, auditOf, beginSession, countSessions, signUp } from "./people-records.ts";

export function secondFactorCases(opened: Opened): void {
  describe("second factors", () => {
    const { store, people } = opened;
    beforeEach(async () => {
      await signUp(store, "ann", "bob");
    });

    const enable = async (personId: string, hashes: readonly string[] = ["one", "two"]) => {
      const sealedSeed = `seed of ${personId}`;
      await people.beginSecondFactor(personId, sealedSeed, 1_000);
      const audit = auditOf("SECOND_FACTOR_ENABLED", personId);
      return await people.enableSecondFactor({ personId, sealedSeed, keptSession: "kept" }, hashes, audit);
    };
    const use = (personId: string, hash: string) =>
      people.useRecoveryCode(personId, hash, auditOf("RECOVERY_CODE_USED", personId));

    test("are begun, begun again, and enabled, once", async () => {
      expect(await people.findSecondFactor("id-ann")).toBeNull();
      const audit = auditOf("SECOND_FACTOR_ENABLED", "id-ann");
      const factor = { personId: "id-ann", sealedSeed: "second" };
      const begun = { ...factor, keptSession: "kept" };
      expect(await people.enableSecondFactor(begun, [], audit)).toBe(false);
      expect(await people.beginSecondFactor("id-ann", "first", 1_000)).toBe(true);
      expect(await people.beginSecondFactor("id-ann", "second", 2_000)).toBe(true);
      expect(await people.findPerson("id-ann")).toMatchObject({ hasSecondFactor: false });
      expect(await people.enableSecondFactor({ ...begun, sealedSeed: "first" }, ["zero"], audit)).toBe(false);
      expect(await people.findSecondFactor("id-ann")).toEqual({ ...factor, isEnabled: false });
      expect(await people.enableSecondFactor(begun, ["one", "two"], audit)).toBe(true);
      expect(await people.enableSecondFactor(begun, ["three"], audit)).toBe(false);
      expect(await people.beginSecondFactor("id-ann", "third", 3_000)).toBe(false);
      expect(await people.findSecondFactor("id-ann")).toEqual({ ...factor, isEnabled: true });
      expect(await people.countRecoveryCodes("id-ann")).toBe(2);
      expect(await people.findPerson("id-ann")).toMatchObject({ hasSecondFactor: true });
      expect(await people.findPersonByEmail("bob@example.com")).toMatchObject({ hasSecondFactor: false });
      expect((await people.listPeople({ limit: 9 })).map((each) => each.hasSecondFactor)).toEqual([
        false,
        true,
      ]);
      expect(await actionsIn(store)).toEqual(["SECOND_FACTOR_ENABLED"]);
    });

    test("are removed with all that belongs to them, and may be begun again", async () => {
      await enable("id-ann");
      await enable("id-bob");
      await people.acceptTotpStep("id-ann", 100);
      const audit = auditOf("SECOND_FACTOR_DISABLED", "id-ann");
      await beginSession(store, "ann");
      const remove = (keptSession: string | null) =>
        people.removeSecondFactor({ personId: "id-ann", keptSession }, audit);
      expect(await remove("another")).toBe(true);
      expect(await countSessions(store, "id-ann")).toBe(0);
      expect(await remove(null)).toBe(false);
      expect(await people.findSecondFactor("id-ann")).toBeNull();
      expect(await people.findPerson("id-ann")).toMatchObject({ hasSecondFactor: false });
      expect(await people.countRecoveryCodes("id-ann")).toBe(0);
      expect(await people.acceptTotpStep("id-ann", 101)).toBe(false);
      expect(await people.countRecoveryCodes("id-bob")).toBe(2);
      expect(await actionsIn(store)).toEqual([
        "SECOND_FACTOR_ENABLED",
        "SECOND_FACTOR_ENABLED",
        "SECOND_FACTOR_DISABLED",
      ]);
      expect(await enable("id-ann", ["new"])).toBe(true);
      // Of another seed, whose codes are other ones.
      expect(await people.acceptTotpStep("id-ann", 100)).toBe(true);
    });

    test("accept the code of a time step once, and none of an earlier one", async () => {
      await enable("id-ann");
      await enable("id-bob");
      const accepted: boolean[] = [];
      for (const step of [58_000_000, 58_000_000, 57_999_999, 58_000_001, 58_000_000, 58_000_001]) {
        accepted.push(await people.acceptTotpStep("id-ann", step));
      }
      expect(accepted).toEqual([true, false, false, true, false, false]);
      expect(await people.acceptTotpStep("id-bob", 58_000_000)).toBe(true);
      expect(await people.acceptTotpStep("ghost", 58_000_002)).toBe(false);
      const other = (await opened.reopen()).people;
      expect(await other.acceptTotpStep("id-ann", 58_000_001)).toBe(false);
      expect(await other.acceptTotpStep("id-ann", 58_000_002)).toBe(true);
    });

    test("are resealed, unless they have changed since they were read", async () => {
      await enable("id-ann");
      await people.beginSecondFactor("id-bob", "seed of id-bob", 1_000);
      await people.acceptTotpStep("id-ann", 100);
      expect(await people.resealSecondFactor("id-ann", { from: "seed of id-ann", to: "newer" })).toBe(true);
      expect(await people.resealSecondFactor("id-ann", { from: "seed of id-ann", to: "newest" })).toBe(false);
      expect(await people.resealSecondFactor("ghost", { from: "newer", to: "newest" })).toBe(false);
      expect(await people.listSecondFactors()).toEqual([
        { personId: "id-ann", sealedSeed: "newer", isEnabled: true },
        { personId: "id-bob", sealedSeed: "seed of id-bob", isEnabled: false },
      ]);
      expect(await people.acceptTotpStep("id-ann", 100)).toBe(false);
    });

    test("have recovery codes, each of which is used once, by its owner", async () => {
      await enable("id-ann", ["one", "two"]);
      await enable("id-bob", ["three"]);
      expect(await use("id-ann", "three")).toBe(false);
      expect(await use("id-ann", "one")).toBe(true);
      expect(await use("id-ann", "one")).toBe(false);
      expect(await people.countRecoveryCodes("id-ann")).toBe(1);
      await people.replaceRecoveryCodes("id-ann", ["four"], auditOf("RECOVERY_CODES_RENEWED", "id-ann"));
      expect(await use("id-ann", "two")).toBe(false);
      expect(await use("id-ann", "four")).toBe(true);
      expect(await people.countRecoveryCodes("id-bob")).toBe(1);
      expect((await actionsIn(store)).slice(2)).toEqual([
        "RECOVERY_CODE_USED",
        "RECOVERY_CODES_RENEWED",
        "RECOVERY_CODE_USED",
      ]);
    });
  });
}
