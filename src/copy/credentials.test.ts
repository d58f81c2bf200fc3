// Credentials of copiers' accounts: sealed for one account alone, wrapped anew for a new version of the master key, and gone once
// they are destroyed.
import { expect, test } from "vitest";
import { readMasterKey } from "../identity/api-keys.ts";
import { SealBroken } from "../identity/sealing.ts";
import { fileOf, newLine, newMasterKey, writeLines } from "../identity/testing/master-keys.ts";
import { areSealedBy, openCredentials, rewrapCredentials, sealCredentials } from "./credentials.ts";

const CREDENTIALS = { apiKey: "the key of Ada", apiSecret: "the secret of Ada" };

/** The two questions that wrapping anew asks a store, of rows in memory. */
function rowsOf(rows: Map<string, string | null>) {
  return {
    listSealedAccounts: async () => [...rows].map(([accountId, sealed]) => ({ accountId, sealed })),
    async resealAccount(accountId: string, { from, to }: { from: string; to: string }) {
      if (rows.get(accountId) !== from) return false;
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

test("with a new version of the master key every data key is wrapped anew, once; what is destroyed stays so", async () => {
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
  expect(await rewrapCredentials(rowsOf(rows), master)).toBe(1);
  expect(await rewrapCredentials(rowsOf(rows), master)).toBe(0);
  const rewrapped = rows.get("ada") ?? "";
  expect(rows.get("gone")).toBeNull();
  expect(openCredentials(master, "ada", rewrapped)).toEqual(CREDENTIALS);
  expect(areSealedBy(2, { sealed: rewrapped })).toBe(true);
  expect([areSealedBy(1, { sealed }), areSealedBy(1, { sealed: null })]).toEqual([true, false]);
});

test("credentials that were replaced, or destroyed, meanwhile are left alone", async () => {
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
