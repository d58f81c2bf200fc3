// What a browser sends, read strictly: JSON alone, no field that is not known, and what is wrong with it said
// by field in words for the person who filled in the form.
import { z } from "zod";
import { DashboardError } from "./errors.ts";

/** The most fields in an error, so that a body of thousands of fields does not cause a huge answer. */
const FIELDS_TOLD_MAX = 20;
/** The most characters of an unknown field's name that an error repeats. */
const FIELD_NAME_SHOWN_MAX = 40;
const NOTHING = z.strictObject({});
/** Rejects bytes that are not UTF-8. A byte order mark stays in the text, and is not valid JSON. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The body, received bytes one a character, as a schema reads it; without a schema there must be none, or an
 * empty object. Throws BODY_NOT_JSON, BODY_UNFIT.
 */
export function readBody(schema: z.ZodType | null, body: string, contentType: string | undefined): unknown {
  if (schema === null && body === "") return null;
  const isJson = contentType?.split(";")[0]?.trim().toLowerCase() === "application/json";
  if (!isJson) throw new DashboardError("BODY_NOT_JSON");
  const read = readAs(schema ?? NOTHING, jsonOf(body), {});
  return schema === null ? null : read;
}

/** The query as a schema reads it: texts by name. Without a schema there must be none. Throws BODY_UNFIT. */
export function readQuery(schema: z.ZodType | null, query: string): unknown {
  const pairs = [...new URLSearchParams(query)];
  const words = { message: "The address has errors.", action: "Fix what is marked." };
  // The set does not grow by a name that it has.
  const known = new Set<string>();
  const twice = pairs.find(([name]) => known.size === known.add(name).size);
  if (twice !== undefined) {
    throw new DashboardError("BODY_UNFIT", { ...words, fields: fieldsOf([[twice[0], "occurs twice"]]) });
  }
  const read = readAs(schema ?? NOTHING, Object.fromEntries(pairs), words);
  return schema === null ? null : read;
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(UTF_8.decode(Buffer.from(body, "latin1")));
  } catch {
    throw new DashboardError("BODY_NOT_JSON");
  }
}

function readAs(schema: z.ZodType, value: unknown, words: { message?: string; action?: string }): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new DashboardError("BODY_UNFIT", { message: "The body must be an object with fields." });
  }
  // Not every database keeps a NUL. Forms are flat: whatever lies deeper is refused by its schema.
  const odd = Object.entries(value).find(([, text]) => typeof text === "string" && text.includes("\0"));
  if (odd !== undefined) {
    const fields = fieldsOf([[odd[0], "has a character that cannot be kept"]]);
    throw new DashboardError("BODY_UNFIT", { ...words, fields });
  }
  const parsed = schema.safeParse(value, { error: plainWords });
  if (parsed.success) return parsed.data;
  const told = parsed.error.issues.flatMap((issue): [string, string][] => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [key, "is not a field here"]);
    const isMissing = issue.path.length > 0 && valueAt(value, issue.path) === undefined;
    return [[issue.path.join("."), isMissing ? "is missing" : issue.message]];
  });
  throw new DashboardError("BODY_UNFIT", { ...words, fields: fieldsOf(told) });
}

/** The first fault of each field. */
function fieldsOf(told: readonly (readonly [name: string, fault: string])[]): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, fault] of told.slice(0, FIELDS_TOLD_MAX)) {
    const shown = name.slice(0, FIELD_NAME_SHOWN_MAX);
    if (!fields.has(shown)) fields.set(shown, fault);
  }
  return Object.fromEntries(fields);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = value;
  for (const name of path) {
    at = typeof at === "object" && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined;
  }
  return at;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

/** What is said of a fault for which its schema has no words of its own. */
function plainWords(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "too_small":
      if (issue.origin !== "string") return `must be at least ${issue.minimum}`;
      return issue.minimum === 1 ? "is empty" : `must have at least ${issue.minimum} characters`;
    case "too_big":
      return issue.origin === "string"
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case "invalid_format":
      return issue.format === "email" ? "is not an e-mail address" : "has the wrong format";
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    default:
      return "is wrong";
  }
}

/** No control, invisible or unassigned characters, and none that change text direction: others see it. */
export const SHOWN_TEXT = /^\P{C}*$/u;
export const NOT_SHOWN = "has characters that cannot be shown";

/** A line of text of at most `most` characters, trimmed. */
export function lineField(most: number) {
  return z.string().trim().min(1).max(most).regex(SHOWN_TEXT, NOT_SHOWN);
}

/** Mail to longer addresses cannot be delivered. Source: RFC 5321, section 4.5.3.1.3. */
const EMAIL_LENGTH_MAX = 254;
const NAME_LENGTH_MAX = 80;
/** Bounds the input. It is far above the longest valid password, which has an error message of its own. */
const PASSWORD_TEXT_MAX = 1_000;
const TOKEN_LENGTH_MAX = 200;

/** Trimmed and in lower case, as addresses are stored. */
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
