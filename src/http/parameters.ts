// Parameters of a request: form text from the query and from the body, whatever the content type says, since that is how
// stock clients send them. The query wins. Source: reference exchange, section 2; design, section 6.
import type { Refusal } from "../domain/refusal.ts";

export type Parameters = ReadonlyMap<string, string>;

/** Reads the parameters of both parts. A name that occurs twice in one part, a body that is JSON and an escape that is none are refused. */
export function readParameters(query: string, body: string): Parameters | Refusal {
  const first = body.trimStart().charAt(0);
  if (first === "{" || first === "[") return { refusal: "BODY_NOT_A_FORM" };
  const parameters = new Map<string, string>();
  const refusal = readPart(body, parameters);
  if (refusal !== null || query === "") return refusal ?? parameters;
  const fromQuery = new Map<string, string>();
  const refused = readPart(query, fromQuery);
  if (refused !== null) return refused;
  for (const [name, value] of fromQuery) parameters.set(name, value);
  return parameters;
}

function readPart(part: string, into: Map<string, string>): Refusal | null {
  if (part === "") return null;
  for (const pair of part.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    if (name === null || value === null) return { refusal: "REQUEST_MALFORMED" };
    if (into.has(name)) return { refusal: "PARAMETER_DUPLICATED" };
    into.set(name, value);
  }
  return null;
}

function decode(text: string): string | null {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
