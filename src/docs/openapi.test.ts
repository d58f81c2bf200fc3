import { describe, expect, test } from "vitest";
import { VERSION } from "../config.ts";
import type { BotRoute } from "../http/bot/route.ts";
import { BOT_ROUTES } from "../http/bot/routes.ts";
import { COMMON_ERRORS } from "./common-errors.ts";
import { type Operation, openApi } from "./openapi.ts";
import { followed, referencesOf } from "./testing/references.ts";

const document = openApi(BOT_ROUTES, "https://lyrebird.example");
const rows = BOT_ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);

function operationOf({ method, path }: BotRoute): Operation | undefined {
  return document.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
}

test("the document says of which version and of which server it is", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info.version).toBe(VERSION);
  expect(document.servers).toEqual([{ url: "https://lyrebird.example" }]);
});

test("it holds every route and no other", () => {
  const named = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.sort()).toEqual(rows.map(([name]) => name).sort());
});

test("every reference leads somewhere", () => {
  const references = referencesOf(document);
  expect(references.length).toBeGreaterThan(0);
  expect(references.filter((reference) => followed(reference, document) === undefined)).toEqual([]);
});

test("everything that is shared is referred to", () => {
  const references = new Set(referencesOf(document));
  const names = Object.keys(document.components.schemas);
  expect(names.filter((name) => !references.has(`#/components/schemas/${name}`))).toEqual([]);
});

test("a request carries all three headers", () => {
  expect(document.security).toEqual([{ botApiKey: [], botTimestamp: [], botSignature: [] }]);
  expect(Object.values(document.components.securitySchemes).map(({ name }) => name)).toEqual([
    "x-bot-api-key",
    "x-bot-timestamp",
    "x-bot-signature",
  ]);
});

test("no two operations have one name", () => {
  const ids = BOT_ROUTES.map((route) => operationOf(route)?.operationId);
  expect(new Set(ids).size).toBe(BOT_ROUTES.length);
});

describe.each(rows)("%s", (_name, route) => {
  const operation = operationOf(route);

  test("has every parameter of its path, and every header of its own", () => {
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const parameters = operation?.parameters ?? [];
    expect(parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)).toEqual(inPath);
    expect(parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name)).toEqual(
      Object.keys(route.headers ?? {}),
    );
  });

  test("has a body if it may have one, with an example that the server takes", () => {
    const { requestBody } = operation ?? {};
    expect(requestBody !== undefined).toBe(route.method === "POST");
    if (route.body === null) return;
    const example = requestBody?.content["application/json"].example;
    expect(route.body.safeParse(example).error).toBeUndefined();
  });

  test("has every answer of its own, each with an example that is one", () => {
    for (const [status, { schema }] of Object.entries(route.answers)) {
      const example = operation?.responses[status]?.content["application/json"].example;
      expect(schema.safeParse(example).error, status).toBeUndefined();
    }
  });

  test("has the errors that any route may answer", () => {
    const statuses = Object.keys(operation?.responses ?? {});
    expect(statuses).toEqual(expect.arrayContaining(["401", "418", "429", "503"]));
    expect(statuses.includes("400")).toBe(route.key === "spot" || 400 in route.answers);
    expect(statuses.includes("413")).toBe(route.method === "POST");
  });
});

test.each(COMMON_ERRORS.map((error) => [error.status, error] as const))(
  "the example of a %d is one, and says when to come back if one should",
  (status, { schema, example, hasRetryAfter }) => {
    expect(schema.safeParse(example).error).toBeUndefined();
    expect(hasRetryAfter).toBe([418, 429, 503].includes(status));
  },
);
