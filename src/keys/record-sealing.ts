// Envelope encryption: the text is encrypted under a random data key of the record's own, and this key is
// wrapped under a key derived from the master key. A new version of the master key rewraps the data key and
// leaves the text unchanged; destroying the record destroys the only key to its text.
// A sealed record is `seal2.<master version>.<wrapped data key>.<text>`, the key and the text each as nonce,
// ciphertext and tag in base64url. Both are bound to the purpose and the row, the wrapped key to the version
// as well.
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { type Box, box, readBox, unbox, writeBox } from "./boxes.ts";
import type { MasterKey } from "./master-key.ts";
import { derivedKey, SealBroken } from "./sealing.ts";

const FORM = "seal2";
const DATA_KEY_BYTES = 32;
/** Separates the keys that wrap from all else that is derived. */
const WRAP_DOMAIN = "lyrebird wrap";
const SEALED = new RegExp(String.raw`^seal2\.([1-9][0-9]{0,5})${String.raw`\.([\w-]*)`.repeat(6)}$`);

/** The purpose and the row of a sealed record: it opens for the same alone. */
export type RecordSeal = {
  readonly purpose: "venue credentials";
  /** The id of its row. */
  readonly row: string;
};

/** Seals a text under a data key of its own, wrapped under the current version of the master key. */
export function sealRecord(master: MasterKey, where: RecordSeal, text: string): string {
  const dataKey = randomBytes(DATA_KEY_BYTES);
  const content = box(createSecretKey(dataKey), bindingOf(where), Buffer.from(text, "utf8"));
  return written(master, where, dataKey, content);
}

/**
 * The text that was sealed. Throws SealBroken if it was changed, belongs elsewhere, or needs a version that
 * is not there.
 */
export function openRecord(master: MasterKey, where: RecordSeal, sealed: string): string {
  const { dataKey, content } = unwrapped(master, where, sealed);
  const text = unbox(createSecretKey(dataKey), bindingOf(where), content);
  if (text === null) throw brokenOf(where);
  return text.toString("utf8");
}

/**
 * The same record with its data key wrapped under the current version of the master key. Throws SealBroken as
 * opening does.
 */
export function rewrapRecord(master: MasterKey, where: RecordSeal, sealed: string): string {
  const { dataKey, content } = unwrapped(master, where, sealed);
  if (unbox(createSecretKey(dataKey), bindingOf(where), content) === null) throw brokenOf(where);
  return written(master, where, dataKey, content);
}

/** Whether a record's data key is wrapped under a version of the master key. */
export function isRecordSealedBy(version: number, sealed: string): boolean {
  return partsOf(sealed).version === version;
}

function written(master: MasterKey, where: RecordSeal, dataKey: Buffer, content: Box): string {
  const version = master.current;
  const wrapped = box(wrapperFor(master, where, version), bindingOf(where, version), dataKey);
  return [FORM, version, ...writeBox(wrapped), ...writeBox(content)].join(".");
}

function unwrapped(master: MasterKey, where: RecordSeal, sealed: string) {
  const { version, wrapped, content } = partsOf(sealed);
  if (!master.has(version)) {
    throw new SealBroken(`sealed ${where.purpose} need version ${version} of the master key`);
  }
  const dataKey = unbox(wrapperFor(master, where, version), bindingOf(where, version), wrapped);
  if (dataKey === null) throw brokenOf(where);
  return { dataKey, content };
}

function partsOf(sealed: string) {
  const [, version = "", ...texts] = SEALED.exec(sealed) ?? [];
  const wrapped = readBox(texts.slice(0, 3));
  const content = readBox(texts.slice(3));
  if (wrapped === null || content === null) {
    throw new SealBroken("a sealed record does not have the form of one");
  }
  return { version: Number(version), wrapped, content };
}

function brokenOf({ purpose }: RecordSeal): SealBroken {
  return new SealBroken(`sealed ${purpose} do not open: they were changed, or belong elsewhere`);
}

function wrapperFor(master: MasterKey, { purpose }: RecordSeal, version: number): KeyObject {
  return derivedKey(master, `${WRAP_DOMAIN}|${purpose}`, version);
}

/** The binding of the text, which outlives versions, or of the data key as one version has wrapped it. */
function bindingOf({ purpose, row }: RecordSeal, version: number | null = null): Buffer {
  return Buffer.from(
    JSON.stringify(version === null ? [FORM, "text", purpose, row] : [FORM, "key", version, purpose, row]),
  );
}
