// The parameters of a request: form text in the query and in the body, whatever the content type says, since
// stock clients send them that way. Query and body are signed as one text without a boundary, so an attacker
// could move the boundary into a value: its rest would become a parameter of the other part. Invariant: where
// both parts of a signed request have parameters, each is known to the route, written `name=value`, and in
// one part only (decision 54).
// Source: reference exchange, section 2; design, section 6.
import type { Refusal } from "../domain/refusal.ts";

/** The parameters of a request, by name. A reader of `Parameters<"symbol">` can read no others. */
export type Parameters<Name extends string = string> = {
  readonly get: (name: Name) => string | undefined;
  readonly keys: () => Iterable<string>;
};

/**
 * Reads the parameters of both parts. A name that occurs twice in one part (PARAMETER_DUPLICATED), a body
 * that is JSON (BODY_NOT_A_FORM) and an escape that is none (REQUEST_MALFORMED) are refused.
 *
 * `known` are the names that a signed route knows. With them, where both parts hold parameters, a name in
 * both is refused (PARAMETER_DUPLICATED), and any other than `name=value` of a known name
 * (PARAMETERS_UNREAD). Without them the query wins.
 */
export function readParameters(
  query: string,
  body: string,
  known: ReadonlySet<string> | null,
): Parameters | Refusal {
  const first = body.trimStart().charAt(0);
  if (first === "{" || first === "[") return { refusal: "BODY_NOT_A_FORM" };
  const parameters = new Map<string, string>();
  const refusal = readPart(body, parameters);
  if (refusal !== null || query === "") return refusal ?? parameters;
  const fromQuery = new Map<string, string>();
  const refused = readPart(query, fromQuery);
  if (refused !== null) return refused;
  if (known !== null && parameters.size > 0 && fromQuery.size > 0) {
    for (const name of fromQuery.keys()) if (parameters.has(name)) return { refusal: "PARAMETER_DUPLICATED" };
    const sentCount = parameters.size + fromQuery.size;
    const readCount = knownCount(query, known) + knownCount(body, known);
    if (readCount < sentCount) return { refusal: "PARAMETERS_UNREAD", readCount, sentCount };
  }
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

/** The number of parameters of a part that are written `name=value` with a known name. */
function knownCount(part: string, known: ReadonlySet<string>): number {
  return part.split("&").filter((pair) => {
    const equals = pair.indexOf("=");
    return equals !== -1 && known.has(decode(pair.slice(0, equals)) ?? "");
  }).length;
}

function decode(text: string): string | null {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
