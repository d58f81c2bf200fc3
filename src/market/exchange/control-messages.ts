/**
 * The control messages of a stream connection, and their answers. Both servers of streams use them: the
 * exchange in this folder and the gateway's own sockets. Errors are wrapped in `error`: clients take a bare
 * one with an id for success. Source: reference sockets, section 3.
 */

/** The side of a connection that control messages act on. */
export type Controlled = {
  isCombined: boolean;
  /** Null when all are subscribed; else why none of them is. */
  subscribe(streams: readonly string[]): SubscribeFault | null;
  unsubscribe(streams: readonly string[]): void;
  subscriptions(): readonly string[];
};

/** Why streams are not subscribed: the text of the error, after `Invalid request: `. */
export type SubscribeFault = string;

/** The text of an id as it goes back: a JSON number, string or null. */
type Id = string;
type Fault = { readonly code: number; readonly msg: string };

const methods = ["SUBSCRIBE", "UNSUBSCRIBE", "LIST_SUBSCRIPTIONS", "SET_PROPERTY", "GET_PROPERTY"];
const idCharactersMax = 36;
const int64Max = 2n ** 63n - 1n;
const nameCharactersMax = 100;

/** Acts on one message and returns the answer to be sent. */
export function answerTo(connection: Controlled, text: string): string {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (error) {
    return faultText({ code: 3, msg: `Invalid JSON: expected value at ${placeIn(error)}` }, "null");
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    return faultText(invalid("the message must be an object"), "null");
  }
  const { method, params, id: sentId } = message as { method?: unknown; params?: unknown; id?: unknown };
  const id = idText(sentId, text);
  if (id === null) return faultText(invalid("request ID must be an unsigned integer"), "null");
  const outcome = obey(connection, method, params, text);
  return "fault" in outcome
    ? faultText(outcome.fault, id)
    : `{"result":${JSON.stringify(outcome.result)},"id":${id}}`;
}

/** The answer to a message that was refused as a whole, in the form of the exchange. */
function faultText(fault: Fault, id: Id): string {
  return `{"error":${JSON.stringify(fault)},"id":${id}}`;
}

function obey(
  connection: Controlled,
  method: unknown,
  params: unknown,
  text: string,
): { readonly result: unknown } | { readonly fault: Fault } {
  switch (method) {
    case "SUBSCRIBE": {
      const names = namesIn(params, text);
      if ("fault" in names) return names;
      const refused = connection.subscribe(names.names);
      return refused === null ? { result: null } : { fault: invalid(refused) };
    }
    case "UNSUBSCRIBE": {
      const names = namesIn(params, text);
      if ("fault" in names) return names;
      connection.unsubscribe(names.names);
      return { result: null };
    }
    case "LIST_SUBSCRIPTIONS":
      return { result: connection.subscriptions() };
    case "SET_PROPERTY": {
      const fault = propertyFault(params, 2);
      if (fault !== null) return { fault };
      const value: unknown = Array.isArray(params) ? params[1] : undefined;
      if (typeof value !== "boolean")
        return { fault: { code: 1, msg: "Invalid value type: expected Boolean" } };
      connection.isCombined = value;
      return { result: null };
    }
    case "GET_PROPERTY": {
      const fault = propertyFault(params, 1);
      return fault === null ? { result: connection.isCombined } : { fault };
    }
    case undefined:
      return { fault: invalid(`missing field \`method\` at line 1 column ${text.length}`) };
    default:
      return { fault: unknownMethod(method, text) };
  }
}

function namesIn(
  params: unknown,
  text: string,
): { readonly names: readonly string[] } | { readonly fault: Fault } {
  if (params === undefined) {
    return { fault: invalid(`missing field \`params\` at line 1 column ${text.length}`) };
  }
  if (!Array.isArray(params) || !params.every(isWellFormed)) return { fault: invalid("invalid stream") };
  return { names: params };
}

/** Whether a text may be the name of a stream, known or not. */
export function isWellFormed(name: unknown): name is string {
  return typeof name === "string" && name.length <= nameCharactersMax && /^[^\s/"\\\p{Cc}]+$/u.test(name);
}

function propertyFault(params: unknown, countMax: number): Fault | null {
  const [name, ...rest]: readonly unknown[] = Array.isArray(params) ? params : [];
  if (typeof name !== "string") return invalid("property name must be a string");
  if (rest.length >= countMax) return invalid("too many parameters");
  return name === "combined" ? null : { code: 0, msg: "Unknown property" };
}

function unknownMethod(method: unknown, text: string): Fault {
  const shown = typeof method === "string" ? method : JSON.stringify(method);
  const sent = JSON.stringify(method);
  const column = text.indexOf(sent) + sent.length;
  const expected = methods.map((name) => `\`${name}\``).join(", ");
  return invalid(`unknown variant \`${shown}\`, expected one of ${expected} at line 1 column ${column}`);
}

function invalid(reason: string): Fault {
  return { code: 2, msg: `Invalid request: ${reason}` };
}

/**
 * An id as it goes back: a signed 64-bit integer with all its digits, a short string, or null. Null when it
 * is none of these.
 */
function idText(id: unknown, text: string): Id | null {
  if (id === null) return "null";
  if (typeof id === "string") return id.length <= idCharactersMax ? JSON.stringify(id) : null;
  if (typeof id !== "number" || !Number.isInteger(id)) return null;
  if (Number.isSafeInteger(id)) return String(id);
  // A number would have lost digits.
  const digits = [...text.matchAll(/"id"\s*:\s*(-?\d+)(?=\s*[,}])/g)].at(-1)?.[1];
  if (digits === undefined) return null;
  const value = BigInt(digits);
  return value <= int64Max && value >= -int64Max - 1n ? digits : null;
}

/** Where a text stops being JSON, as far as the parser says it. */
function placeIn(error: unknown): string {
  const [, line = 1, column = 1] = /line (\d+) column (\d+)/.exec(String(error)) ?? [];
  return `line ${line} column ${column}`;
}
