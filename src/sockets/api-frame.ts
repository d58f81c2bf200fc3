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
};

/** What cannot be read is refused, with the id if at least that can be read. */
export type UnreadFrame = { readonly id: string; readonly refusal: Refusal };

/** Reads a text message. */
export function readFrame(text: string): ApiFrame | UnreadFrame {
  let message: unknown;
  try {
    message = parse(text, (_name, value: unknown, { source }) =>
      typeof value === "number" && source !== undefined ? rawJSON(source) : value,
    );
  } catch {
    return { id: "null", refusal: { refusal: "FRAME_MALFORMED" } };
  }
  if (!isObject(message)) return { id: "null", refusal: { refusal: "FRAME_MALFORMED" } };
  const { id, method, params = {} } = message;
  const idText = idTextOf(id);
  if (idText === null || typeof method !== "string") {
    return { id: idText ?? "null", refusal: { refusal: "FRAME_MALFORMED" } };
  }
  if (!isObject(params)) return { id: idText, refusal: { refusal: "PARAMS_MALFORMED" } };
  return {
    id: idText,
    method,
    params: new Map(Object.entries(params).map(([name, value]) => [name, textOf(value)])),
  };
}

/**
 * The texts that a client may have signed, bytes, one a character: the sorted parameters as sent; with numbers
 * printed as JavaScript prints them; and percent-encoded, as some clients do it. Each is made when it is asked
 * for, since nearly every client has signed the first.
 */
export function* signedTexts(params: ReadonlyMap<string, string>): Generator<string, void> {
  const signed = [...params]
    .filter(([name]) => name !== "signature")
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const joined = (form: (value: string) => string) =>
    Buffer.from(signed.map(([name, value]) => `${name}=${form(value)}`).join("&"), "utf8").toString("latin1");
  const asSent = joined((value) => value);
  yield asSent;
  const asReprinted = joined(reprinted);
  if (asReprinted !== asSent) yield asReprinted;
  const asEncoded = joined(encoded);
  if (asEncoded !== asSent && asEncoded !== asReprinted) yield asEncoded;
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
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

/** An integer, a string or null; the exchange echoes it as it came. */
function idTextOf(id: unknown): string | null {
  if (isRawJSON(id)) return /^-?\d{1,19}$/.test(id.rawJSON) ? id.rawJSON : null;
  return id === null || typeof id === "string" ? JSON.stringify(id) : null;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isRawJSON(value) ? value.rawJSON : JSON.stringify(value);
}

function reprinted(value: string): string {
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value) ? String(Number(value)) : value;
}

function encoded(value: string): string {
  return value.isWellFormed() ? encodeURIComponent(value) : value;
}
