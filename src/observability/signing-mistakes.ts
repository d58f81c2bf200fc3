// Compares a signature that does not verify with the most frequent signing mistakes: another secret, another
// order of the parameters, a part left out, another encoding, a parameter that was not signed, `signature`
// signed as well, a digest that is not lowercase hex. An unknown mistake gets a text that says how to find
// it. Texts are received bytes, one a character.
// Invariant: no result contains a secret, a signature or the value of a parameter.
import { createHmac } from "node:crypto";
import type { ApiKeyRecord } from "../domain/strategy.ts";
import { signedMessage } from "../keys/signatures.ts";
import {
  BOT_SIGNATURE_HEADER,
  BOT_TIMESTAMP_HEADER,
  headerOf,
  type SeenRequest,
  type SignatureScheme,
} from "./request-context.ts";

export type SignedRequest = {
  readonly scheme: SignatureScheme;
  readonly request: SeenRequest & { readonly body: string };
  readonly key: ApiKeyRecord;
  readonly secret: string;
  /** Other keys of the same owner. */
  readonly others: readonly { readonly key: ApiKeyRecord; readonly secret: string }[];
};

/**
 * Something that may have been signed, or used as the secret, and the hint that is given if the signature
 * fits it.
 */
type Guess<T> = readonly [guess: T, hint: string];

/** A longer message is not compared with the mistakes, bytes. */
export const DIAGNOSED_BYTES_MAX = 2_048;

/** A request with more parameters is not compared with the same request without each of them. */
const PARAMETERS_OMITTED_MAX = 12;

const NOTHING_FITS =
  "None of the usual mistakes fits. Compare the SHA-256 of the text that your program signs with the one shown here: if they are the same, the secret is not this key's; if not, other bytes have arrived than were signed.";
const LOWERCASE_HEX = "Send it as 64 lowercase hex digits.";
const AS_SENT = "Sign exactly the text that is sent.";
const BOT_RULE = "Sign timestamp + METHOD + path with query + body, with nothing between.";

/** What is wrong with a signature that did not verify. */
export function signatureHints(refused: SignedRequest): readonly string[] {
  const { secret } = refused;
  const { message, signature } = received(refused);
  const { digest, flaws } = digestOf(signature);
  if (digest === null) return flaws;
  if (message.length > DIAGNOSED_BYTES_MAX) return [...flaws, NOTHING_FITS];
  const fits = (usedSecret: string, signed: string) =>
    createHmac("sha256", usedSecret).update(signed, "latin1").digest().equals(digest);
  if (fits(secret, message)) return flaws;
  const used = wrongSecrets(refused).find(([guess]) => fits(guess, message));
  const signed = () => wrongMessages(refused, message).find(([guess]) => fits(secret, guess));
  const [, hint] = used ?? signed() ?? [];
  return hint === undefined ? [...flaws, NOTHING_FITS] : [hint, ...flaws];
}

/** The message that should have been signed, and the signature that came with it. */
export function received({ scheme, request }: Pick<SignedRequest, "scheme" | "request">) {
  const { method, target, query, body } = request;
  if (scheme === "EXCHANGE") {
    const { message, signature } = signedMessage(query, body);
    return { message, signature: signature ?? "" };
  }
  const message = headerOf(request, BOT_TIMESTAMP_HEADER) + method + target + body;
  return { message, signature: headerOf(request, BOT_SIGNATURE_HEADER) };
}

/** The digest of a signature in hex or base64; null if it is neither. */
function digestOf(signature: string): { digest: Buffer | null; flaws: readonly string[] } {
  if (/^[0-9a-f]{64}$/.test(signature)) return { digest: Buffer.from(signature, "hex"), flaws: [] };
  if (/^[0-9a-f]{64}$/i.test(signature)) {
    const flaws = [`The signature is written in capital letters. ${LOWERCASE_HEX}`];
    return { digest: Buffer.from(signature, "hex"), flaws };
  }
  // A + that was not percent-encoded in a form is a space.
  const text = decoded(signature).replaceAll(" ", "+");
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) {
    const flaws = [`The signature is written in base64. ${LOWERCASE_HEX}`];
    return { digest: Buffer.from(text, "base64"), flaws };
  }
  return { digest: null, flaws: [`The signature is not an HMAC-SHA256. ${LOWERCASE_HEX}`] };
}

function wrongSecrets({ key, secret, others }: SignedRequest): readonly Guess<string>[] {
  return [
    [key.apiKey, "The API key was used as the secret. Sign with the secret that belongs to it."],
    ["", "The request was signed with an empty secret. Check the setting that your program reads it from."],
    [`${secret}\n`, "The secret ends with a line break. Remove it before signing."],
    ...others.map((other): Guess<string> => {
      const revoked = other.key.revokedAt === null ? "" : ", which was revoked";
      return [
        other.secret,
        `The request was signed with the secret of your key "${other.key.label}"${revoked}. Key and secret belong together.`,
      ];
    }),
  ];
}

function wrongMessages({ scheme, request }: SignedRequest, message: string): readonly Guess<string>[] {
  if (scheme === "BOT") return wrongBotMessages(request);
  const query = signedMessage(request.query, "").message;
  const body = signedMessage(request.body, "").message;
  const all = query === "" || body === "" ? query + body : `${query}&${body}`;
  const pairs = all.split("&");
  const sorted = (form: string) => form.split("&").sort().join("&");
  const both = (change: (form: string) => string) => change(query) + change(body);
  const without = (pair: string) => (form: string) => {
    const others = form.split("&").filter((other) => other !== pair);
    return others.join("&");
  };
  const order = `The parameters were signed in another order than they were sent. ${AS_SENT}`;
  const encoding = `The parameters were signed in another percent-encoding than they were sent. ${AS_SENT}`;
  const parts =
    query === "" || body === ""
      ? []
      : [
          [query, `The query was signed without the body. ${AS_SENT}`] as const,
          [body, `The body was signed without the query. ${AS_SENT}`] as const,
          [all, "An & was signed between query and body. Sign the body directly after the query."] as const,
        ];
  return [
    ...parts,
    [sorted(all), order],
    [both(sorted), order],
    [[...pairs.slice(-1), ...pairs.slice(0, -1)].join("&"), order],
    [[...pairs.slice(1), ...pairs.slice(0, 1)].join("&"), order],
    [both((form) => decoded(form.replaceAll("+", " "))), encoding],
    [both(decoded), encoding],
    [both(formEncoded), encoding],
    [both((form) => formEncoded(form).replaceAll("+", "%20")), encoding],
    [`${message}&signature=`, `An empty parameter \`signature\` was signed. Append it after signing.`],
    [`${message}&`, "The & before `signature` was signed. Append it with the signature, after signing."],
    ...(pairs.length > PARAMETERS_OMITTED_MAX ? [] : pairs).map(
      (pair): Guess<string> => [
        both(without(pair)),
        `${shownName(pair)} was not signed. Sign all parameters that are sent.`,
      ],
    ),
  ];
}

function wrongBotMessages(request: SignedRequest["request"]): readonly Guess<string>[] {
  const { method, path, target, body } = request;
  const time = headerOf(request, BOT_TIMESTAMP_HEADER);
  const head = time + method + target;
  return [
    [head, `The body was not signed. ${BOT_RULE}`],
    [time + method + path + body, `The path was signed without its query. ${BOT_RULE}`],
    [method + target + body, `The timestamp was not signed. ${BOT_RULE}`],
    [method + target + time + body, `The parts were signed in another order. ${BOT_RULE}`],
    ...otherJsonTexts(body).map(
      (text): Guess<string> => [
        head + text,
        `The body was signed with other spaces than it was sent. Serialize it once, sign that text and send it. ${BOT_RULE}`,
      ],
    ),
  ];
}

/** The JSON text without spaces, and as Python's `json.dumps` writes it. */
function otherJsonTexts(body: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(body, "latin1").toString("utf8"));
    const spaced = JSON.stringify(value, null, 1)
      .replaceAll(/([[{])\n\s*|\n\s*(?=[\]}])/g, "$1")
      .replaceAll(/,\n\s*/g, ", ");
    return [JSON.stringify(value), spaced].map((text) => Buffer.from(text, "utf8").toString("latin1"));
  } catch {
    return [];
  }
}

/** As `URLSearchParams` of JavaScript and `urlencode` of Python write parameters. */
function formEncoded(form: string): string {
  return new URLSearchParams(form).toString().replaceAll("%7E", "~");
}

/** The bytes of percent-encoded text. */
function decoded(text: string): string {
  return text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** A parameter's name if it looks like one. */
export function shownName(pair: string): string {
  const name = pair.split("=", 1)[0] ?? "";
  return /^[A-Za-z][A-Za-z_]{0,30}$/.test(name) ? `\`${name}\`` : "A parameter";
}
