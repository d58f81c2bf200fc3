// The OpenAPI document of every route, out of the rows that the server routes by and the schemas that it
// checks with. What no row says holds for all rows of a family: how a request is signed, and which errors any
// of them may answer.

import { VERSION } from "../config/config.ts";
import type { BotRoute } from "../http/bot/route.ts";
import type { Route } from "../http/route.ts";
import { answerSchemas } from "./answers.ts";
import { COMMON_ERRORS, type CommonError, RETRY_AFTER } from "./common-errors.ts";
import { exampleOf } from "./examples.ts";
import type { Answer, Content, Operation, Parameter } from "./exchange-operations.ts";
import { EXCHANGE_SCHEMES, EXCHANGE_TAGS, exchangeOperation, REJECTION } from "./exchange-operations.ts";
import { introduction } from "./introduction.ts";
import { type JsonSchema, SchemaBook } from "./schema-book.ts";
import { SIGNED_HEADERS } from "./signing.ts";
import { BOT_SCHEMAS, WIRE_WORDS } from "./wire-words.ts";

/** The group of the bot routes on the page. */
const SIGNALS = "Signals";
const TAGS = {
  [SIGNALS]: "Orders in JSON that are executed once and only once, for the key of a spot strategy.",
  ...EXCHANGE_TAGS,
};

/** Every route: those of bots, and the exchange-style ones. */
export type Routes = { readonly bot: readonly BotRoute[]; readonly exchange: readonly Route[] };

/** The document of these routes; `address` is where they are served, an origin. */
export function openApi({ bot, exchange }: Routes, address: string) {
  const book = new SchemaBook("draft-2020-12", BOT_SCHEMAS, WIRE_WORDS);
  const paths: Record<string, Record<string, Operation>> = {};
  const schemas: Record<string, JsonSchema> = { ...answerSchemas(), Rejection: REJECTION };
  const add = (method: string, path: string, operation: Operation) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  };
  for (const route of bot)
    add(route.method, route.path.replace(/:(\w+)/g, "{$1}"), botOperation(route, book));
  for (const route of exchange) {
    for (const path of route.paths) add(route.method, path, exchangeOperation(route, path));
  }
  return {
    openapi: "3.1.0",
    info: { title: "Lyrebird API", version: VERSION, description: introduction(address) },
    servers: [{ url: address }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { ...EXCHANGE_SCHEMES, ...BOT_SCHEMES } as Record<string, { readonly name: string }>,
      schemas: { ...book.named(), ...schemas },
    },
  };
}

const BOT_SCHEMES = Object.fromEntries(
  SIGNED_HEADERS.map(({ scheme, name, description }) => [
    scheme,
    { type: "apiKey", in: "header", name, description },
  ]),
);

/** The name of a row, as it is written there. */
function routeName({ method, path }: BotRoute): string {
  return `${method} ${path}`;
}

function botOperation(route: BotRoute, book: SchemaBook): Operation {
  const own = Object.entries(route.answers).map(([status, { schema, description }]): [string, Answer] => [
    status,
    { description, content: contentOf(book.write(schema), exampleOf(routeName(route), status)) },
  ]);
  const common = COMMON_ERRORS.filter(
    ({ status, concerns }) => concerns(route) && !(status in route.answers),
  );
  return {
    operationId: route.operationId,
    tags: [SIGNALS],
    // One requirement of three schemes: a request carries all of them.
    security: [Object.fromEntries(SIGNED_HEADERS.map(({ scheme }) => [scheme, []]))],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    parameters: [...pathParameters(route), ...headerParameters(route, book)],
    ...requestBody(route, book),
    responses: Object.fromEntries([
      ...own,
      ...common.map((error) => [String(error.status), commonAnswer(error, book)] as const),
    ]),
  };
}

function pathParameters({ path }: BotRoute): readonly Parameter[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: `The \`${name}\` that the service gave.`,
    schema: { type: "string" },
  }));
}

function headerParameters({ headers = {} }: BotRoute, book: SchemaBook): readonly Parameter[] {
  return Object.entries(headers).map(([name, { schema, description }]) => ({
    name,
    in: "header",
    required: !schema.safeParse(undefined).success,
    description,
    schema: book.write(schema),
  }));
}

function requestBody(route: BotRoute, book: SchemaBook): Pick<Operation, "requestBody"> {
  if (route.method === "GET") return {};
  const { body } = route;
  // Any body will do, and none.
  if (body === null) return { requestBody: { required: false, content: contentOf({}, undefined) } };
  return {
    requestBody: {
      // Where `{}` says everything, nothing says it too.
      required: !body.safeParse({}).success,
      content: contentOf(book.write(body), exampleOf(routeName(route), "body")),
    },
  };
}

function commonAnswer(
  { description, schema, example, hasRetryAfter }: CommonError,
  book: SchemaBook,
): Answer {
  return {
    description,
    ...(hasRetryAfter ? { headers: { "Retry-After": RETRY_AFTER } } : {}),
    content: contentOf(book.write(schema), example),
  };
}

function contentOf(schema: JsonSchema, example: unknown): Content {
  return { "application/json": example === undefined ? { schema } : { schema, example } };
}
