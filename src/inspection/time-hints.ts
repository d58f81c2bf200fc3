// What can be told of the time that a request carries: how far its clock is off, and whether it is in another unit.
import { BOT_TIMESTAMP_HEADER, headerOf, type SeenRequest, type SignatureFamily } from "./sighting.ts";

/** The largest `recvWindow`, and how far a bot's timestamp may be off, ms. Source: specification 5.1 and 5.2. */
const WINDOW_MS_MAX = 30_000;
const RECV_WINDOW_DEFAULT_MS = 5_000;

/** Units by how many digits a present time has in them. */
const UNITS: Readonly<Record<number, { readonly name: string; readonly perMs: number }>> = {
  10: { name: "seconds", perMs: 1 / 1_000 },
  16: { name: "microseconds", perMs: 1_000 },
  19: { name: "nanoseconds", perMs: 1_000_000 },
};

const MILLISECONDS = "Send Unix time in whole milliseconds.";

/** The time that a request carries, Unix ms: null with what is wrong with it if it cannot be read. */
export function timeOf(request: SeenRequest): { readonly at: number | null; readonly flaw: string | null } {
  const text = textOf(request);
  if (text === null) {
    return { at: null, flaw: `There is no parameter \`timestamp\` in query or body. ${MILLISECONDS}` };
  }
  if (text === "") return { at: null, flaw: `The timestamp is empty. ${MILLISECONDS}` };
  if (/^[0-9]{1,19}$/.test(text)) {
    const unit = UNITS[text.length];
    if (unit === undefined) return { at: Number(text), flaw: null };
    return {
      at: Math.round(Number(text) / unit.perMs),
      flaw: `The timestamp is in ${unit.name}. ${MILLISECONDS}`,
    };
  }
  if (/^[0-9]{10,13}\.[0-9]+$/.test(text)) {
    const isSeconds = text.indexOf(".") === 10;
    const at = Math.round(Number(text) * (isSeconds ? 1_000 : 1));
    return { at, flaw: `The timestamp has a fraction. ${MILLISECONDS}` };
  }
  const parsed = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(parsed)) return { at: parsed, flaw: `The timestamp is a date. ${MILLISECONDS}` };
  return { at: null, flaw: `The timestamp is no whole number. ${MILLISECONDS}` };
}

/** How far the clock that a request was stamped by is ahead, ms; null if its time cannot be read. */
export function clockOffsetMs(request: SeenRequest, now: number): number | null {
  const { at } = timeOf(request);
  return at === null ? null : at - now;
}

/** Why a time that can be read is outside the window. */
export function windowHints(request: SeenRequest, family: SignatureFamily, now: number): readonly string[] {
  const { at, flaw } = timeOf(request);
  if (flaw !== null || at === null) return flaw === null ? [] : [flaw];
  const offsetMs = at - now;
  const seconds = (Math.abs(offsetMs) / 1_000).toFixed(1);
  if (offsetMs > 0) {
    return [
      `The request is stamped ${seconds} s ahead of the server's time. Set the client's clock, or take the difference to ${serverTime(family)} off its timestamps.`,
    ];
  }
  const late = `The request is stamped ${seconds} s before it arrived: the client's clock is behind, or the request waited on its way.`;
  if (family === "BOT") {
    return [`${late} Set the clock, or add the difference to ${serverTime(family)} to the timestamps.`];
  }
  const window = recvWindowOf(request);
  const isWithinReach = -offsetMs <= WINDOW_MS_MAX && window < WINDOW_MS_MAX;
  return [
    `${late} Set the clock, or add the difference to ${serverTime(family)} to the timestamps.`,
    ...(isWithinReach ? [`recvWindow allowed ${window} ms; up to ${WINDOW_MS_MAX} may be asked for.`] : []),
  ];
}

function serverTime(family: SignatureFamily): string {
  return family === "BOT" ? "`serverTime` in the answer" : "GET /api/v3/time";
}

function recvWindowOf(request: SeenRequest): number {
  const text = parametersOf(request).get("recvWindow") ?? "";
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : RECV_WINDOW_DEFAULT_MS;
}

function textOf(request: SeenRequest): string | null {
  if (request.path.startsWith("/bot/")) return headerOf(request, BOT_TIMESTAMP_HEADER);
  return parametersOf(request).get("timestamp");
}

/** The parameters of query and body, or of a JSON body's fields; those of the query win. */
export function parametersOf({ query, body }: SeenRequest): URLSearchParams {
  const parameters = new URLSearchParams(typeof body === "string" && !/^\s*[[{]/.test(body) ? body : "");
  for (const [name, value] of jsonFields(body)) parameters.set(name, value);
  for (const [name, value] of new URLSearchParams(query)) parameters.set(name, value);
  return parameters;
}

/** The fields of a JSON body, as texts; none of any other body. */
export function jsonFields(body: string | object): readonly (readonly [name: string, value: string])[] {
  if (typeof body !== "string" || !/^\s*\{/.test(body)) return [];
  try {
    const fields: Record<string, unknown> = JSON.parse(Buffer.from(body, "latin1").toString("utf8"));
    return Object.entries(fields).map(([name, value]) => [name, String(value)]);
  } catch {
    return [];
  }
}
