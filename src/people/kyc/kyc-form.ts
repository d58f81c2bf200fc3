// The identity form: what people state about themselves, for an operator to compare with a document.
import { z } from "zod";
import { COUNTRIES } from "./countries.ts";

export const DOCUMENT_KINDS = ["PASSPORT", "IDENTITY_CARD", "DRIVING_LICENCE"] as const;

/** Years. */
const AGE_MIN = 18;
const AGE_MAX = 120;

/** A text that a person typed: composed characters, no control characters, no surrounding space. */
const text = (least: number, most: number) =>
  z
    .string()
    .transform((written) => written.normalize("NFC").trim())
    .refine((written) => written.length >= least, `must have at least ${least} characters`)
    .refine((written) => written.length <= most, `must have at most ${most} characters`);
const line = (least: number, most: number) =>
  text(least, most).refine((written) => !/\p{C}/u.test(written), "must be one line of plain text");

export const KYC_FORM = z.strictObject({
  fullName: line(2, 200).refine((name) => /\p{L}/u.test(name), "is not a name"),
  birthDate: z.iso.date({ error: "is not a date: write it as YYYY-MM-DD" }),
  country: z
    .string()
    .refine((code) => COUNTRIES.has(code), "is not a two-letter country code such as DE (ISO 3166)"),
  // An address has several lines.
  address: text(5, 500).refine((written) => !/[^\P{C}\n]/u.test(written), "must be plain text"),
  documentKind: z.enum(DOCUMENT_KINDS, { error: `must be ${DOCUMENT_KINDS.join(" or ")}` }),
  documentNumber: line(3, 50).refine(
    (number) => /^[\p{L}\p{N} ./-]+$/u.test(number),
    "must be letters and digits, as on the document",
  ),
});
export type KycForm = z.infer<typeof KYC_FORM>;

/** What is wrong with a date of birth, as of a time (Unix ms); null if nothing is. */
export function faultOfBirthDate(birthDate: string, now: number): string | null {
  if (Date.parse(birthDate) > now) return "is in the future";
  if (now < birthdayOf(birthDate, AGE_MIN)) return `must be at least ${AGE_MIN} years ago`;
  if (now >= birthdayOf(birthDate, AGE_MAX)) return `must be less than ${AGE_MAX} years ago`;
  return null;
}

/** When a birthday begins, in UTC. In other years one of 29 February is on 1 March. */
function birthdayOf(birthDate: string, age: number): number {
  const born = new Date(birthDate);
  return Date.UTC(born.getUTCFullYear() + age, born.getUTCMonth(), born.getUTCDate());
}
