// Sealing: confidential texts in the database (seeds of authenticators, identity forms) are encrypted under a
// key derived from the master key, and bound to their purpose and row. Neither file alone reveals anything,
// and a sealed text that was changed, or moved into another row, does not open.
// A sealed text is `seal1.<master version>.<nonce>.<ciphertext>.<tag>`, the last three in base64url. Its
// first word names the format; the other one is `seal2`, with a data key per record (`record-sealing.ts`).
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { box, readBox, unbox, writeBox } from "./boxes.ts";
import type { MasterKey } from "./master-key.ts";

const FORM = "seal1";
const KEY_BYTES = 32;
/** Separates the keys of seals from all else that is derived. */
const SEAL_DOMAIN = "lyrebird seal";
const SEALED = /^seal1\.([1-9][0-9]{0,5})\.([\w-]+)\.([\w-]*)\.([\w-]+)$/;

/** The purpose and the row of a sealed text: it opens for the same alone. */
export type Seal = {
  readonly purpose: "totp seed" | "kyc form";
  /** The id of its row. */
  readonly row: string;
};

/** A sealed text cannot be opened. The message reveals nothing of its content. */
export class SealBroken extends Error {}

/**
 * A key for one use alone, by HKDF-SHA256; of the current version of the master key unless another is named.
 */
export function derivedKey(master: MasterKey, domain: string, version = master.current): KeyObject {
  return createSecretKey(
    Buffer.from(hkdfSync("sha256", master.keyOf(version), Buffer.alloc(0), domain, KEY_BYTES)),
  );
}

/** Seals a text under the current version of the master key, with AES-256-GCM. */
export function seal(master: MasterKey, where: Seal, text: string): string {
  const version = master.current;
  const sealed = box(keyFor(master, where, version), bindingOf(where, version), Buffer.from(text, "utf8"));
  return [FORM, version, ...writeBox(sealed)].join(".");
}

/**
 * The text that was sealed. Throws SealBroken if it was changed, belongs elsewhere, or needs a version that
 * is not there.
 */
export function open(master: MasterKey, where: Seal, sealed: string): string {
  const { version, content } = partsOf(sealed);
  if (!master.has(version)) {
    throw new SealBroken(`a sealed ${where.purpose} needs version ${version} of the master key`);
  }
  const text = unbox(keyFor(master, where, version), bindingOf(where, version), content);
  if (text === null) {
    throw new SealBroken(`a sealed ${where.purpose} does not open: it was changed, or belongs elsewhere`);
  }
  return text.toString("utf8");
}

/** Whether a text is sealed by the current version of the master key; if not, it should be sealed again. */
export function isSealedByCurrent(master: MasterKey, sealed: string): boolean {
  return isSealedBy(master.current, sealed);
}

/** Whether a text is sealed by a version of the master key. */
export function isSealedBy(version: number, sealed: string): boolean {
  return partsOf(sealed).version === version;
}

/** Where the sealed texts of one purpose are stored. */
type SealedRows<Row, Store> = {
  readonly purpose: Seal["purpose"];
  readonly idOf: (row: Row) => string;
  readonly sealedOf: (row: Row) => string;
  readonly list: (store: Store) => Promise<readonly Row[]>;
  /** Replaces a sealed text while it is the row's; answers whether it was. */
  readonly replace: (store: Store, id: string, seals: Seals) => Promise<boolean>;
};

type Seals = { readonly from: string; readonly to: string };

/** How the texts of one purpose are sealed and opened, each for its own row alone. */
export function sealedRows<Row, Store>({ purpose, idOf, sealedOf, list, replace }: SealedRows<Row, Store>) {
  const sealRow = (master: MasterKey, id: string, text: string) => seal(master, { purpose, row: id }, text);
  const openRow = (master: MasterKey, row: Row) => open(master, { purpose, row: idOf(row) }, sealedOf(row));
  const resealRow = async (store: Store, master: MasterKey, row: Row): Promise<boolean> => {
    const from = sealedOf(row);
    if (isSealedByCurrent(master, from)) return false;
    return await replace(store, idOf(row), { from, to: sealRow(master, idOf(row), openRow(master, row)) });
  };
  return {
    /** Seals the text of a row under the current version of the master key. */
    seal: sealRow,
    /** The text of a row. Throws SealBroken if it does not open. */
    open: openRow,
    /** Seals a row again if its seal is of an older version of the key; answers whether it was replaced. */
    reseal: resealRow,
    /** Seals again every row whose seal is of an older version; answers how many. */
    async resealAll(store: Store, master: MasterKey): Promise<number> {
      let resealed = 0;
      for (const row of await list(store)) if (await resealRow(store, master, row)) resealed += 1;
      return resealed;
    },
  };
}

function partsOf(sealed: string) {
  const [, version = "", ...texts] = SEALED.exec(sealed) ?? [];
  const content = readBox(texts);
  if (content === null) throw new SealBroken("a sealed text does not have the form of one");
  return { version: Number(version), content };
}

function keyFor(master: MasterKey, { purpose }: Seal, version: number): KeyObject {
  return derivedKey(master, `${SEAL_DOMAIN}|${purpose}`, version);
}

function bindingOf({ purpose, row }: Seal, version: number): Buffer {
  return Buffer.from(JSON.stringify([FORM, version, purpose, row]));
}
