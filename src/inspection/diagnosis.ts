// Why a request of a known key was not let in: which check failed, the hash of the message as it was received, how far the
// client's clock is off, and, of a signature that does not fit, what it would fit: the message as clients are known to get it wrong
// (`message-forms.ts`, `bot-message-forms.ts`), secrets that are none (`secret-forms.ts`), digests written otherwise.
//
// Only requests that have been refused already are looked at, and after they were answered. What one costs is bounded by
// `DIAGNOSED_BYTES_MAX` and by the number of forms; how many are looked at, by `diagnosis-rate.ts`. Nothing of what is found holds a
// secret, a signature or the value of a parameter.
import { createHash, createHmac } from "node:crypto";
import { signedMessage } from "../identity/signatures.ts";
import type { ApiKeyRecord } from "../store/store.ts";
import { botMessageForms } from "./bot-message-forms.ts";
import { type MessageForm, messageForms } from "./message-forms.ts";
import { jsonBodyHints, parameterHints, recvWindowHints } from "./parameter-hints.ts";
import { type OtherKey, secretForms } from "./secret-forms.ts";
import {
  BOT_KEY_HEADER,
  BOT_SIGNATURE_HEADER,
  BOT_TIMESTAMP_HEADER,
  EXCHANGE_KEY_HEADER,
  type FailedCheck,
  headerOf,
  type SeenRequest,
  type SignatureFamily,
} from "./sighting.ts";
import { presentedDigest } from "./signature-forms.ts";
import { clockOffsetMs, timeOf, windowHints } from "./time-hints.ts";

export type Diagnosis = {
  /** The check that failed. */
  readonly check: FailedCheck;
  /** SHA-256, hex, of the message as received, its signature cut out; null if that was not looked at. */
  readonly messageSha256: string | null;
  /** How far the client's clock is ahead of the server's, ms; null if it sent no time that can be read. */
  readonly clockOffsetMs: number | null;
  readonly hints: readonly string[];
};

export type RefusedRequest = {
  readonly check: FailedCheck;
  readonly family: SignatureFamily;
  readonly request: SeenRequest & { readonly body: string };
  readonly key: ApiKeyRecord;
  readonly secret: string;
  /** Other keys of the same owner. */
  readonly others: readonly OtherKey[];
  /** When it was refused: wall time, Unix ms. */
  readonly at: number;
};

/** Bytes of a message that is tried in other forms; of a longer one the hash alone is told. */
export const DIAGNOSED_BYTES_MAX = 2_048;

/** What is known at once, without looking closer. */
export function firstSight(
  refused: Pick<RefusedRequest, "check" | "at"> & { readonly request: SeenRequest },
): Diagnosis {
  const { check, request, at } = refused;
  return { check, messageSha256: null, clockOffsetMs: clockOffsetMs(request, at), hints: [] };
}

/** What is wrong with a refused request. */
export function diagnose(refused: RefusedRequest): Diagnosis {
  const { message } = received(refused);
  return {
    ...firstSight(refused),
    messageSha256: createHash("sha256").update(message, "latin1").digest("hex"),
    hints: hintsOf(refused),
  };
}

function hintsOf(refused: RefusedRequest): readonly string[] {
  const { check, request, family, at } = refused;
  switch (check) {
    case "HEADER":
      return headerHints(refused);
    case "PARAMETERS":
      return [...parameterHints(request), ...(isJson(request.body) ? jsonSignatureHints(refused) : [])];
    case "TIMESTAMP":
      return [timeOf(request).flaw ?? "The timestamp must be Unix time in whole milliseconds."];
    case "RECV_WINDOW":
      return recvWindowHints(request);
    case "SIGNATURE_MISSING":
      return missingSignatureHints(request);
    case "WINDOW":
      return windowHints(request, family, at);
    case "SIGNATURE":
      return signatureHints(refused);
  }
}

const NOTHING_FITS =
  "None of the usual mistakes fits. Compare the SHA-256 of the text that your program signs with the one shown here: if they are the same, the secret is not this key's; if not, other bytes have arrived than were signed.";

function signatureHints(refused: RefusedRequest): readonly string[] {
  const { key, secret, others } = refused;
  const { message, signature } = received(refused);
  const { digest, flaw } = presentedDigest(signature);
  const flaws = flaw === null ? [] : [flaw];
  if (digest === null) return flaws;
  if (message.length > DIAGNOSED_BYTES_MAX) return [...flaws, NOTHING_FITS];
  const fits = (usedSecret: string | Buffer, signed: string) =>
    createHmac("sha256", usedSecret).update(signed, "latin1").digest().equals(digest);
  if (fits(secret, message)) return flaws;
  const used = secretForms(key, secret, others).find((form) => fits(form.secret, message));
  if (used !== undefined) return [used.says, ...flaws];
  const signed = distinct(formsOf(refused), message).find((form) => fits(secret, form.message));
  if (signed !== undefined) return [signed.says, ...flaws];
  if (createHash("sha256").update(message, "latin1").digest().equals(digest)) {
    return ["The signature is a plain SHA-256, without the secret. It must be an HMAC-SHA256.", ...flaws];
  }
  return [...flaws, NOTHING_FITS];
}

/** The message that was received, and the signature that came with it. */
function received({ family, request }: Pick<RefusedRequest, "family" | "request">): {
  readonly message: string;
  readonly signature: string;
} {
  const { method, target, query, body } = request;
  if (family === "BOT") {
    const message = headerOf(request, BOT_TIMESTAMP_HEADER) + method + target + body;
    return { message, signature: headerOf(request, BOT_SIGNATURE_HEADER) };
  }
  const { message, signature } = signedMessage(query, body);
  return { message, signature: signature ?? "" };
}

function formsOf({ family, request }: RefusedRequest): readonly MessageForm[] {
  if (family === "BOT") return botMessageForms(request, request.body);
  return messageForms(request, withoutSignature(request));
}

/** Query and body, each without a signature. */
function withoutSignature({ query, body }: { readonly query: string; readonly body: string }) {
  return { query: signedMessage(query, "").message, body: signedMessage(body, "").message };
}

/** The forms that differ from the message and from each other, the first of each. */
function distinct(forms: readonly MessageForm[], message: string): readonly MessageForm[] {
  const seen = new Set([message]);
  return forms.filter((form) => {
    if (seen.has(form.message)) return false;
    seen.add(form.message);
    return true;
  });
}

/** What a JSON body's signature was made over, where that can be found out. */
function jsonSignatureHints({ request, secret }: RefusedRequest): readonly string[] {
  const { query, body } = request;
  const found = signedMessage(query, "");
  return jsonBodyHints({
    query: found.message,
    body,
    signature: found.signature,
    fits: (signature, message) => {
      const { digest } = presentedDigest(signature);
      if (digest === null || message.length > DIAGNOSED_BYTES_MAX) return false;
      return createHmac("sha256", secret).update(message, "latin1").digest().equals(digest);
    },
  });
}

function missingSignatureHints(request: SeenRequest): readonly string[] {
  const isInHeader = ["x-mbx-signature", "signature", BOT_SIGNATURE_HEADER].some(
    (name) => headerOf(request, name) !== "",
  );
  return [
    isInHeader
      ? "The signature came in a header. Here it is the parameter `signature`, the last one of query or body."
      : "There is no parameter `signature`, or it is empty. Sign the parameters and append the signature as the last of them.",
  ];
}

function headerHints({ family, request, key }: RefusedRequest): readonly string[] {
  if (key.revokedAt !== null) {
    return ["The key was revoked. Create another one, bind it to the strategy and use that."];
  }
  if (family === "EXCHANGE") {
    return [
      "The key came in the header x-bot-api-key, which is for the routes under /bot. Here it goes into X-MBX-APIKEY, and timestamp and signature are parameters.",
    ];
  }
  const missing = [BOT_KEY_HEADER, BOT_TIMESTAMP_HEADER, BOT_SIGNATURE_HEADER].filter(
    (name) => headerOf(request, name) === "",
  );
  const hints = [`Missing: ${missing.join(", ")}. Requests under /bot are signed in these headers.`];
  if (headerOf(request, EXCHANGE_KEY_HEADER) === "") return hints;
  return [
    ...hints,
    "The key came in X-MBX-APIKEY, which is for the exchange-style routes. Here timestamp + METHOD + path + body is signed, and nothing of it is a parameter.",
  ];
}

function isJson(body: string): boolean {
  return /^\s*[[{]/.test(body);
}
