// docs/api/signals.md and docs/api/streams.md against the program: every route, field, code and bound is
// there as it is.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { BOT_INTRODUCTION } from "../../src/api-docs/signing.ts";
import { LIMIT_TABLE } from "../../src/api-docs/stream-words.ts";
import { ORDERS_PER_10_SECONDS, ORDERS_PER_MINUTE } from "../../src/domain/order-counts.ts";
import { TIMESTAMP_OFF_MS_MAX } from "../../src/http/bot/authenticate.ts";
import type { BotRoute } from "../../src/http/bot/route.ts";
import { BOT_ROUTES } from "../../src/http/bot/routes.ts";
import { cancelSchema, submittedSchema } from "../../src/http/bot/schemas.ts";
import { PAIR_FILTERS, TIMEFRAMES } from "../../src/market/pairs.ts";
import { READS_PER_10_SECONDS, WEIGHT_PER_MINUTE } from "../../src/rate-limits/budgets.ts";
import { STREAMS_PER_ADDRESS_DEFAULT } from "../../src/rate-limits/connections.ts";
import { CLAIM_MS, RETRY_MS_MAX, RETRY_MS_MIN, SIGNALS_LISTED_MAX } from "../../src/signals/signals.ts";
import { submissionSchema } from "../../src/signals/submission.ts";
import { CLAIMED_MAX, SWEEP_MS } from "../../src/signals/sweep.ts";
import { STREAM_ERROR_CODES, STREAM_ERRORS } from "../../src/streams/errors.ts";
import { KEPT_MESSAGES_MAX } from "../../src/streams/fan-out.ts";
import {
  CONNECTIONS_MAX,
  MESSAGE_BYTES_MAX,
  NAMESPACE_STREAMS_MAX,
  PACKETS_PER_MINUTE,
  UNJOINED_MS_MAX,
} from "../../src/streams/limits.ts";
import { DEPTH_SUBSCRIPTION, HANDSHAKE_AUTH, MARKET_DATA, ORDER_BOOK } from "../../src/streams/schemas.ts";
import { LEVELS, SPEEDS } from "../../src/streams/topics.ts";
import { type TableRow, tableRows } from "../support/tables.ts";

const read = (name: string) => readFileSync(resolve(import.meta.dirname, "../../docs/api", name), "utf8");
const signals = read("signals.md");
const streams = read("streams.md");

/** The names in a cell that may hold several: `one`, `other`. */
function namesIn(rows: readonly TableRow[], column: string): string[] {
  return rows.flatMap(({ cells }) => (cells[column] ?? "").replaceAll("`", "").split(", "));
}

/** A bound as the documents write it. */
function written(bound: number): string {
  return bound.toLocaleString("en-US");
}

describe("docs/api/signals.md", () => {
  const routes = tableRows(signals, ["Route", "Key"]);

  test.each(BOT_ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "documents %s as it is",
    (name, route) => {
      const row = routes.find(({ cells }) => cells.Route === name);
      expect(row === undefined ? `${name} is not in the table` : lineOf(row)).toBe(rightLine(route));
    },
  );

  test("documents no route that there is not", () => {
    expect(routes).toHaveLength(BOT_ROUTES.length);
  });

  test("has a section for every route", () => {
    for (const { method, path } of BOT_ROUTES) expect(signals).toContain(`\n## ${method} ${path}\n`);
  });

  test.each([
    ["POST /bot/v1/spot/orders", submissionSchema],
    ["POST /bot/v1/spot/orders/cancel", cancelSchema],
  ])("documents the fields that %s takes", (heading, schema) => {
    const rows = tableRows(signals, ["Field", "Type", "Required"]).filter((row) => row.heading === heading);
    expect(namesIn(rows, "Field").sort()).toEqual(Object.keys(schema.shape).sort());
  });

  test("documents the fields of a signal and the filters of a pair", () => {
    const rows = tableRows(signals, ["Field", "What"]);
    const shown = namesIn(rows, "Field");
    expect(shown.sort()).toEqual(Object.keys(submittedSchema.shape).sort());
    for (const filter of PAIR_FILTERS) expect(signals).toContain(`\`${filter}\``);
  });

  test("documents every status, and every header", () => {
    const rows = tableRows(signals, ["Status", "Terminal"]);
    expect(namesIn(rows, "Status").sort()).toEqual([...submittedSchema.shape.status.options].sort());
    const headers = BOT_ROUTES.flatMap((route) => Object.keys(route.headers ?? {}));
    expect(namesIn(tableRows(signals, ["Header"]), "Header")).toEqual([
      "x-bot-api-key",
      "x-bot-timestamp",
      "x-bot-signature",
      ...headers,
    ]);
  });

  test("documents every status code that a route answers", () => {
    const documented = new Set(tableRows(signals, ["HTTP", "Message"]).map(({ cells }) => cells.HTTP));
    const answered = BOT_ROUTES.flatMap(({ answers }) => Object.keys(answers)).filter(
      (status) => status >= "400",
    );
    for (const status of [...answered, "401", "413", "418", "429", "503"])
      expect(documented).toContain(status);
  });

  test("documents the limits as they are, and so does the document that is served", () => {
    const rows = tableRows(signals, ["Budget", "Per"]);
    const limits = Object.fromEntries(rows.map(({ cells }) => [cells.Budget, cells.Limit]));
    const reads = `${READS_PER_10_SECONDS} in 10 seconds`;
    const orders = `${ORDERS_PER_10_SECONDS} in 10 seconds and ${written(ORDERS_PER_MINUTE)} a minute`;
    const weight = `${written(WEIGHT_PER_MINUTE)} a minute`;
    expect(limits).toMatchObject({
      "Read bucket": reads,
      "Order count": orders,
      Weight: weight,
      Timestamp: `${TIMESTAMP_OFF_MS_MAX / 1_000} seconds either way`,
      List: `${SIGNALS_LISTED_MAX} signals`,
    });
    for (const limit of [reads, orders, weight]) {
      expect(BOT_INTRODUCTION).toContain(limit.replaceAll(" in 10 seconds", " per 10 seconds"));
    }
  });

  function lineOf({ cells }: TableRow): string {
    return `| ${cells.Route} | ${cells.Key} | ${cells["Charged to"]} | ${cells.Writes} |`;
  }

  function rightLine({ method, path, strategyType, charge, writes }: BotRoute): string {
    const budget = { READ: "read bucket", SUBMISSION: "order count", WEIGHT: "weight" }[charge];
    return `| ${method} ${path} | ${strategyType?.toLowerCase() ?? "any"} | ${budget} | ${writes ? "yes" : "no"} |`;
  }
});

test("docs/signals.md says how often and how long the sweep tries", () => {
  const text = read("../signals.md");
  const seconds = (ms: number) => String(ms / 1_000);
  expect(SWEEP_MS).toBe(1_000);
  expect(text).toContain("Every second each server asks");
  expect(text).toContain(`at most ${CLAIMED_MAX} at a time`);
  expect(text).toContain(`claims them for ${seconds(CLAIM_MS)} seconds`);
  expect(text).toContain(`Its claim expires after ${seconds(CLAIM_MS)} seconds`);
  expect(text).toContain(`retried: ${seconds(RETRY_MS_MIN)} s, ${seconds(RETRY_MS_MIN * 2)} s`);
  expect(text).toContain(`at most ${seconds(RETRY_MS_MAX)} s apart`);
});

describe("docs/api/streams.md", () => {
  const codes = tableRows(streams, ["Code", "Where"]);

  test.each(STREAM_ERROR_CODES)("documents %s where it occurs", (code) => {
    const where = { both: "both", candles: "market", depth: "orderbook" }[STREAM_ERRORS[code].stream];
    const row = codes.find(({ cells }) => cells.Code === code);
    expect(row?.cells.Where).toBe(where);
    expect(row?.cells.When).not.toBe("");
  });

  test("documents no code that there is not", () => {
    expect(codes).toHaveLength(STREAM_ERROR_CODES.length);
  });

  test("documents every limit, and those of all clients in the words of the document that is served", () => {
    for (const line of LIMIT_TABLE.split("\n")) expect(streams).toContain(`${line}\n`);
    const values = tableRows(streams, ["Limit"]).map(({ cells }) => cells.Value ?? "");
    for (const value of [
      written(CONNECTIONS_MAX),
      `${written(NAMESPACE_STREAMS_MAX)}, of all clients together`,
      `${written(STREAMS_PER_ADDRESS_DEFAULT)}, or what the operator sets`,
      `${MESSAGE_BYTES_MAX / 1_024} KiB`,
      `after ${UNJOINED_MS_MAX / 1_000} seconds`,
      `${written(PACKETS_PER_MINUTE)} a minute`,
    ]) {
      expect(values.filter((text) => text.includes(value))).not.toEqual([]);
    }
    expect(KEPT_MESSAGES_MAX).toBe(20_000);
    expect(streams).toContain("twenty thousand messages of this kind");
  });

  test.each([
    ["marketData", MARKET_DATA.omit({ candle: true }).shape, MARKET_DATA.shape.candle.shape],
    ["orderBook", ORDER_BOOK.shape, {}],
  ])("documents the fields of %s", (heading, shape, candle) => {
    const rows = tableRows(streams, ["Field", "Type"]).filter((row) => row.heading === heading);
    const fields = [...Object.keys(shape), ...Object.keys(candle).map((name) => `candle.${name}`)];
    expect(namesIn(rows, "Field").sort()).toEqual(fields.sort());
  });

  test("documents what a subscription takes", () => {
    const rowsOf = (heading: string) =>
      tableRows(streams, ["Field", "Type", "Required"]).filter((row) => row.heading === heading);
    const boundOf = (rows: readonly TableRow[], field: string) =>
      rows.find(({ cells }) => cells.Field === field)?.cells.Bound?.replaceAll("`", "");
    const candles = rowsOf("Subscribing to candles");
    expect(namesIn(candles, "Field")).toEqual(["pair", "timeframe"]);
    expect(boundOf(candles, "timeframe")).toBe(TIMEFRAMES.join(", "));
    const books = rowsOf("Subscribing to an order book");
    expect(namesIn(books, "Field")).toEqual(Object.keys(DEPTH_SUBSCRIPTION.shape));
    expect(boundOf(books, "levels")).toBe(LEVELS.join(", "));
    expect(boundOf(books, "speed")).toBe(SPEEDS.join(", "));
    const { levels, speed } = DEPTH_SUBSCRIPTION.parse({ pair: "BTCUSDT" });
    expect(books.map(({ cells }) => cells.Default)).toEqual(["", String(levels), speed]);
  });

  test("documents the fields of a handshake", () => {
    const rows = tableRows(streams, ["Field of `auth`"]);
    expect(rows.map(({ cells }) => cells["Field of `auth`"])).toEqual(Object.keys(HANDSHAKE_AUTH.shape));
  });
});
