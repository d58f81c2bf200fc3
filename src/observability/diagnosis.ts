// Explains why a request of an existing key failed authentication: which check failed, the hash of the
// message as received, how far the client's clock is off, and hints.
//
// Runs after the answer, for requests that have failed. `Explanations` bounds how many; `DIAGNOSED_BYTES_MAX`
// and the number of mistakes bound what one costs. No result holds a secret, a signature or the value of a
// parameter other than times.
import { createHash } from "node:crypto";
import {
  BOT_KEY_HEADER,
  BOT_SIGNATURE_HEADER,
  BOT_TIMESTAMP_HEADER,
  type FailedCheck,
  headerOf,
  type SeenRequest,
  type SignatureScheme,
} from "./request-context.ts";
import { received, type SignedRequest, shownName, signatureHints } from "./signing-mistakes.ts";

export type Diagnosis = {
  /** The check that failed. */
  readonly check: FailedCheck;
  /**
   * SHA-256, hex, of the message as received, without its signature; null until the request has been
   * examined.
   */
  readonly messageSha256: string | null;
  /** How far the client's clock is ahead of the server's, ms; null if the request has no readable time. */
  readonly clockOffsetMs: number | null;
  readonly hints: readonly string[];
};

export type RefusedRequest = SignedRequest & {
  readonly check: FailedCheck;
  /** When it was refused: wall time, Unix ms. */
  readonly at: number;
};

/** The largest `recvWindow`, ms, and the one that applies by default. Source: specification 5.1. */
const RECV_WINDOW_MS_MAX = 30_000;
const RECV_WINDOW_DEFAULT_MS = 5_000;

const MILLISECONDS = "Send Unix time in whole milliseconds.";

/** Time units other than milliseconds, by the number of digits of a present time. */
const UNITS: Readonly<Record<number, { readonly name: string; readonly perMs: number }>> = {
  10: { name: "seconds", perMs: 1 / 1_000 },
  16: { name: "microseconds", perMs: 1_000 },
  19: { name: "nanoseconds", perMs: 1_000_000 },
};

/** The part of a diagnosis that is known without examining the request. */
export function unexamined(
  refused: Pick<RefusedRequest, "check" | "at"> & { readonly request: SeenRequest },
): Diagnosis {
  const { at } = timeOf(refused.request);
  const clockOffsetMs = at === null ? null : at - refused.at;
  return { check: refused.check, messageSha256: null, clockOffsetMs, hints: [] };
}

export function diagnose(refused: RefusedRequest): Diagnosis {
  return {
    ...unexamined(refused),
    messageSha256: createHash("sha256").update(received(refused).message, "latin1").digest("hex"),
    hints: hintsOf(refused),
  };
}

function hintsOf(refused: RefusedRequest): readonly string[] {
  const { check, request, scheme, at } = refused;
  switch (check) {
    case "HEADER":
      return headerHints(refused);
    case "PARAMETERS":
      return parameterHints(request);
    case "TIMESTAMP":
      return [timeOf(request).flaw ?? `The timestamp is not a time. ${MILLISECONDS}`];
    case "RECV_WINDOW": {
      const recvWindow = parameterOf(request, "recvWindow") ?? "";
      const sent = /^[0-9.]{1,16}$/.test(recvWindow)
        ? `recvWindow was ${recvWindow}`
        : "recvWindow is not a number";
      return [`${sent}. Send more than 0 and at most ${RECV_WINDOW_MS_MAX} (ms), or leave it out.`];
    }
    case "SIGNATURE_MISSING":
      return [
        "There is no parameter `signature`, or it is empty. Sign the parameters and append the signature as the last of them, not as a header.",
      ];
    case "WINDOW":
      return windowHints(request, scheme, at);
    case "SIGNATURE":
      return signatureHints(refused);
  }
}

function headerHints({ scheme, request, key }: RefusedRequest): readonly string[] {
  if (key.revokedAt !== null) {
    return ["The key was revoked. Create another one, bind it to the strategy and use that."];
  }
  if (scheme === "EXCHANGE") {
    return [
      "The key came in the header x-bot-api-key, which is for the routes under /bot. Here it goes into X-MBX-APIKEY, and timestamp and signature are parameters.",
    ];
  }
  const names = [BOT_KEY_HEADER, BOT_TIMESTAMP_HEADER, BOT_SIGNATURE_HEADER];
  const missing = names.filter((name) => headerOf(request, name) === "");
  return [
    `Missing: ${missing.join(", ")}. Requests under /bot are signed in these headers, not in X-MBX-APIKEY and parameters.`,
  ];
}

function parameterHints({ query, body }: RefusedRequest["request"]): readonly string[] {
  if (/^\s*[[{]/.test(body)) {
    return [
      "The body is JSON. Send the parameters as a form (application/x-www-form-urlencoded), in the body or in the query: a=1&b=2.",
    ];
  }
  const names = `${query}&${body}`.split("&").map((pair) => pair.split("=", 1)[0] ?? "");
  // The set does not grow by a name that it has.
  const known = new Set<string>();
  const repeated = names.find((name) => name !== "" && known.size === known.add(name).size);
  if (repeated !== undefined)
    return [`${shownName(repeated)} was sent more than once. Send each parameter once.`];
  return [
    "A parameter is not percent-encoded UTF-8, or query and body both have parameters and one of them has no value or is unknown to this route. Encode values, and send all parameters in one part.",
  ];
}

/** Why a time that can be read is outside the window. */
function windowHints(request: SeenRequest, scheme: SignatureScheme, now: number): readonly string[] {
  const { at, flaw } = timeOf(request);
  if (flaw !== null || at === null) return flaw === null ? [] : [flaw];
  const seconds = (Math.abs(at - now) / 1_000).toFixed(1);
  const serverTime = scheme === "BOT" ? "`serverTime` in the answer" : "GET /api/v3/time";
  if (at > now) {
    return [
      `The timestamp is ${seconds} s ahead of the server's time. Set the client's clock, or subtract the difference to ${serverTime} from its timestamps.`,
    ];
  }
  const late = `The timestamp is ${seconds} s before the request arrived: the client's clock is behind, or the request was delayed. Set the clock, or add the difference to ${serverTime} to the timestamps.`;
  if (scheme === "BOT" || now - at > RECV_WINDOW_MS_MAX) return [late];
  const recvWindow = parameterOf(request, "recvWindow") ?? RECV_WINDOW_DEFAULT_MS;
  return [late, `recvWindow allowed ${recvWindow} ms; the maximum is ${RECV_WINDOW_MS_MAX}.`];
}

/** The time in a request, Unix ms; null if it cannot be read. `flaw` is what is wrong with it. */
function timeOf(request: SeenRequest): { readonly at: number | null; readonly flaw: string | null } {
  const isBot = request.path.startsWith("/bot/");
  const text = isBot ? headerOf(request, BOT_TIMESTAMP_HEADER) : parameterOf(request, "timestamp");
  if (text === null || text === "")
    return { at: null, flaw: `There is no timestamp, or it is empty. ${MILLISECONDS}` };
  const [, digits, fraction] = /^([0-9]{1,19})(\.[0-9]+)?$/.exec(text) ?? [];
  if (digits === undefined) return { at: null, flaw: `The timestamp is not a whole number. ${MILLISECONDS}` };
  const unit = UNITS[digits.length];
  const at = Math.round(Number(text) / (unit?.perMs ?? 1));
  if (unit !== undefined) return { at, flaw: `The timestamp is in ${unit.name}. ${MILLISECONDS}` };
  return { at, flaw: fraction === undefined ? null : `The timestamp has a fraction. ${MILLISECONDS}` };
}

/**
 * A parameter of the query, or else of the body; null if neither has it. In time proportional to the request.
 */
function parameterOf({ query, body }: SeenRequest, name: string): string | null {
  const inQuery = new URLSearchParams(query).get(name);
  if (inQuery !== null || typeof body !== "string") return inQuery;
  return new URLSearchParams(body).get(name);
}
