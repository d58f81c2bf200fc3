import { expect, test } from "vitest";
import type { AuditAction } from "../../../src/domain/audit.ts";
import { auditWords, detailsInWords } from "./words.ts";

test("a record of another version, whose action is unknown here, is shown by its name", () => {
  expect(auditWords("KEY_CREATED")).toBe("API key created");
  expect(auditWords("KEY_LENT" as AuditAction)).toBe("Key lent");
});

test("each detail follows its name", () => {
  expect(detailsInWords({ address: "127.0.0.1", masterVersion: "2" })).toBe(
    "address: 127.0.0.1 · master version: 2",
  );
  expect(detailsInWords({})).toBe("");
});
