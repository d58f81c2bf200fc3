// Credentials of copiers' accounts: sealed for one account alone, rewrapped for a new version of the master
// key, and gone once they are destroyed.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { VenueAccount } from "../domain/copying.ts";
import { readMasterKey } from "../keys/master-key.ts";
import { derivedKey, SealBroken } from "../keys/sealing.ts";
import { fileOf, newLine, newMasterKey, writeLines } from "../keys/testing/master-keys.ts";
import {
  areSealedBy,
  digestsOf,
  openCredentials,
  rewrapCredentials,
  sealCredentials,
} from "./credentials.ts";

const CREDENTIALS = { apiKey: "the key of Ada", apiSecret: "the secret of Ada" };

const PLACE = { venue: "https://api.example.com", type: "SPOT" } as const;

/** The store that rewrapping reads, with rows in memory, and the digests that were given to it. */
function rowsOf(rows: Map<string, string | null>) {
  const digests = new Map<string, string | undefined>();
  return {
    digests,
    findAccount: async () => PLACE as VenueAccount,
    listSealedAccounts: async () => [...rows].map(([accountId, sealed]) => ({ accountId, sealed })),
    async resealAccount(
      accountId: string,
      { from, to, keyDigest }: { from: string; to: string; keyDigest?: string },
    ) {
      if (rows.get(accountId) !== from) return false;
      digests.set(accountId, keyDigest);
      rows.set(accountId, to);
      return true;
    },
  };
}

function masterOf(...lines: readonly string[]) {
  return readMasterKey(fileOf(...lines));
}

test("credentials open for their own account alone, and nothing of them is seen", () => {
  const master = newMasterKey();
  const sealed = sealCredentials(master, "ada", CREDENTIALS);
  expect(openCredentials(master, "ada", sealed)).toEqual(CREDENTIALS);
  expect(sealed).not.toContain("Ada");
  expect(() => openCredentials(master, "bert", sealed)).toThrow(SealBroken);
});

test("with a new version of the master key every data key is rewrapped once; what is destroyed stays so", async () => {
  const [first, second] = [newLine(), newLine()];
  const master = masterOf(first);
  const sealed = sealCredentials(master, "ada", CREDENTIALS);
  const rows = new Map<string, string | null>([
    ["ada", sealed],
    ["gone", null],
  ]);
  expect(await rewrapCredentials(rowsOf(rows), master)).toBe(0);
  writeLines(master.file, first, second);
  master.lookAgain();
  master.useNewest();
  const store = rowsOf(rows);
  expect(await rewrapCredentials(store, master)).toBe(1);
  expect(store.digests.get("ada")).toBe(digestsOf(master, { ...PLACE, apiKey: CREDENTIALS.apiKey }, []).kept);
  expect(await rewrapCredentials(rowsOf(rows), master)).toBe(0);
  const rewrapped = rows.get("ada") ?? "";
  expect(rows.get("gone")).toBeNull();
  expect(openCredentials(master, "ada", rewrapped)).toEqual(CREDENTIALS);
  expect(areSealedBy(2, { sealed: rewrapped })).toBe(true);
  expect([areSealedBy(1, { sealed }), areSealedBy(1, { sealed: null })]).toEqual([true, false]);
});

test("credentials that were replaced, or destroyed, at the same time are left alone", async () => {
  const [first, second] = [newLine(), newLine()];
  const old = sealCredentials(masterOf(first), "ada", CREDENTIALS);
  const master = masterOf(first, second);
  for (const now of [sealCredentials(master, "ada", { ...CREDENTIALS, apiSecret: "another" }), null]) {
    const rows = new Map<string, string | null>([["ada", now]]);
    const store = { ...rowsOf(rows), listSealedAccounts: async () => [{ accountId: "ada", sealed: old }] };
    expect(await rewrapCredentials(store, master)).toBe(0);
    expect(rows.get("ada")).toBe(now);
  }
});

test("a key is recognized by its type and itself, at any origin, under each version of the master key", () => {
  const [first, second] = [newLine(), newLine()];
  const [old, master] = [masterOf(first), masterOf(first, second)];
  master.useNewest();
  const key = { type: "SPOT", apiKey: "the key" } as const;
  const before = digestsOf(old, key, []);
  const now = digestsOf(master, key, []);
  expect(before.known).toEqual([before.kept]);
  expect(now.known).toEqual([before.kept, now.kept]);
  expect(digestsOf(master, key, [PLACE.venue]).kept).toBe(now.kept);
  const others = [
    digestsOf(master, { ...key, apiKey: "another key" }, []),
    digestsOf(master, { ...key, type: "FUTURES" }, []),
    digestsOf(masterOf(newLine(), newLine()), key, []),
  ];
  const all = [now, ...others].flatMap(({ known }) => known);
  expect(new Set(all).size).toBe(all.length);
  expect(now.kept).not.toContain("key");
});

test("a key that an earlier release stored with its origin is known through every allowed origin", () => {
  const master = newMasterKey();
  const origins = [PLACE.venue, "https://api1.example.com"];
  const stored = (origin: string) =>
    createHmac("sha256", derivedKey(master, "lyrebird venue key", 1))
      .update(JSON.stringify([origin, "SPOT", "the key"]))
      .digest("base64url");
  const { known } = digestsOf(master, { type: "SPOT", apiKey: "the key" }, origins);
  expect(known).toEqual(expect.arrayContaining(origins.map(stored)));
});
