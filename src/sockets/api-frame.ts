// A request of the WebSocket API as it came: its id, its method, and its parameters as text. A number keeps
// the characters that it was sent with, since these are what the client signed.
// Source: reference sockets, sections 8.1 and 8.2.
import type { Refusal } from "../domain/refusal.ts";

export type ApiFrame = {
  /** The id as JSON, to be echoed; `null` where it cannot be read. */
  readonly id: string;
  readonly method: string;
  /** By name: strings as they are, numbers as sent, lists and objects as compact JSON. */
  readonly params: ReadonlyMap<string, string>;
  /** Whether the names of the signed parameters came in the order in which they are signed. */
  readonly isSorted: boolean;
  /**
   * Whether no signed text of these parameters can be read as that of others: `&` and `=` would move the
   * boundaries between names and values. No parameter that is signed needs them.
   */
  readonly isUnambiguous: boolean;
  /** The message as it came, if a number in it may have been written otherwise than it is here. */
  readonly source: string | null;
};

/** What cannot be read is refused, with the id if at least that can be read. */
export type UnreadFrame = { readonly id: string; readonly refusal: Refusal };

/** Reads a text message. */
export function readFrame(text: string): ApiFrame | UnreadFrame {
  try {
    const message: unknown = JSON.parse(text);
    // Keeping each number's characters takes several times as long as the rest of a request's reading.
    return isPlain(message) ? frameOf(message, text, text) : frameOf(parsedExactly(text), text, null);
  } catch {
    return { id: "null", refusal: { refusal: "FRAME_MALFORMED" } };
  }
}

/**
 * Whether all numbers are integers that are printed as they were sent, or mean the same. A client order id is
 * text: as numbers, 1e2 and 100 would mean the same, and the text 1e2 was signed.
 */
function isPlain(message: unknown): boolean {
  if (!isObject(message)) return true;
  const { id, params } = message;
  if (typeof id === "number" && !Number.isSafeInteger(id)) return false;
  for (const name in message) if (name !== "id" && name !== "method" && name !== "params") return false;
  if (!isObject(params)) return true;
  for (const name in params) {
    const value = params[name];
    const isPlainValue = Number.isSafeInteger(value) ? !CLIENT_ID.test(name) : typeof value === "boolean";
    if (typeof value !== "string" && !isPlainValue) return false;
  }
  return true;
}

/** The names of client order ids. */
const CLIENT_ID = /client/i;

/** The message with its numbers as raw JSON. Throws if it is no JSON. */
function parsedExactly(text: string): unknown {
  return parse(text, (_name, value: unknown, { source }) =>
    typeof value === "number" && source !== undefined ? rawJSON(source) : value,
  );
}

function frameOf(message: unknown, text: string, source: string | null): ApiFrame | UnreadFrame {
  if (!isObject(message)) return { id: "null", refusal: { refusal: "FRAME_MALFORMED" } };
  const { id, method, params = {} } = message;
  const idText = idTextOf(id);
  if (idText === null || typeof method !== "string") {
    return { id: idText ?? "null", refusal: { refusal: "FRAME_MALFORMED" } };
  }
  if (!isObject(params)) return { id: idText, refusal: { refusal: "PARAMS_MALFORMED" } };
  const texts = new Map<string, string>();
  let isSorted = true;
  let last = "";
  for (const name in params) {
    texts.set(name, textOf(params[name]));
    if (name === "signature") continue;
    isSorted &&= last <= name;
    last = name;
  }
  // Most messages have neither of them anywhere, nor an escape that may stand for one.
  const isUnambiguous =
    (!text.includes("=") && !text.includes("&") && !text.includes("\\")) || hasNoBoundaries(texts);
  return { id: idText, method, params: texts, isSorted, isUnambiguous, source };
}

function hasNoBoundaries(params: ApiFrame["params"]): boolean {
  for (const [name, value] of params) {
    if (name !== "signature" && (movesBoundaries(name) || movesBoundaries(value))) return false;
  }
  return true;
}

type Signed = Pick<ApiFrame, "params" | "isSorted" | "source">;

/** The text that nearly every client signs, bytes, one a character: the sorted parameters as sent. */
export function signedTextOf({ params, isSorted }: Signed): string {
  return signedText(params, isSorted ? params.keys() : sortedNames(params), asSent);
}

/** The other texts that a client may have signed: numbers as written, and percent-encoded. */
export function otherSignedTexts(frame: Signed): readonly string[] {
  const { params, source } = frame;
  const exact = source === null ? null : frameOf(parsedExactly(source), source, null);
  const texts = new Set([signedText(params, sortedNames(params), encoded)]);
  if (exact !== null && "params" in exact) texts.add(signedTextOf(exact));
  texts.delete(signedTextOf(frame));
  return [...texts];
}

/**
 * The parameters as a form, sorted and with the signature last: what a diagnosis reads of a refused request.
 */
export function formOf(params: ApiFrame["params"]): string {
  const signature = params.get("signature");
  const signed = signedText(params, sortedNames(params), asSent);
  return signature === undefined ? signed : `${signed}&signature=${signature}`;
}

function signedText(
  params: ApiFrame["params"],
  names: Iterable<string>,
  form: (value: string) => string,
): string {
  let text = "";
  for (const name of names) {
    if (name === "signature") continue;
    text += `${text === "" ? "" : "&"}${name}=${form(params.get(name) ?? "")}`;
  }
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

function sortedNames(params: ApiFrame["params"]): readonly string[] {
  return [...params.keys()].sort();
}

const asSent = (value: string) => value;

function movesBoundaries(text: string): boolean {
  return text.includes("&") || text.includes("=");
}

function isAscii(text: string): boolean {
  return !/[\u0080-\uffff]/.test(text);
}

type RawJson = { readonly rawJSON: string };
/** The reviver of `JSON.parse` also gets the source text of a number; TypeScript does not know that yet. */
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  // A number as raw JSON has this member. Asking for the member first takes a fraction of the time.
  return !("rawJSON" in value && isRawJSON(value));
}

/** An integer, a string or null; the exchange echoes it as it came. */
function idTextOf(id: unknown): string | null {
  if (typeof id === "number") return Number.isSafeInteger(id) ? String(id) : null;
  if (id === null || typeof id === "string") return JSON.stringify(id);
  return isRawJSON(id) && /^-?\d{1,19}$/.test(id.rawJSON) ? id.rawJSON : null;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isRawJSON(value) ? value.rawJSON : JSON.stringify(value);
}

function encoded(value: string): string {
  return value.isWellFormed() ? encodeURIComponent(value) : value;
}
