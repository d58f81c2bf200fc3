// Secrets of API keys: each is derived from the version of the master key that its key names. Numeric ids of
// their owners.
import { expect, test } from "vitest";
import { issueApiKey, secretOf, userNumberOf } from "./api-keys.ts";
import { readMasterKey } from "./master-key.ts";
import { fileOf, newLine } from "./testing/master-keys.ts";

const TERMS = { label: "test", ownerId: null, strategyId: null, createdAt: Date.UTC(2026, 0, 1) };

test("keys are made with the current version, and each secret is derived from the version that made it", () => {
  const [first, second] = [newLine(), newLine()];
  const old = issueApiKey(readMasterKey(fileOf(first)), TERMS);
  const master = readMasterKey(fileOf(first, second));
  const fresh = issueApiKey(master, TERMS);
  expect([old.record.masterVersion, fresh.record.masterVersion]).toEqual([1, 2]);
  expect(secretOf(master, old.record)).toBe(old.secret);
  expect(secretOf(master, fresh.record)).toBe(fresh.secret);
  expect(secretOf(master, { ...fresh.record, masterVersion: 1 })).not.toBe(fresh.secret);
  expect(() => secretOf(master, { ...fresh.record, masterVersion: 3 })).toThrow("version 3");
});

test("a person's number is an exact integer that is the same in every version", () => {
  expect(userNumberOf("60303ae22b998861")).toBe(86554939564793);
  const ids = Array.from({ length: 2_000 }, (_none, index) => index.toString(16).padStart(16, "0"));
  const numbers = ids.map(userNumberOf);
  expect(new Set(numbers).size).toBe(ids.length);
  expect(numbers.every(Number.isSafeInteger)).toBe(true);
  expect(Math.max(...numbers)).toBeLessThan(1e15);
});
