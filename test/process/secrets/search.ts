// Searching bytes for secrets, in every form that they might have been written in. All forms of all secrets
// are looked for in one pass, since a heap has hundreds of megabytes and the forms are thousands.

export type Secret = {
  /** The kind of secret, for readers of the findings. */
  readonly kind: string;
  readonly text: string;
};

/** Bytes to be searched, and what they are called. */
export type Haystack = { readonly name: string; readonly bytes: Buffer };

export type Found = { readonly where: string; readonly kind: string; readonly form: string };

type Needle = { readonly kind: string; readonly form: string; readonly bytes: Buffer };

/** Needles are distinguished by this many of their first bytes. */
const HEAD_BYTES = 4;
const HASH_BITS = 20;
/** Shorter ones would be found by chance. */
const NEEDLE_BYTES_MIN = 8;

/** Every occurrence of any form of these secrets, each form once for each haystack and kind. */
export function findSecrets(secrets: Iterable<Secret>, haystacks: Iterable<Haystack>): Found[] {
  const needles = [...secrets].flatMap(needlesOf);
  return [...haystacks].flatMap(({ name, bytes }) =>
    [...new Set(occurrences(needles, bytes).map(({ kind, form }) => `${kind}|${form}`))].map((found) => {
      const [kind = "", form = ""] = found.split("|");
      return { where: name, kind, form };
    }),
  );
}

/** How often a text itself is in another. */
export function countOf(text: string, whole: string): number {
  return whole.split(text).length - 1;
}

function occurrences(needles: readonly Needle[], bytes: Buffer): Needle[] {
  const byHead = new Map<number, Needle[]>();
  const isHead = new Uint8Array(1 << HASH_BITS);
  for (const needle of needles) {
    const head = needle.bytes.readUInt32LE(0);
    byHead.set(head, [...(byHead.get(head) ?? []), needle]);
    isHead[hashOf(head)] = 1;
  }
  const found: Needle[] = [];
  let head = 0;
  for (let end = 0; end < bytes.length; end += 1) {
    head = ((head >>> 8) | ((bytes[end] ?? 0) << 24)) >>> 0;
    if (isHead[hashOf(head)] === 0) continue;
    const start = end - HEAD_BYTES + 1;
    for (const needle of byHead.get(head) ?? []) {
      if (start >= 0 && bytes.subarray(start, start + needle.bytes.length).equals(needle.bytes))
        found.push(needle);
    }
  }
  return found;
}

function hashOf(head: number): number {
  return Math.imul(head, 0x9e3779b1) >>> (32 - HASH_BITS);
}

/** The forms of a secret: as text, as the bytes that the text may encode, and the encodings of both. */
function needlesOf({ kind, text }: Secret): Needle[] {
  const written = Buffer.from(text, "utf8");
  const spellings: readonly (readonly [form: string, bytes: Buffer])[] = [
    ["text", written],
    ["text in JSON", Buffer.from(JSON.stringify(text).slice(1, -1), "utf8")],
    ["text in an address", Buffer.from(encodeURIComponent(text), "utf8")],
    ...meanings(text),
  ];
  const encoded = spellings.flatMap(([form, bytes]) => [
    [form, bytes] as const,
    ...[bytes.toString("hex"), bytes.toString("hex").toUpperCase()].map(
      (hex) => [`${form} as hex`, Buffer.from(hex)] as const,
    ),
    ...(["base64", "base64url"] as const).flatMap((encoding) =>
      [0, 1, 2].map(
        (offset) => [`${form} as ${encoding}`, Buffer.from(middleOf(bytes, offset, encoding))] as const,
      ),
    ),
  ]);
  const wide = encoded.map(
    ([form, bytes]) => [`${form} in UTF-16`, Buffer.from(bytes.toString("latin1"), "utf16le")] as const,
  );
  const unique = new Map<string, Needle>();
  for (const [form, bytes] of [...encoded, ...wide]) {
    const name = bytes.toString("latin1");
    if (bytes.length >= NEEDLE_BYTES_MIN && !unique.has(name)) unique.set(name, { kind, form, bytes });
  }
  return [...unique.values()];
}

/** The bytes that a text may be the writing of. */
function meanings(text: string): (readonly [form: string, bytes: Buffer])[] {
  return [
    ...(/^([0-9a-f]{2}){8,}$/i.test(text) ? [["bytes of hex", Buffer.from(text, "hex")] as const] : []),
    ...(/^[\w-]{20,}$/.test(text) ? [["bytes of base64", Buffer.from(text, "base64url")] as const] : []),
    ...(/^[A-Z2-7]{16,}$/.test(text) ? [["bytes of base32", bytesOfBase32(text)] as const] : []),
    // Recovery codes are compared without what groups them.
    ...(/^(\w{4}-)+\w{4}$/.test(text) ? [["letters", Buffer.from(text.replaceAll("-", ""))] as const] : []),
  ];
}

/**
 * The base64 of some bytes at any position of a longer text; `offset` is the number of bytes before them in
 * their group.
 */
function middleOf(bytes: Buffer, offset: number, encoding: "base64" | "base64url"): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString(encoding)
    .replace(/=+$/, "");
  // The first and the last character may also depend on neighboring bytes.
  return text.slice(offset === 0 ? 0 : offset + 1, -1);
}

function bytesOfBase32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  const bytes = bits.match(/[01]{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
