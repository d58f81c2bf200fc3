// Seals: they open for the same purpose, row and master key alone, and not if anything of them was changed.
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readMasterKey } from "./master-key.ts";
import { derivedKey, isSealedByCurrent, open, SealBroken, seal } from "./sealing.ts";
import { fileOf, newLine, newMasterKey, writeLines } from "./testing/master-keys.ts";

const WHERE = { purpose: "totp seed", row: "person-1" } as const;

/** The message of the error, which must be a SealBroken that reveals nothing of the text. */
function refusalOf(work: () => string): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(SealBroken);
    return (error as SealBroken).message;
  }
  throw new Error("it was opened");
}

describe("a sealed text", () => {
  const master = newMasterKey(2);
  const text = "JBSWY3DPEHPK3PXP";
  const sealed = seal(master, WHERE, text);

  test("opens where it was sealed, whatever the text", () => {
    for (const each of [text, "", "é\n\u0000🐦", "x".repeat(20_000)]) {
      expect(open(master, WHERE, seal(master, WHERE, each))).toBe(each);
    }
  });

  test("is another one each time, and shows nothing of the text", () => {
    const sealedTexts = Array.from({ length: 100 }, () => seal(master, WHERE, text));
    expect(new Set(sealedTexts).size).toBe(100);
    for (const each of sealedTexts) {
      expect(each).not.toContain(text);
      expect(each).toMatch(/^seal1\.2\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/);
    }
  });

  test("does not open in another row, for another purpose or with another master key", () => {
    const elsewhere = [
      () => open(master, { ...WHERE, row: "person-2" }, sealed),
      () => open(master, { ...WHERE, purpose: "kyc form" }, sealed),
      () => open(newMasterKey(2), WHERE, sealed),
    ];
    for (const each of elsewhere) expect(refusalOf(each)).not.toContain(text);
  });

  test("does not open after any of its characters was changed, left out or added", () => {
    for (let at = 0; at < sealed.length; at += 1) {
      for (const other of ["A", "B", "_", "-", ".", "0", "1", "3", "=", " ", "\n", "é"]) {
        if (other !== sealed[at]) {
          refusalOf(() => open(master, WHERE, sealed.slice(0, at) + other + sealed.slice(at + 1)));
        }
        refusalOf(() => open(master, WHERE, sealed.slice(0, at) + other + sealed.slice(at)));
      }
      refusalOf(() => open(master, WHERE, sealed.slice(0, at) + sealed.slice(at + 1)));
    }
    for (const other of ["A", "=", "\n", "."]) refusalOf(() => open(master, WHERE, sealed + other));
  });

  test("does not open after any of its bits was turned over", () => {
    const [form, version, ...parts] = sealed.split(".");
    for (const [index, part] of parts.entries()) {
      const bytes = Buffer.from(part, "base64url");
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const turned = Buffer.from(bytes);
        turned.writeUInt8(turned.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        const changed = parts.with(index, turned.toString("base64url"));
        refusalOf(() => open(master, WHERE, [form, version, ...changed].join(".")));
      }
    }
  });

  test("does not open with a shorter tag or another nonce's length", () => {
    const [form, version, nonce = "", ciphertext, tag = ""] = sealed.split(".");
    const cut = (part: string) => Buffer.from(part, "base64url").subarray(0, 8).toString("base64url");
    refusalOf(() => open(master, WHERE, [form, version, nonce, ciphertext, cut(tag)].join(".")));
    refusalOf(() => open(master, WHERE, [form, version, cut(nonce), ciphertext, tag].join(".")));
  });

  test("does not open with parts of another one of the same row", () => {
    const parts = sealed.split(".");
    const others = seal(master, WHERE, "KRUGKIDROVUWG2ZA").split(".");
    for (const index of [2, 3, 4]) {
      refusalOf(() => open(master, WHERE, parts.with(index, others[index] ?? "").join(".")));
    }
  });

  test("says which version of the master key it needs, if that is not there", () => {
    const [first, second] = [newLine(), newLine()];
    const both = readMasterKey(fileOf(first, second));
    const one = readMasterKey(fileOf(first));
    const mine = seal(both, WHERE, text);
    expect(refusalOf(() => open(one, WHERE, mine))).toMatch(/version 2/);
    expect(open(both, WHERE, seal(one, WHERE, text))).toBe(text);
    expect([isSealedByCurrent(both, mine), isSealedByCurrent(both, seal(one, WHERE, text))]).toEqual([
      true,
      false,
    ]);
    // Once the file has it, it is found.
    writeLines(one.file, first, second);
    expect(open(one, WHERE, mine)).toBe(text);
  });

  test("is refused if it is no sealed text at all", () => {
    const random = randomBytes(30).toString("base64url");
    for (const each of ["", "seal1", "seal1.1...", `seal2.1.${random}`, `seal1.01.${random}`, random]) {
      refusalOf(() => open(master, WHERE, each));
      refusalOf(() => String(isSealedByCurrent(master, each)));
    }
  });
});

test("derived keys differ by domain and by version, and are the same each time", () => {
  const master = newMasterKey(2);
  const texts = [
    derivedKey(master, "one"),
    derivedKey(master, "other"),
    derivedKey(master, "one", 1),
    derivedKey(newMasterKey(), "one"),
  ].map((key) => key.export().toString("hex"));
  expect(new Set(texts).size).toBe(4);
  expect(derivedKey(master, "one", 2).equals(derivedKey(master, "one"))).toBe(true);
  for (const text of texts) expect(text).toMatch(/^[0-9a-f]{64}$/);
});
