// What is wrong with parameters that could not be read, with a body that is JSON, and with `recvWindow`. Names of parameters are
// said, their values never.
import { shownName } from "./message-forms.ts";
import type { SeenRequest } from "./sighting.ts";
import { jsonFields, parametersOf } from "./time-hints.ts";

const AS_FORM =
  "The body is JSON. Send the parameters as a form (application/x-www-form-urlencoded), in the body or in the query: a=1&b=2.";

const IN_ONE_PART =
  "Query and body both hold parameters, and one of these is not a parameter of this route, or has no value. Send all parameters in the query, or all in the body.";

export function parameterHints(request: SeenRequest & { readonly body: string }): readonly string[] {
  const { query, body } = request;
  if (/^\s*[[{]/.test(body)) return [AS_FORM];
  const twice = [...repeated(query), ...repeated(body)];
  if (twice.length > 0) {
    return twice.map(
      (name) => `${shownName(name)} is there twice in the same part. Send each parameter once.`,
    );
  }
  const inQuery = new Set(namesOf(query));
  const inBoth = [...new Set(namesOf(body))].filter((name) => inQuery.has(name));
  if (inBoth.length > 0) {
    return inBoth.map(
      (name) => `${shownName(name)} is in the query and in the body. Send each parameter once.`,
    );
  }
  const isEscaped = [query, body].every((part) => part.split("&").every(isDecodable));
  if (isEscaped) return [IN_ONE_PART];
  return ["A parameter holds a % that begins no escape of UTF-8 text. Encode values before they are sent."];
}

export function recvWindowHints(request: SeenRequest): readonly string[] {
  const text = parametersOf(request).get("recvWindow") ?? "";
  if (text === "") return ["recvWindow is empty. Leave it out, or send 1 to 30000 (ms)."];
  if (!/^[0-9.]{1,16}$/.test(text)) return ["recvWindow is no number. Send 1 to 30000 (ms)."];
  return [`recvWindow was ${text}. It must be more than 0 and no more than 30000 (ms).`];
}

/** What else a JSON body's client gets right or wrong, so that it learns all of it at once. */
export function jsonBodyHints(sent: {
  /** Without its signature. */
  readonly query: string;
  readonly body: string;
  /** That of the query, if there is one. */
  readonly signature: string | null;
  /** Whether a signature is the secret's of a message. */
  readonly fits: (signature: string, message: string) => boolean;
}): readonly string[] {
  const { query, body, fits } = sent;
  const fields = jsonFields(body);
  const within = fields.find(([name]) => name === "signature")?.[1] ?? null;
  const signature = sent.signature ?? within;
  if (signature === null) return [];
  const others = fields.filter(([name]) => name !== "signature");
  const form = new URLSearchParams(others.map(([name, value]) => [name, value])).toString();
  const forms = [query + form, form, query === "" ? form : `${query}&${form}`, query];
  if (forms.some((text) => text !== "" && fits(signature, text))) {
    return ["The signature is right for the same parameters as a form: only the body has to be sent so."];
  }
  const texts = [body, query + body, JSON.stringify(Object.fromEntries(others))];
  if (texts.some((text) => fits(signature, text))) {
    return ["The signature was made over the JSON text. Sign the text of the form instead."];
  }
  return [];
}

function namesOf(form: string): readonly string[] {
  return form
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => pair.split("=", 1)[0] ?? "");
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function repeated(form: string): readonly string[] {
  const names = namesOf(form);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
