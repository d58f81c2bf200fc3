// JSON that came from outside: its value, and what is wrong with it in words for who sent it.
import type { z } from "zod";

/** What `jsonOf` answers for text that is no JSON; no JSON has this value. */
export const NOT_JSON = Symbol("not JSON");

/** How much of a name of the sender's own is repeated to him. */
const NAME_LENGTH_MAX = 40;

/** The value of JSON text, or NOT_JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}

/** The first fault that the schema of an object has found, by the name of its field. The fields say what they must be. */
export function faultOf({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) throw new Error("a schema that refuses says why");
  if (issue.code === "unrecognized_keys") {
    return `${String(issue.keys[0]).slice(0, NAME_LENGTH_MAX)} is not a field of this body`;
  }
  const [field] = issue.path;
  return field === undefined ? "The body is not a JSON object" : `${String(field)} ${issue.message}`;
}
