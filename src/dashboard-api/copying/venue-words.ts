// What a venue's answers mean to the owner of an account there, in plain words: what is wrong with a key, and
// where a venue cannot be asked, what to do. Source: reference exchange, sections 2 and 16 (codes of refused
// keys, signatures and clocks).
import type { VenueAnswer, VenueRefusal, VenueRejection } from "../../copy/venue/venue.ts";
import { DashboardError } from "../errors.ts";

/** What is wrong, and with which field of the form. */
export type KeyFault = { readonly field: "apiKey" | "apiSecret" | "venue"; readonly words: string };

const CODE = {
  keyNotFitting: -2015,
  keyMalformed: -2014,
  signatureWrong: -1022,
  clockOff: -1021,
  notAllowed: -1002,
} as const;
/** What another gateway of ours says of a key that is of the other type. */
const OTHER_FAMILY = /other family/i;
const VENUE_WORDS_LENGTH_MAX = 160;
/**
 * What is wrong with a certificate, by the code of the fault of its connection; of others that begin as
 * `UNTRUSTED` nobody vouches.
 */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  HOSTNAME_MISMATCH: "its certificate is for another name",
};
const UNTRUSTED = /^(DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_|INVALID_CA)/;
const NOBODY_VOUCHES = "its certificate is not signed by an authority that this server trusts";

/** Why a venue does not accept credentials, in words that begin as what follows "it". */
export function keyFaultOf({ code, message }: VenueRefusal | VenueRejection): KeyFault {
  if (OTHER_FAMILY.test(message)) {
    return {
      field: "apiKey",
      words: "is for the exchange's other market: spot and futures need a key each",
    };
  }
  switch (code) {
    case CODE.keyMalformed:
      return {
        field: "apiKey",
        words: "does not have the format of this exchange's keys: copy it again completely",
      };
    case CODE.signatureWrong:
      return { field: "apiSecret", words: "is not the secret of this key: copy it again completely" };
    case CODE.keyNotFitting:
    case CODE.notAllowed:
      return {
        field: "apiKey",
        words:
          "is not accepted: the key or its secret is wrong, or it may not be used from this server's IP address, or it lacks the permission to read and to trade",
      };
    case CODE.clockOff:
      return {
        field: "venue",
        words: "rejects this server's clock: the operator has to correct it",
      };
    default:
      return { field: "apiKey", words: `is refused by the exchange (${code}): ${shown(message)}` };
  }
}

/**
 * What a venue answered, if it did. Throws VENUE_SILENT where it cannot be asked or has not answered, and
 * BODY_UNFIT, with the field that is wrong, where it refuses or does not accept the key.
 */
export function answerOf<Value>(answer: VenueAnswer<Value>, now: number): Value {
  switch (answer.kind) {
    case "OK":
      return answer.value;
    case "REFUSED":
    case "REJECTED": {
      const { field, words } = keyFaultOf(answer);
      throw new DashboardError("BODY_UNFIT", {
        message: "The exchange does not accept the account's key.",
        action: "Fix what is marked. A code works once: enter the next one.",
        fields: { [field]: words },
      });
    }
    default:
      throw silence(answer, now);
  }
}

/** That a venue does not accept the key of an account that is connected. */
export function keyRefused(refused: VenueRefusal | VenueRejection): DashboardError {
  const { field, words } = keyFaultOf(refused);
  const what = field === "apiSecret" ? "The secret" : field === "venue" ? "The exchange" : "The key";
  return new DashboardError("STATE_CHANGED", {
    message: `The exchange does not accept the account's key. ${what} ${words}.`,
    action: "Check the account again, or replace its key.",
  });
}

/** That a venue cannot be asked now, or has not answered. */
export function silence(
  answer: Exclude<VenueAnswer<unknown>, { kind: "OK" | "REFUSED" | "REJECTED" }>,
  now: number,
): DashboardError {
  if (answer.kind === "UNKNOWN") return new DashboardError("VENUE_SILENT");
  const retryAfterSeconds = Math.max(1, Math.ceil((answer.until - now) / 1_000));
  if (answer.why === "LIMITED") {
    const message = "The exchange accepts no requests from this server for a while.";
    return new DashboardError("VENUE_SILENT", { message, retryAfterSeconds });
  }
  const certificate = certificateFault(answer.reason);
  if (certificate === null) {
    const message = "The exchange cannot be reached from this server.";
    return new DashboardError("VENUE_SILENT", { message, retryAfterSeconds });
  }
  return new DashboardError("VENUE_SILENT", {
    message: `This server does not trust the exchange: ${certificate} (${answer.reason}).`,
    action: "Nothing was sent there. Tell the operator, who has to fix this.",
    retryAfterSeconds,
  });
}

/**
 * Why a request to a venue had no answer, in words that go on after a colon; what there are no words for
 * stays as it is.
 */
export function failureWords(reason: string): string {
  const certificate = certificateFault(reason);
  return certificate === null ? shown(reason) : `${certificate} (${reason})`;
}

/** What is wrong with a venue's certificate, in words; null if a request failed for another reason. */
function certificateFault(reason: string): string | null {
  return CERTIFICATE_FAULTS[reason] ?? (UNTRUSTED.test(reason) ? NOBODY_VOUCHES : null);
}

/** A venue's own words as they may be shown within a sentence: it is not ours, and may say anything. */
function shown(message: string): string {
  return message
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .slice(0, VENUE_WORDS_LENGTH_MAX)
    .replace(/[. ]+$/, "");
}
