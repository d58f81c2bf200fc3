import { describe, expect, test } from "vitest";
import { VERSION } from "../config/config.ts";
import type { BotRoute } from "../http/bot/route.ts";
import { BOT_ROUTES } from "../http/bot/routes.ts";
import { ROUTES } from "../http/server.ts";
import { isFault, readSubmission } from "../signals/submission.ts";
import { COMMON_ERRORS } from "./common-errors.ts";
import { type Operation, weightOf } from "./exchange-operations.ts";
import { openApi } from "./openapi.ts";
import { followed, referencesOf } from "./testing/references.ts";

const document = openApi({ bot: BOT_ROUTES, exchange: ROUTES }, "https://lyrebird.example");
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
  const exchange = ROUTES.flatMap(({ method, paths }) => paths.map((path) => `${method} ${path}`));
  expect(named.sort()).toEqual([...rows.map(([name]) => name), ...exchange].sort());
});

test("no two operations have one id", () => {
  const ids = Object.values(document.paths).flatMap((each) =>
    Object.values(each).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("every group of routes is described, and no other", () => {
  const used = Object.values(document.paths).flatMap((each) =>
    Object.values(each).flatMap(({ tags }) => tags),
  );
  expect(document.tags.map(({ name }) => name).sort()).toEqual([...new Set(used)].sort());
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

test("a request of a bot carries all three headers, a signed one the key and the signature, a public one nothing", () => {
  const needed = (operation: Operation | undefined) =>
    operation?.security.map((schemes) =>
      Object.keys(schemes).map((scheme) => document.components.securitySchemes[scheme]?.name),
    );
  expect(needed(operationOf(rowOf("POST /bot/v1/spot/orders")))).toEqual([
    ["x-bot-api-key", "x-bot-timestamp", "x-bot-signature"],
  ]);
  expect(needed(document.paths["/fapi/v1/order"]?.post)).toEqual([["X-MBX-APIKEY", "signature"]]);
  expect(needed(document.paths["/api/v3/depth"]?.get)).toEqual([]);
});

describe("an exchange-style route", () => {
  const { post: place } = document.paths["/api/v3/order"] ?? {};
  const parameter = (operation: Operation | undefined, name: string) =>
    operation?.parameters.find((each) => each.name === name);

  test("has its parameters, those of its signature, and which of them are required", () => {
    const required = place?.parameters.filter((each) => each.required).map(({ name }) => name);
    expect(required).toEqual(["symbol", "side", "type", "timestamp"]);
    expect(parameter(place, "type")?.schema).toEqual({
      type: "string",
      enum: ["MARKET", "LIMIT", "STOP_LOSS", "STOP_LOSS_LIMIT"],
    });
    expect(parameter(place, "price")?.description).toMatch(/^Required by some types\./);
    expect(parameter(place, "newClientOrderId")?.description).toMatch(/Default: a fresh one\.$/);
    const { get: trades } = document.paths["/fapi/v1/trades"] ?? {};
    expect(parameter(trades, "limit")?.schema).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 1_000,
      default: 500,
    });
    expect(trades?.parameters.map(({ name }) => name)).toEqual(["symbol", "limit"]);
  });

  test("says what it weighs, and what else it is charged and needs", () => {
    expect(place?.description).toBe("Weight 1.\n\nCounts as an order.\n\nThe strategy must be LIVE.");
    expect(document.paths["/fapi/v2/account"]?.get?.description).toBe(
      "The same as `/fapi/v3/account`.\n\nWeight 5.",
    );
    const weights = Object.fromEntries(ROUTES.map((route) => [route.paths[0], weightOf(route)]));
    expect(weights).toMatchObject({
      "/api/v3/depth": "Weight 5 (`limit=100`), 25 (`limit=500`), 50 (`limit=1000`), 250 (`limit=5000`).",
      "/fapi/v1/depth": "Weight 2 (`limit=50`), 5 (`limit=100`), 10 (`limit=500`), 20 (`limit=1000`).",
      "/api/v3/ticker/24hr": "Weight 2 (20 `symbols`), 40 (100 `symbols`), 80 (without parameters).",
      "/fapi/v1/openOrders": "Weight 1 (with `symbol`), 40 (without parameters).",
    });
  });

  test("has an answer and its failures", () => {
    expect(Object.keys(place?.responses ?? {})).toEqual(["200", "4XX", "5XX"]);
    const refuses = document.paths["/fapi/v1/positionSide/dual"]?.post;
    expect(Object.keys(refuses?.responses ?? {})).toEqual(["4XX", "5XX"]);
  });
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
    expect(statuses.includes("400")).toBe(route.strategyType === "SPOT" || 400 in route.answers);
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
