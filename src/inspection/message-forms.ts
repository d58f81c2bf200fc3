// What clients sign instead of the message that they send, on routes whose parameters are signed: sorted, encoded otherwise,
// parts left out or joined, or as another family signs. Each is a text that the signature may turn out to fit.
//
// All texts are bytes, one a character, as messages are received. How many there are is bounded by how many parameters are looked at.
// Source: specification 5.1; what stock clients do.
import { BOT_TIMESTAMP_HEADER, headerOf, type SeenRequest } from "./sighting.ts";

export type MessageForm = {
  readonly message: string;
  /** What is said if the signature fits it. */
  readonly says: string;
};

/** The parts of a message, without the signature. */
export type SignedParts = { readonly query: string; readonly body: string };

/** A request with more parameters is not tried without each, or in other orders. */
export const PARAMETERS_VARIED_MAX = 12;

const AS_SENT = "Sign the very text that is sent.";

/** What may have been signed in place of query and body, most usual first. */
export function messageForms(request: SeenRequest, parts: SignedParts): readonly MessageForm[] {
  return [
    ...joinedOtherwise(parts),
    ...inOtherOrder(parts),
    ...encodedOtherwise(parts),
    ...withoutOne(parts),
    ...withSomethingMore(request, parts),
    ...asJson(parts),
    ...asBotRoutesSign(request, parts),
  ];
}

function joinedOtherwise({ query, body }: SignedParts): MessageForm[] {
  if (query === "" || body === "") return [{ message: "", says: `An empty text was signed. ${AS_SENT}` }];
  return [
    {
      message: `${query}&${body}`,
      says: "What was signed has an & between query and body. Put nothing between them.",
    },
    {
      message: query,
      says: "The query alone was signed. The body belongs to the message, behind the query.",
    },
    {
      message: body,
      says: "The body alone was signed. The query belongs to the message, before the body.",
    },
    ...[body + query, `${body}&${query}`].map((message) => ({
      message,
      says: "The body was signed before the query. The query comes first, and nothing is between them.",
    })),
    { message: "", says: `An empty text was signed. ${AS_SENT}` },
  ];
}

function inOtherOrder(parts: SignedParts): MessageForm[] {
  const sorted = { query: sortedForm(parts.query), body: sortedForm(parts.body) };
  const pairs = pairsOf(joined(parts));
  const says =
    "The signature fits these parameters in alphabetical order: sign them in the order in which they are sent.";
  return [
    { message: sorted.query + sorted.body, says },
    { message: sortedForm(joined(parts)), says },
    { message: [...pairs].sort().join("&"), says },
    ...(pairs.length > PARAMETERS_VARIED_MAX ? [] : moved(pairs)),
  ];
}

/** The same parameters with one of them elsewhere. */
function moved(pairs: readonly string[]): MessageForm[] {
  return pairs.flatMap((pair, index) => {
    const others = pairs.toSpliced(index, 1);
    return pairs.map((_, place) => ({
      message: others.toSpliced(place, 0, pair).join("&"),
      says: `The signature fits the parameters in another order, with ${shownName(pair)} ${
        place === 0 ? "first" : `behind ${shownName(others[place - 1] ?? "")}`
      }: sign them in the order in which they are sent.`,
    }));
  });
}

/** How a text may be escaped in a form, by the name of who does it so. */
const ENCODERS: readonly (readonly [name: string, encode: (bytes: string) => string])[] = [
  [
    "with a space as %20 (as encodeURIComponent and urllib's quote do)",
    (text) => escaped(text, /[\w.~!'()*-]/),
  ],
  ["with a space as + (as URLSearchParams does)", (text) => plus(escaped(text, /[\w.* -]/))],
  ["with a space as + (as urllib's urlencode does)", (text) => plus(escaped(text, /[\w.~ -]/))],
  ["with all but letters, digits and -._~ escaped", (text) => escaped(text, /[\w.~-]/)],
  ["with @, : and , left as they are", (text) => escaped(text, /[\w.~!'()*@:,-]/)],
];

function encodedOtherwise({ query, body }: SignedParts): MessageForm[] {
  const each = (change: (part: string) => string) => change(query) + change(body);
  const isEscaped = /[%+]/.test(query + body);
  const forms: MessageForm[] = isEscaped
    ? [
        {
          message: each((part) => decoded(part.replaceAll("+", " "))),
          says: `The parameters were signed before they were percent-encoded. ${AS_SENT}`,
        },
        {
          message: each(decoded),
          says: `The parameters were signed before they were percent-encoded. ${AS_SENT}`,
        },
        {
          message: each((part) => part.replaceAll("%", "%25")),
          says: `The parameters were percent-encoded twice before they were signed. ${AS_SENT}`,
        },
      ]
    : [];
  for (const [name, encode] of ENCODERS) {
    const message = each((part) => encodedPairs(part, encode));
    forms.push(
      { message, says: `What was signed is encoded otherwise than what was sent: ${name}. ${AS_SENT}` },
      {
        message: message.replaceAll(/%[0-9A-F]{2}/g, (sequence) => sequence.toLowerCase()),
        says: `What was signed has its escapes in lower case (%2f), what was sent has not: ${name}. ${AS_SENT}`,
      },
    );
  }
  forms.push(
    {
      message: each((part) => part.replaceAll(/%[0-9A-Fa-f]{2}/g, (sequence) => sequence.toLowerCase())),
      says: `What was signed has its escapes in lower case (%2f), what was sent has not. ${AS_SENT}`,
    },
    {
      message: each((part) => part.replaceAll(/%[0-9A-Fa-f]{2}/g, (sequence) => sequence.toUpperCase())),
      says: `What was signed has its escapes in upper case (%2F), what was sent has not. ${AS_SENT}`,
    },
  );
  return forms;
}

function withoutOne(parts: SignedParts): MessageForm[] {
  const pairs = pairsOf(joined(parts));
  if (pairs.length > PARAMETERS_VARIED_MAX) return [];
  const without = (part: string, pair: string) =>
    pairsOf(part)
      .filter((each) => each !== pair)
      .join("&");
  return pairs.map((pair) => ({
    message: without(parts.query, pair) + without(parts.body, pair),
    says: `The signature fits without ${shownName(pair)}: it was added after signing. Sign all that is sent.`,
  }));
}

function withSomethingMore(request: SeenRequest, { query, body }: SignedParts): MessageForm[] {
  const { method, path } = request;
  const message = query + body;
  const host = headerOf(request, "host");
  return [
    ...["\n", "\r\n"].map((end) => ({
      message: message + end,
      says: "A line break at the end was signed too. In a shell, printf %s writes none, echo does.",
    })),
    ...["&", "&signature="].map((end) => ({
      message: message + end,
      says: "The separator before the signature was signed too. Sign the parameters without it.",
    })),
    { message: `?${message}`, says: "The question mark was signed too. The message begins behind it." },
    ...[`${path}?${message}`, path + message, `${method}${path}?${message}`, method + path + message].map(
      (signed) => ({
        message: signed,
        says: "Method or path were signed too. Here query and body alone are signed.",
      }),
    ),
    ...["http", "https"].map((scheme) => ({
      message: `${scheme}://${host}${path}?${message}`,
      says: "The whole address was signed. Here query and body alone are signed.",
    })),
  ];
}

function asJson(parts: SignedParts): MessageForm[] {
  const fields = pairsOf(joined(parts)).map((pair) => {
    const [name = "", ...value] = pair.split("=");
    return [decoded(name), decoded(value.join("=").replaceAll("+", " "))] as const;
  });
  return jsonTexts(Object.fromEntries(fields)).map((message) => ({
    message,
    says: "The signature was made over JSON. Sign the text of the form that is sent.",
  }));
}

function asBotRoutesSign(request: SeenRequest, { query, body }: SignedParts): MessageForm[] {
  const { method, path } = request;
  const said = pairsOf(`${query}&${body}`).find((pair) => pair.startsWith("timestamp="));
  const times = [said?.slice("timestamp=".length) ?? "", headerOf(request, BOT_TIMESTAMP_HEADER)];
  const says =
    "The request is signed as those under /bot are (timestamp + method + path + body). Here query and body alone are signed.";
  return times
    .filter((time) => time !== "")
    .flatMap((time) =>
      [
        `${path}?${query}${body}`,
        `${path}${body}`,
        path,
        `${path}?${query}`,
        `${path}${query}`,
        `${request.target}${body}`,
      ].map((rest) => ({ message: time + method + rest, says })),
    );
}

/** The texts that programs write an object as. */
export function jsonTexts(value: unknown): readonly string[] {
  const sorted = isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
  const numbers = isObject(value) ? withNumbers(value) : value;
  return [value, sorted, numbers].flatMap((each) => [jsonBytes(each), spacedBytes(each)]);
}

function withNumbers(value: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      typeof field === "string" && /^(0|[1-9][0-9]{0,14})(\.[0-9]{0,14}[1-9])?$/.test(field)
        ? Number(field)
        : field,
    ]),
  );
}

function jsonBytes(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("latin1");
}

/** As Python's `json.dumps` writes it, with a space behind commas and colons. */
function spacedBytes(value: unknown): string {
  const spaced = JSON.stringify(value, null, 1)
    .replaceAll(/([[{])\n\s*/g, "$1")
    .replaceAll(/\n\s*([\]}])/g, "$1")
    .replaceAll(/,\n\s*/g, ", ");
  return Buffer.from(spaced, "utf8").toString("latin1");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function joined({ query, body }: SignedParts): string {
  return query === "" || body === "" ? query + body : `${query}&${body}`;
}

function pairsOf(form: string): string[] {
  return form.split("&").filter((pair) => pair !== "");
}

function sortedForm(form: string): string {
  const nameOf = (pair: string) => pair.split("=", 1)[0] ?? "";
  return pairsOf(form)
    .sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    .join("&");
}

function encodedPairs(form: string, encode: (bytes: string) => string): string {
  return form
    .split("&")
    .map((pair) =>
      pair
        .split("=")
        .map((text) => encode(decoded(text.replaceAll("+", " "))))
        .join("="),
    )
    .join("&");
}

/** Bytes whose escapes are taken back. */
function decoded(bytes: string): string {
  return bytes.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Bytes with all escaped that is not of a kind. */
function escaped(bytes: string, kept: RegExp): string {
  return bytes.replaceAll(/[\s\S]/g, (byte) =>
    kept.test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

function plus(bytes: string): string {
  return bytes.replaceAll(" ", "+");
}

/** A parameter's name as it may be shown; never its value. */
export function shownName(pair: string): string {
  const name = pair.split("=", 1)[0] ?? "";
  return /^[A-Za-z][A-Za-z_]{0,30}$/.test(name) ? `\`${name}\`` : "a parameter";
}
