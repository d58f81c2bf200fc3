// Failed handshakes of streams are remembered by key and address, for every process, as long as they count.
import { describe, expect, test } from "vitest";
import { upTo } from "../records.ts";
import { create, type Opened } from "../store-under-test.ts";

export function failedHandshakeCases(opened: Opened): void {
  describe("failed handshakes", () => {
    const { store } = opened;

    const from = (apiKey: string, address = "ip:192.0.2.1") => ({ apiKey, address });
    const FOR_EVER = { forgetBefore: 0 };

    test("are listed by key, ascending, from a time on, however many are of one time", async () => {
      for (const at of [3_000, 1_000, 2_000, 2_000])
        await store.noteFailedHandshake(from("mine"), at, FOR_EVER);
      await store.noteFailedHandshake(from("other"), 2_500, FOR_EVER);
      expect(await store.listFailedHandshakes(from("mine"), 0)).toEqual([1_000, 2_000, 2_000, 3_000]);
      expect(await store.listFailedHandshakes(from("mine"), 2_000)).toEqual([2_000, 2_000, 3_000]);
      expect(await store.listFailedHandshakes(from("mine"), 3_001)).toEqual([]);
      expect(await store.listFailedHandshakes(from("ghost"), 0)).toEqual([]);
    });

    test("are listed of their address alone", async () => {
      await store.noteFailedHandshake(from("mine"), 1_000, FOR_EVER);
      await store.noteFailedHandshake(from("mine", "ip:192.0.2.2"), 2_000, FOR_EVER);
      expect(await store.listFailedHandshakes(from("mine"), 0)).toEqual([1_000]);
      expect(await store.listFailedHandshakes(from("mine", "ip:192.0.2.2"), 0)).toEqual([2_000]);
      expect(await store.listFailedHandshakes(from("mine", ""), 0)).toEqual([]);
      expect(await store.countFailedHandshakes(0, 9)).toEqual([{ apiKey: "mine", count: 2, lastAt: 2_000 }]);
    });

    test("are counted by key, most first, so many keys at a time, from a time on", async () => {
      for (const at of [1_000, 2_000, 3_000]) await store.noteFailedHandshake(from("often"), at, FOR_EVER);
      for (const at of [2_000, 4_000]) await store.noteFailedHandshake(from("seldom"), at, FOR_EVER);
      await store.noteFailedHandshake(from("once"), 1_500, FOR_EVER);
      const often = { apiKey: "often", count: 3, lastAt: 3_000 };
      const seldom = { apiKey: "seldom", count: 2, lastAt: 4_000 };
      expect(await store.countFailedHandshakes(0, 2)).toEqual([often, seldom]);
      expect(await store.countFailedHandshakes(1_600, 9)).toEqual([{ ...often, count: 2 }, seldom]);
      expect(await store.countFailedHandshakes(4_001, 9)).toEqual([]);
    });

    test("that count no more are forgotten when one is noted, of every key", async () => {
      await store.noteFailedHandshake(from("mine"), 1_000, FOR_EVER);
      await store.noteFailedHandshake(from("mine"), 2_000, FOR_EVER);
      await store.noteFailedHandshake(from("other"), 1_999, FOR_EVER);
      await store.noteFailedHandshake(from("mine"), 3_000, { forgetBefore: 2_000 });
      expect(await store.listFailedHandshakes(from("mine"), 0)).toEqual([2_000, 3_000]);
      expect(await store.listFailedHandshakes(from("other"), 0)).toEqual([]);
    });

    test("at two stores at once are all known to both, and to the next", async () => {
      const other = await opened.reopen();
      await Promise.all(
        upTo(20).map((at) =>
          (at % 2 === 0 ? store : other).noteFailedHandshake(from("mine"), at, { forgetBefore: 1 }),
        ),
      );
      expect(await store.listFailedHandshakes(from("mine"), 0)).toEqual(upTo(20));
      await store.close();
      expect(await other.listFailedHandshakes(from("mine"), 0)).toEqual(upTo(20));
      expect(await (await opened.reopen()).listFailedHandshakes(from("mine"), 0)).toEqual(upTo(20));
    });

    test("are asked about with any text, and so is a key", async () => {
      await create(store, "one");
      const [known, unknown] = await Promise.all([store.findKey("lyre_bot_one"), store.findKey("lyre\0")]);
      expect(known?.strategy?.strategyId).toBe("one");
      expect(unknown).toBeNull();
    });
  });
}
