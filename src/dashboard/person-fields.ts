// Fields of forms about people.
import { z } from "zod";
import { NOT_SHOWN, SHOWN_TEXT } from "./text-fields.ts";

/** Longer ones cannot be delivered to. Source: RFC 5321, section 4.5.3.1.3. */
const EMAIL_LENGTH_MAX = 254;
const NAME_LENGTH_MAX = 80;
/** Far beyond the longest that is fit, which is said in words; so that no more than this is looked at. */
const PASSWORD_TEXT_MAX = 1_000;
const TOKEN_LENGTH_MAX = 200;

/** Without the spaces around it, and in lower case, as addresses are kept. */
export const emailField = z
  .string()
  .trim()
  .toLowerCase()
  .max(EMAIL_LENGTH_MAX, `is longer than ${EMAIL_LENGTH_MAX} characters`)
  .pipe(z.email("is not an e-mail address"));

/** Strangers and operators are shown it. */
export const nameField = z
  .string()
  .trim()
  .min(1, "is missing")
  .max(NAME_LENGTH_MAX, `is longer than ${NAME_LENGTH_MAX} characters`)
  .regex(SHOWN_TEXT, NOT_SHOWN);

/** Whether it is fit to be one is said where one is chosen. */
export const passwordField = z.string().min(1, "is missing").max(PASSWORD_TEXT_MAX, "is too long");

/** The token of a link that was mailed. */
export const tokenField = z.string().max(TOKEN_LENGTH_MAX);
