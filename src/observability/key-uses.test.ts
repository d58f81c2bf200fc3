import { describe, expect, test } from "vitest";
import type { KeyUse } from "../store/ports/people.ts";
import {
  FLUSHES_BETWEEN_WRITES,
  KEY_USE_FLUSH_MS,
  KeyUses,
  USES_MAX,
  USES_PER_WRITE_MAX,
} from "./key-uses.ts";

/** Uses over a store that may be out of reach; time passes when the test says so. */
function createFixture() {
  const written: KeyUse[][] = [];
  let isDown = false;
  let warnings = 0;
  let flush = () => {};
  let stopped = 0;
  const uses = new KeyUses({
    store: {
      async noteKeyUses(given) {
        if (isDown) throw new Error("out of reach");
        written.push([...given]);
      },
      async listKeyUses(keyIds) {
        const all = written.flat().filter(({ keyId }) => keyIds.includes(keyId));
        return new Map(all.map((use) => [use.keyId, use]));
      },
    },
    every(intervalMs, callback) {
      expect(intervalMs).toBe(KEY_USE_FLUSH_MS);
      flush = callback;
      return () => {
        stopped += 1;
      };
    },
    log: {
      warn: () => {
        warnings += 1;
      },
    },
  });
  return {
    uses,
    written,
    down: (is: boolean) => {
      isDown = is;
    },
    warnings: () => warnings,
    stopped: () => stopped,
    /** The timer's callback, and all that it began. */
    async turn() {
      flush();
      // The store answers without waiting for anything.
      await new Promise(setImmediate);
    },
  };
}

const use = (keyId: string, at: number) => ({ keyId, at, address: "192.0.2.7", route: "GET /a" });

describe("the last uses of keys", () => {
  test("are written together, the last of each key", async () => {
    const { uses, written, turn } = createFixture();
    uses.note("one", 1, "192.0.2.1", "POST", "/b");
    uses.note("two", 2, "192.0.2.7", "GET", "/a");
    uses.note("one", 3, "192.0.2.7", "GET", "/a");
    await turn();
    await turn();
    expect(written).toEqual([[use("one", 3), use("two", 2)]]);
  });

  test("are shown before they are written, and after", async () => {
    const { uses, turn } = createFixture();
    uses.note("one", 1, "192.0.2.7", "GET", "/a");
    expect([...(await uses.lastUses(["one", "two"]))]).toEqual([["one", use("one", 1)]]);
    await turn();
    expect((await uses.lastUses(["one"])).get("one")).toEqual(use("one", 1));
    uses.note("one", 5, "192.0.2.7", "GET", "/a");
    expect((await uses.lastUses(["one"])).get("one")).toEqual(use("one", 5));
  });

  test("that cannot be written are written the next time", async () => {
    const { uses, written, turn, down, warnings } = createFixture();
    down(true);
    uses.note("one", 1, "192.0.2.7", "GET", "/a");
    await turn();
    expect(warnings()).toBeGreaterThan(0);
    down(false);
    await turn();
    expect(written).toEqual([[use("one", 1)]]);
  });

  test("of one key are written at most once a minute, and none is lost", async () => {
    expect(FLUSHES_BETWEEN_WRITES * KEY_USE_FLUSH_MS).toBe(60_000);
    const { uses, written, turn } = createFixture();
    for (let flush = 0; flush < 2 * FLUSHES_BETWEEN_WRITES + 1; flush += 1) {
      uses.note("one", flush, "192.0.2.7", "GET", "/a");
      await turn();
      expect((await uses.lastUses(["one"])).get("one")).toEqual(use("one", flush));
    }
    const times = [0, FLUSHES_BETWEEN_WRITES, 2 * FLUSHES_BETWEEN_WRITES];
    expect(written).toEqual(times.map((at) => [use("one", at)]));
    uses.note("one", 99, "192.0.2.7", "GET", "/a");
    for (let flush = 1; flush < FLUSHES_BETWEEN_WRITES; flush += 1) await turn();
    expect(written).toHaveLength(times.length);
    await turn();
    expect(written.at(-1)).toEqual([use("one", 99)]);
  });

  test("of many keys are written by few at a time, each once", async () => {
    const { uses, written, turn } = createFixture();
    const keys = Array.from({ length: 2 * USES_PER_WRITE_MAX + 1 }, (_, index) => `key-${index}`);
    for (const key of keys) uses.note(key, 1, "192.0.2.7", "GET", "/a");
    await turn();
    expect(written.map(({ length }) => length)).toEqual([USES_PER_WRITE_MAX, USES_PER_WRITE_MAX, 1]);
    expect(written.flat()).toEqual(keys.map((key) => use(key, 1)));
  });

  test("are of bounded number, and make room when they were unused for a minute", async () => {
    const { uses, turn } = createFixture();
    for (let key = 0; key < USES_MAX; key += 1) uses.note(`key-${key}`, 1, "192.0.2.7", "GET", "/a");
    const isNoted = async () => {
      uses.note("further", 2, "192.0.2.7", "GET", "/a");
      return (await uses.lastUses(["further"])).has("further");
    };
    expect(await isNoted()).toBe(false);
    for (let flush = 0; flush < FLUSHES_BETWEEN_WRITES; flush += 1) await turn();
    expect(await isNoted()).toBe(false);
    await turn();
    expect(await isNoted()).toBe(true);
  });

  test("are written at the end, also those of a key that was just written", async () => {
    const { uses, written, stopped, turn } = createFixture();
    uses.note("one", 1, "192.0.2.7", "GET", "/a");
    await turn();
    uses.note("one", 2, "192.0.2.7", "GET", "/a");
    await uses.close();
    expect(written).toEqual([[use("one", 1)], [use("one", 2)]]);
    expect(stopped()).toBe(1);
  });
});
