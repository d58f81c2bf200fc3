// An API key has one listen key, until that expires or is closed.
import { describe, expect, test } from "vitest";
import type { Opened } from "./store-under-test.ts";

const HOUR_MS = 3_600_000;
const AT = 1_795_228_304_525;

export function listenKeyCases(opened: Opened): void {
  describe("listen keys", () => {
    const { store } = opened;

    const open = (apiKey: string, listenKey: string, now: number) =>
      store.openListenKey({ apiKey, listenKey, expiresAt: now + HOUR_MS }, now);

    test("one is opened, and answered and extended as long as it has not expired", async () => {
      expect(await open("mine", "first", AT)).toBe("first");
      expect(await open("mine", "second", AT + HOUR_MS - 1)).toBe("first");
      expect(await store.findListenKeys(["first", "second", "nul\0"])).toEqual([
        { listenKey: "first", apiKey: "mine", expiresAt: AT + 2 * HOUR_MS - 1 },
      ]);
      expect(await open("mine", "third", AT + 2 * HOUR_MS)).toBe("third");
      expect(await store.findListenKeys(["first"])).toEqual([]);
    });

    test("is each API key's own", async () => {
      await open("mine", "first", AT);
      await open("yours", "other", AT);
      expect(await store.closeListenKey("mine", AT)).toBe(true);
      expect(await store.findListenKeys(["first", "other"])).toEqual([
        { listenKey: "other", apiKey: "yours", expiresAt: AT + HOUR_MS },
      ]);
      expect(await store.findListenKeys([])).toEqual([]);
    });

    test("is extended only before it expires, and by nobody who has none", async () => {
      await open("mine", "first", AT);
      const until = { now: AT + HOUR_MS - 1, expiresAt: AT + 2 * HOUR_MS };
      expect(await store.extendListenKey("mine", until)).toBe("first");
      expect(await store.extendListenKey("yours", until)).toBeNull();
      const late = { now: AT + 2 * HOUR_MS, expiresAt: AT + 3 * HOUR_MS };
      expect(await store.extendListenKey("mine", late)).toBeNull();
    });

    test("is closed once, and not after it has expired", async () => {
      await open("mine", "first", AT);
      expect(await store.closeListenKey("mine", AT)).toBe(true);
      expect(await store.closeListenKey("mine", AT)).toBe(false);
      await open("mine", "second", AT);
      expect(await store.closeListenKey("mine", AT + HOUR_MS)).toBe(false);
    });

    test("of two that are opened at once both callers get the same", async () => {
      const keys = await Promise.all(["a", "b", "c", "d"].map((listenKey) => open("mine", listenKey, AT)));
      expect(new Set(keys).size).toBe(1);
    });
  });
}
