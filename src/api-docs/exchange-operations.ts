// The exchange-style routes as operations of the OpenAPI document, out of the rows that the server routes by:
// parameters, weight and access are what a row says, and answers are those of answers.ts.
import type { Refusal } from "../domain/refusal.ts";
import type { Descriptions, ParameterDescription } from "../http/parse/descriptions.ts";
import { wireError } from "../http/refusals.ts";
import { type Route, SIGNING_PARAMETERS } from "../http/route.ts";
import { answerOf } from "./answers.ts";
import { HOME, type JsonSchema } from "./schema-book.ts";

export type Operation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  /** Alternatives: all schemes of one of them are needed; an empty list needs none. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
};

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "header" | "query";
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
};

export type Answer = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  readonly content: Content;
};

export type Content = {
  readonly "application/json": { readonly schema: JsonSchema; readonly example?: unknown };
};

/** The groups of routes on the page, with what is said of each. */
export const EXCHANGE_TAGS = {
  "Spot market data": "Public routes: they need no key, and are charged to the client's address.",
  "Spot trading": "Signed routes for the key of a spot strategy.",
  "Futures market data": "Public routes: they need no key, and are charged to the client's address.",
  "Futures trading": "Signed routes for the key of a futures strategy.",
  Compatibility:
    "Stock clients call these routes when they start. What they ask for is not part of this service.",
} as const;

/** The body of every failure of the exchange-style routes. */
export const REJECTION: JsonSchema = {
  type: "object",
  properties: {
    code: { type: "integer", description: "A negative number; decide by it." },
    msg: { type: "string", description: "For people." },
  },
  required: ["code", "msg"],
};

/** The security schemes of signed routes; both are needed. */
export const EXCHANGE_SCHEMES = {
  exchangeApiKey: {
    type: "apiKey",
    in: "header",
    name: "X-MBX-APIKEY",
    description: "The API key: `lyre_bot_` and 64 hex digits.",
  },
  exchangeSignature: {
    type: "apiKey",
    in: "query",
    name: "signature",
    description: SIGNING_PARAMETERS.signature.description,
  },
} as const;

const SECURITY: { readonly [Access in Route["access"]]: Operation["security"] } = {
  public: [],
  key: [{ exchangeApiKey: [] }],
  signed: [{ exchangeApiKey: [], exchangeSignature: [] }],
};

/** The operation of a route under one of its paths. */
export function exchangeOperation(route: Route, path: string): Operation {
  const { signature, ...signing } = SIGNING_PARAMETERS;
  const { access } = route;
  const isSigned = access === "signed";
  const own = parametersOf(route.parameters);
  const answer = answerOf(`${route.method} ${route.paths[0]}`);
  return {
    operationId: operationIdOf(route.method, path),
    tags: [tagOf(route, path)],
    summary: route.summary,
    description: [
      ...noteOfAlias(route, path),
      weightOf(route),
      ...(access === "public" ? [] : notesOf(route)),
    ].join("\n\n"),
    security: SECURITY[access],
    parameters: isSigned ? [...own, ...parametersOf(signing)] : own,
    responses: {
      ...(answer === null
        ? {}
        : { 200: { description: "Success.", content: { "application/json": answer } } }),
      "4XX": rejection("Rejected: decide by `code`.", { refusal: "PARAMETER_MISSING", parameter: "symbol" }),
      "5XX": rejection(
        "Overloaded, out of reach or at fault. A 503 says in `Retry-After` when to come back.",
        {
          refusal: "BUSY",
        },
      ),
    },
  };
}

function rejection(description: string, refusal: Refusal): Answer {
  const { code, msg } = wireError(refusal);
  const content = { schema: { $ref: `${HOME}Rejection` }, example: { code, msg } };
  return { description, content: { "application/json": content } };
}

function tagOf({ access, method }: Route, path: string): keyof typeof EXCHANGE_TAGS {
  const isRetired = access === "public" && method !== "GET";
  if (isRetired || !/^\/f?api\//.test(path)) return "Compatibility";
  return `${path.startsWith("/fapi") ? "Futures" : "Spot"} ${access === "public" ? "market data" : "trading"}`;
}

/** `postFapiV1Order`. */
function operationIdOf(method: string, path: string): string {
  const words = path.split("/").filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function noteOfAlias({ paths: [first] }: Route, path: string): string[] {
  return path === first ? [] : [`The same as \`${first}\`.`];
}

function notesOf({ access, strategyType, placesOrder, writes }: Route): string[] {
  return [
    ...(access === "key" ? ["Needs no signature; one that is sent is not checked."] : []),
    ...(strategyType === null ? ["Any API key is accepted."] : []),
    ...(placesOrder ? ["Counts as an order."] : []),
    ...(writes ? ["The strategy must be LIVE."] : []),
  ];
}

/** Limits on both sides of every bound that a weight has. */
const LIMITS = [50, 99, 100, 101, 499, 500, 501, 1_000, 1_001, 1_500, 5_000];

/**
 * What the route costs: where that depends on the parameters, each weight with the most that may be asked for
 * it.
 */
export function weightOf({ weight, parameters }: Route): string {
  const { limit } = parameters;
  const limits =
    limit === undefined
      ? []
      : (limit.values?.map(Number) ?? LIMITS.filter((each) => each <= (limit.max ?? each)));
  const counts = "symbols" in parameters ? [20, 100] : [];
  // A later case takes the place of an earlier one that costs the same.
  const cases: (readonly [label: string, name: string, value: string])[] = [
    ["with `symbol`", "symbol", "BTCUSDT"],
    ...counts.map(
      (count) => [`${count} \`symbols\``, "symbols", JSON.stringify(Array(count).fill(""))] as const,
    ),
    ...(limit === undefined ? [["without parameters", "", ""] as const] : []),
    ...limits.map((each) => [`\`limit=${each}\``, "limit", String(each)] as const),
  ];
  const labels = new Map(cases.map(([label, name, value]) => [weight(new Map([[name, value]])), label]));
  const costs = [...labels].sort(([one], [other]) => one - other);
  if (costs.length === 1) return `Weight ${costs[0]?.[0]}.`;
  return `Weight ${costs.map(([cost, label]) => `${cost} (${label})`).join(", ")}.`;
}

function parametersOf(descriptions: Descriptions): Parameter[] {
  return Object.entries(descriptions).map(([name, description]) => ({
    name,
    in: "query",
    required: description.required === true,
    description: wordsOf(description),
    schema: schemaOf(description),
    ...(description.example === undefined ? {} : { example: description.example }),
  }));
}

const TYPE_WORDS: { readonly [T in ParameterDescription["type"]]?: string } = {
  list: "A JSON list of texts.",
  time: "Unix ms.",
};

/** All that a schema cannot say. */
function wordsOf(parameter: ParameterDescription): string {
  const { type, required, description, default: standard } = parameter;
  const isInSchema = standard === undefined || schemaOf(parameter).default !== undefined;
  return [
    typeof required === "string" ? `Required ${required}.` : "",
    TYPE_WORDS[type] ?? "",
    description,
    isInSchema ? "" : `Default: ${standard}.`,
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function schemaOf({ type, values, min, max, default: standard }: ParameterDescription): JsonSchema {
  switch (type) {
    case "text":
      return {
        type: "string",
        ...(values === undefined ? {} : { enum: [...values] }),
        ...(standard !== undefined && values?.includes(standard) === true ? { default: standard } : {}),
      };
    case "list":
      return { type: "string", contentMediaType: "application/json" };
    case "decimal":
      return { type: "string", pattern: "^[0-9]{1,20}(\\.[0-9]{1,20})?$" };
    case "id":
    case "time":
      return { type: "integer", minimum: 0 };
    case "count":
      return {
        type: "integer",
        ...(values === undefined ? {} : { enum: values.map(Number) }),
        ...(min === undefined ? {} : { minimum: min }),
        ...(max === undefined ? {} : { maximum: max }),
        ...(/^[0-9]+$/.test(standard ?? "") ? { default: Number(standard) } : {}),
      };
    case "flag":
      return { type: "boolean", ...(standard === undefined ? {} : { default: standard === "true" }) };
  }
}
