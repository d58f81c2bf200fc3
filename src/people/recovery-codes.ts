// Codes for people who have lost their authenticator: each replaces one of its codes, once. The store has
// hashes only. A code has 140 random bits, so that not even the hashes help to guess one. Source: OWASP ASVS
// 5.0, 6.5.2 and 11.5.1.
import { createHash, randomBytes } from "node:crypto";

/** How many a person gets at a time. */
export const RECOVERY_CODES = 10;
const LETTERS = 28;
/** Of the codes of earlier versions, which still work. */
const LETTERS_BEFORE = 16;
const GROUP = /.{4}(?=.)/g;
/** Without letters that look like digits. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TAKEN_FOR: Readonly<Record<string, string>> = { O: "0", I: "1", L: "1" };

/** New codes, such as `7Q2M-XK0D-93FA-TB6V-0HJ8-RW5C-2D9K`. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    [...randomBytes(LETTERS)]
      .map((byte) => ALPHABET[byte % ALPHABET.length])
      .join("")
      .replace(GROUP, "$&-"),
  );
}

/** The hash of a person's code, in whatever form it was typed. Null if it cannot be a code. */
export function hashOfRecoveryCode(personId: string, typed: string): string | null {
  const letters = typed
    .toUpperCase()
    .replace(/[\s-]/g, "")
    .replace(/[OIL]/g, (letter) => TAKEN_FOR[letter] ?? letter);
  const isLongEnough = letters.length === LETTERS || letters.length === LETTERS_BEFORE;
  if (!isLongEnough || ![...letters].every((letter) => ALPHABET.includes(letter))) return null;
  return createHash("sha256")
    .update(JSON.stringify(["lyrebird recovery code", personId, letters]))
    .digest("hex");
}
