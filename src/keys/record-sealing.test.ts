// Sealed records: they open for the same purpose, row and master key alone, and another version of the master
// key leaves their text as it is.
import { expect, test } from "vitest";
import { readMasterKey } from "./master-key.ts";
import { isRecordSealedBy, openRecord, type RecordSeal, rewrapRecord, sealRecord } from "./record-sealing.ts";
import { SealBroken } from "./sealing.ts";
import { fileOf, newLine, newMasterKey, writeLines } from "./testing/master-keys.ts";

const WHERE = { purpose: "venue credentials", row: "account-1" } as const;
const TEXT = '{"apiKey":"a key","apiSecret":"a secret"}';

/** The message of the error, which must be a SealBroken that reveals nothing of the text. */
function refusalOf(work: () => string): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(SealBroken);
    expect((error as SealBroken).message).not.toContain("secret");
    return (error as SealBroken).message;
  }
  throw new Error("it was opened");
}

test("a sealed record opens where it was sealed, is another one each time, and shows nothing of the text", () => {
  const master = newMasterKey(2);
  for (const text of [TEXT, "", "é\n\u0000🐦", "x".repeat(20_000)]) {
    expect(openRecord(master, WHERE, sealRecord(master, WHERE, text))).toBe(text);
  }
  const sealed = Array.from({ length: 50 }, () => sealRecord(master, WHERE, TEXT));
  expect(new Set(sealed.flatMap((each) => each.split(".").slice(2))).size).toBe(50 * 6);
  for (const each of sealed) {
    expect(each).toMatch(/^seal2\.2\.[\w-]{16}\.[\w-]{43}\.[\w-]{22}\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/);
    expect(isRecordSealedBy(2, each)).toBe(true);
  }
});

test("it does not open in another row, for another purpose or with another master key", () => {
  const master = newMasterKey(2);
  const sealed = sealRecord(master, WHERE, TEXT);
  const otherPurpose = { ...WHERE, purpose: "kyc form" } as unknown as RecordSeal;
  for (const work of [openRecord, rewrapRecord]) {
    refusalOf(() => work(master, { ...WHERE, row: "account-2" }, sealed));
    refusalOf(() => work(master, otherPurpose, sealed));
    refusalOf(() => work(newMasterKey(2), WHERE, sealed));
  }
});

test("it does not open as if another version of the master key had wrapped it", () => {
  const master = newMasterKey(3);
  const sealed = sealRecord(master, WHERE, TEXT);
  for (const version of [1, 2, 4]) {
    refusalOf(() => openRecord(master, WHERE, sealed.replace(/^seal2\.3/, `seal2.${version}`)));
  }
});

test("it does not open after any of its characters was changed, left out or added", () => {
  const master = newMasterKey(2);
  const sealed = sealRecord(master, WHERE, TEXT);
  for (let at = 0; at < sealed.length; at += 1) {
    for (const other of ["A", "B", "_", "-", ".", "0", "1", "=", "\n", "é"]) {
      if (other !== sealed[at]) {
        refusalOf(() => openRecord(master, WHERE, sealed.slice(0, at) + other + sealed.slice(at + 1)));
      }
      refusalOf(() => openRecord(master, WHERE, sealed.slice(0, at) + other + sealed.slice(at)));
    }
    refusalOf(() => openRecord(master, WHERE, sealed.slice(0, at) + sealed.slice(at + 1)));
  }
});

test("it does not open after any of its bits was turned over, nor with parts of another one of the same row", () => {
  const master = newMasterKey();
  const [form, version, ...parts] = sealRecord(master, WHERE, TEXT).split(".");
  const others = sealRecord(master, WHERE, TEXT).split(".").slice(2);
  for (const [index, part] of parts.entries()) {
    const bytes = Buffer.from(part, "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const turned = Buffer.from(bytes);
      turned.writeUInt8(turned.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const changed = parts.with(index, turned.toString("base64url"));
      refusalOf(() => openRecord(master, WHERE, [form, version, ...changed].join(".")));
    }
    refusalOf(() =>
      openRecord(master, WHERE, [form, version, ...parts.with(index, others[index] ?? "")].join(".")),
    );
  }
  // The wrapped key of another record of the row, whole, opens another text alone.
  const exchanged = [...others.slice(0, 3), ...parts.slice(3)];
  refusalOf(() => openRecord(master, WHERE, [form, version, ...exchanged].join(".")));
  refusalOf(() => rewrapRecord(master, WHERE, [form, version, ...exchanged].join(".")));
});

test("rewrapping leaves the text's own parts unchanged, and the old version is not needed any more", () => {
  const [first, second] = [newLine(), newLine()];
  const one = readMasterKey(fileOf(first));
  const sealed = sealRecord(one, WHERE, TEXT);
  writeLines(one.file, first, second);
  one.lookAgain();
  one.useNewest();
  const rewrapped = rewrapRecord(one, WHERE, sealed);
  expect(rewrapped.split(".").slice(5)).toEqual(sealed.split(".").slice(5));
  const kept = new Set(sealed.split(".").slice(2, 5));
  for (const part of rewrapped.split(".").slice(2, 5)) expect(kept).not.toContain(part);
  expect([isRecordSealedBy(1, sealed), isRecordSealedBy(2, rewrapped)]).toEqual([true, true]);
  // With a first version that is another one, only what the second wraps opens.
  const later = readMasterKey(fileOf(newLine(), second));
  expect(openRecord(later, WHERE, rewrapped)).toBe(TEXT);
  refusalOf(() => openRecord(later, WHERE, sealed));
});

test("it says which version of the master key it needs, if that is not there", () => {
  const [first, second] = [newLine(), newLine()];
  const both = readMasterKey(fileOf(first, second));
  const sealed = sealRecord(both, WHERE, TEXT);
  expect(refusalOf(() => openRecord(readMasterKey(fileOf(first)), WHERE, sealed))).toMatch(/version 2/);
});

test("what is no sealed record is refused", () => {
  const master = newMasterKey();
  const sealed = sealRecord(master, WHERE, TEXT);
  for (const each of [
    "",
    "seal2",
    "seal2.1......",
    sealed.replace("seal2", "seal1"),
    sealed.replace("seal2.1", "seal2.01"),
    `${sealed}.`,
    sealed.split(".").slice(0, 5).join("."),
  ]) {
    refusalOf(() => openRecord(master, WHERE, each));
    refusalOf(() => String(isRecordSealedBy(1, each)));
  }
});
