import { describe, expect, test } from "vitest";
import type { KeyUse } from "../store/ports/people.ts";
import { KEY_USE_FLUSH_MS, KeyUses } from "./key-uses.ts";

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
    async turn() {
      flush();
      await uses.flush();
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

  test("are written at the end", async () => {
    const { uses, written, stopped } = createFixture();
    uses.note("one", 1, "192.0.2.7", "GET", "/a");
    await uses.close();
    expect(written).toEqual([[use("one", 1)]]);
    expect(stopped()).toBe(1);
  });
});
