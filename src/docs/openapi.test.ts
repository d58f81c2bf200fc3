import { describe, expect, test } from "vitest";
import { VERSION } from "../config.ts";
import type { BotRoute } from "../http/bot/route.ts";
import { BOT_ROUTES } from "../http/bot/routes.ts";
import { isFault, readSubmission } from "../signals/submission.ts";
import { COMMON_ERRORS } from "./common-errors.ts";
import { type Operation, openApi } from "./openapi.ts";
import { followed, referencesOf } from "./testing/references.ts";

const document = openApi(BOT_ROUTES, "https://lyrebird.example");
const rows = BOT_ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);

function operationOf({ method, path }: BotRoute): Operation | undefined {
  return document.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
}

function rowOf(wanted: string): BotRoute {
  const row = rows.find(([name]) => name === wanted);
  if (row === undefined) throw new Error(`there is no route ${wanted}`);
  return row[1];
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

test("an operation has a name that reads well in code, and that no other has", () => {
  const ids = BOT_ROUTES.map((route) => operationOf(route)?.operationId);
  expect(ids).toContain("submitSignal");
  for (const id of ids) expect(id).toMatch(/^[a-z]+[A-Z][a-z]+$/);
  expect(new Set(ids).size).toBe(BOT_ROUTES.length);
});

test("a body that may be left out is not required", () => {
  const required = (path: string) => document.paths[`/bot/v1/spot/${path}`]?.post?.requestBody?.required;
  expect(["orders", "orders/cancel", "strategy/close", "test"].map(required)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

describe("a submission", () => {
  const properties = document.components.schemas.Submission?.properties ?? {};
  const amounts = ["quantity", "quoteOrderQty", "price", "stopPrice"];
  const patternOf = (name: string) => {
    const property = properties[name];
    const text = typeof property === "object" ? property.anyOf?.[0] : undefined;
    return new RegExp(typeof text === "object" ? (text.pattern ?? "") : "");
  };

  test.each([
    ["0.5", true],
    ["0.12345678", true],
    ["0.1234567800", true],
    ["0.123456789", false],
    ["1e-7", false],
    ["-1", false],
  ])("may say %s as an amount: %s, as the server reads it", (amount, isTaken) => {
    for (const name of amounts) expect(patternOf(name).test(amount), name).toBe(isTaken);
    const order = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "LIMIT", price: "1" };
    expect(isFault(readSubmission(JSON.stringify({ ...order, quantity: amount })))).toBe(!isTaken);
  });

  test("has an example of its own for each amount", () => {
    const examples = amounts.map((name) => JSON.stringify(properties[name]));
    expect(new Set(examples.map((text) => /"examples":(\[[^\]]*\])/.exec(text)?.[1])).size).toBe(
      amounts.length,
    );
  });

  test("is what the order of a signal is", () => {
    for (const name of ["Signal", "SubmittedSignal"]) {
      expect(document.components.schemas[name]?.properties?.order, name).toMatchObject({
        $ref: "#/components/schemas/Submission",
      });
    }
    expect(JSON.stringify(document.components.schemas.Signal?.properties?.order)).not.toContain("properties");
  });

  test("has a key without spaces at its ends, which headers lose", () => {
    const schema = operationOf(rowOf("POST /bot/v1/spot/orders"))?.parameters[0]?.schema;
    const pattern = new RegExp(schema?.pattern ?? "");
    const longest = "k".repeat(128);
    expect(["k", "a b", longest].filter((key) => !pattern.test(key))).toEqual([]);
    expect(["", " k", "k ", "ä", `${longest}k`].filter((key) => pattern.test(key))).toEqual([]);
  });
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
    expect(statuses).toEqual(expect.arrayContaining(["401", "418", "429", "500", "503"]));
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
