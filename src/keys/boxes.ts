// AES-256-GCM for sealed texts: a box is a nonce, a ciphertext and a tag, each in base64url. It opens only
// with its key, its binding, and its exact spelling.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type Box = { readonly nonce: Buffer; readonly ciphertext: Buffer; readonly tag: Buffer };

/** Encrypts under a new nonce. `boundTo` is not in the box; the box opens only with the same value. */
export function box(key: KeyObject, boundTo: Buffer, content: Buffer): Box {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo);
  const ciphertext = Buffer.concat([cipher.update(content), cipher.final()]);
  return { nonce, ciphertext, tag: cipher.getAuthTag() };
}

/** The content of a box; null if it was changed, or the key or the binding differs. */
export function unbox(key: KeyObject, boundTo: Buffer, { nonce, ciphertext, tag }: Box): Buffer | null {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo);
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    return null;
  }
}

/** A box as text: nonce, ciphertext and tag. */
export function writeBox({ nonce, ciphertext, tag }: Box): readonly [string, string, string] {
  return [nonce.toString("base64url"), ciphertext.toString("base64url"), tag.toString("base64url")];
}

/** The box in this text; null if the text is not a box. */
export function readBox(texts: readonly string[]): Box | null {
  const parts = texts.map((text) => Buffer.from(text, "base64url"));
  const [nonce, ciphertext, tag] = parts;
  const isWhole =
    parts.length === 3 &&
    nonce?.length === NONCE_BYTES &&
    tag?.length === TAG_BYTES &&
    ciphertext !== undefined &&
    // Base64 has spare bits: one spelling alone is the sealed text.
    parts.every((part, index) => part.toString("base64url") === texts[index]);
  return isWhole ? { nonce, ciphertext, tag } : null;
}
