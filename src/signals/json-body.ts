// JSON from a client: its value, and its errors in words for the client.
import type { z } from "zod";

/** The result of `jsonOf` for text that is no JSON; no JSON has this value. */
export const NOT_JSON = Symbol("not JSON");

/** Maximum length of a client's own field name in an answer. */
const NAME_LENGTH_MAX = 40;

/** The value of JSON text, or NOT_JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}

/**
 * The fault that the schema of an object has found in JSON, by the name of its field: first of all a field
 * that it does not know, which may be another one misspelt. The fields say what they must be.
 */
export function faultOf({ issues }: z.ZodError, json: unknown): string {
  const unknown = issues.find((issue) => issue.code === "unrecognized_keys");
  if (unknown !== undefined) {
    return `${String(unknown.keys[0]).slice(0, NAME_LENGTH_MAX)} is not a field of this body`;
  }
  const [issue] = issues;
  if (issue === undefined) throw new Error("a schema that refuses says why");
  const field = issue.path[0]?.toString();
  if (field === undefined) return "The body is not a JSON object";
  return Object.hasOwn(json as object, field) ? `${field} ${issue.message}` : `${field} is missing`;
}
