// The tables of docs/api/ against the program: every route and every refusal is there as it is, and nothing
// else. What fails shows the row that would be right, up to the words of its last cell.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { introduction } from "../../src/api-docs/introduction.ts";
import type { Refusal } from "../../src/domain/refusal.ts";
import type { Parameters } from "../../src/http/parameters.ts";
import type { Descriptions, ParameterDescription } from "../../src/http/parse/descriptions.ts";
import { CONTRACT_FILTERS, REFUSALS, wireError } from "../../src/http/refusals.ts";
import { type Route, SIGNING_PARAMETERS } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/server.ts";
import { WEIGHT_PER_MINUTE } from "../../src/rate-limits/budgets.ts";
import { type TableRow, tableRows } from "../support/tables.ts";

const DOCUMENTS = resolve(import.meta.dirname, "../../docs/api");

function rowsOfTables(...firstColumns: string[]): TableRow[] {
  const documents = readdirSync(DOCUMENTS).filter((name) => name.endsWith(".md"));
  return documents.flatMap((name) => tableRows(readFileSync(join(DOCUMENTS, name), "utf8"), firstColumns));
}

describe("the tables of routes", () => {
  const rows = rowsOfTables("Method", "Path");
  const documented = new Map(rows.map((row) => [nameOf(row), row]));

  test.each(ROUTES.map((route) => [`${route.method} ${route.paths[0]}`, route] as const))(
    "%s is documented as it is",
    (name, route) => {
      const row = documented.get(name);
      expect(row === undefined ? `${name} is not in the tables` : lineOf(row)).toBe(
        rightLine(route, row?.cells.Weight ?? ""),
      );
    },
  );

  test("hold no route that there is not, and none twice", () => {
    const names = ROUTES.map(({ method, paths }) => `${method} ${paths[0]}`);
    expect(rows.map(nameOf).sort()).toEqual(names.sort());
  });
});

describe("the tables of parameters", () => {
  const rows = rowsOfTables("Parameter", "Type");
  const described = new Map<string, Descriptions>([
    ["Requests", SIGNING_PARAMETERS],
    ...ROUTES.flatMap(({ method, paths, parameters }) =>
      paths.map((path) => [`${method} ${path}`, parameters] as const),
    ),
  ]);

  test("are under the name of a route, or of all", () => {
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ heading }) => !described.has(heading))).toEqual([]);
  });

  test.each([...new Set(rows.map(({ heading }) => heading))])(
    "that of %s is what the row says",
    (heading) => {
      const right = parameterTable(described.get(heading) ?? {});
      expect(rows.filter((row) => row.heading === heading)).toEqual(
        tableRows(`# ${heading}\n${right}`, ["Parameter", "Type"]),
      );
    },
  );
});

test("the limits of the document that is served are those of the program", () => {
  const text = introduction("https://lyrebird.example").replaceAll("\n", " ");
  expect(text).toContain(`A weight of ${WEIGHT_PER_MINUTE.toLocaleString("en-US")} a minute`);
});

describe("the table of refusals", () => {
  const rows = rowsOfTables("Refusal", "HTTP");
  const documented = new Map(rows.map((row) => [row.cells.Refusal, row]));

  test.each(Object.keys(REFUSALS))("%s is documented as it is", (name) => {
    const row = documented.get(name);
    const { Refusal, HTTP, Code, Text } = row?.cells ?? {};
    const { status, code, msg } = wireError(specimen(name));
    expect(
      row === undefined ? `${name} is not in the table` : `| \`${Refusal}\` | ${HTTP} | ${Code} | ${Text} |`,
    ).toBe(`| \`${name}\` | ${status} | ${code} | ${msg} |`);
  });

  test("holds no refusal that there is not, and none twice", () => {
    expect(rows.map(({ cells }) => cells.Refusal).sort()).toEqual(Object.keys(REFUSALS).sort());
  });

  test("says of each when it is given", () => {
    expect(rows.filter(({ cells }) => cells.When === "")).toEqual([]);
  });
});

describe("the table of contract filters", () => {
  const rows = rowsOfTables("Filter", "Fault");
  const right = Object.entries(CONTRACT_FILTERS).flatMap(([filter, faults]) =>
    Object.entries(faults).map(([fault, { code, msg }]) => `| ${filter} | ${fault} | ${code} | ${msg} |`),
  );

  test("holds every fault of every filter as it is, and nothing else", () => {
    const documented = rows.map(
      ({ cells }) => `| ${cells.Filter} | ${cells.Fault} | ${cells.Code} | ${cells.Text} |`,
    );
    expect(right.length).toBeGreaterThan(0);
    expect(documented.sort()).toEqual(right.sort());
  });

  test("its answers are all 400", () => {
    const statuses = Object.values(CONTRACT_FILTERS).flatMap((faults) =>
      Object.values(faults).map(({ status }) => status),
    );
    expect(new Set(statuses)).toEqual(new Set([400]));
  });
});

const TYPES: { readonly [T in ParameterDescription["type"]]?: string } = { list: "JSON list of text" };

/** The table of parameters that would be right; those that are ignored are not in it. */
function parameterTable(descriptions: Descriptions): string {
  const lines = Object.entries(descriptions)
    .filter(([, { isIgnored }]) => isIgnored !== true)
    .map(([name, { type, required, default: standard = "", values = [], ...rest }]) => {
      const isRequired = typeof required === "string" ? required : required ? "yes" : "no";
      const shown = values.includes(standard) || type === "flag" ? quoted(standard) : standard;
      const bound = [values.map(quoted).join(", "), rangeOf(rest), rest.description.replace(/\.$/, "")];
      return `| ${quoted(name)} | ${TYPES[type] ?? type} | ${isRequired} | ${shown} | ${bound.filter((part) => part !== "").join(". ")} |`;
    });
  return ["| Parameter | Type | Required | Default | Bound |", "|---|---|---|---|---|", ...lines].join("\n");
}

function quoted(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

function rangeOf({ min, max }: Pick<ParameterDescription, "min" | "max">): string {
  if (min === undefined) return "";
  return max === undefined ? `At least ${min}` : `${min} to ${max}`;
}

/** `GET /api/v3/time` of a row that may have more paths than one. */
function nameOf({ cells }: TableRow): string {
  return `${cells.Method} ${cells.Path?.split("`, `")[0]?.replaceAll("`", "")}`;
}

function lineOf({ cells }: TableRow): string {
  const paths = cells.Path?.replaceAll("`", "");
  return `| ${cells.Method} | ${paths} | ${cells.Access} | ${cells.Weight} | ${cells.Orders} | ${cells.Writes} |`;
}

function rightLine(route: Route, weightCell: string): string {
  const orders = route.access === "signed" && route.placesOrder ? 1 : 0;
  const writes = route.access !== "public" && route.writes ? "yes" : "no";
  const weights = rightWeights(route, weightCell);
  return `| ${route.method} | ${route.paths.join(", ")} | ${accessOf(route)} | ${weights} | ${orders} | ${writes} |`;
}

function accessOf(route: Route): string {
  if (route.access === "public") return "public";
  return route.strategyType === null ? "any key" : `${route.strategyType.toLowerCase()} key`;
}

/** Parameters on either side of every bound that a weight may have. */
const PROBES = [
  "none",
  "`symbol=BTCUSDT`",
  ...[1, 20, 21, 100, 101].map((count) => `${count} symbols`),
  ...[1, 50, 51, 99, 100, 101, 499, 500, 501, 1000, 1001, 1500, 5000].map((limit) => `\`limit=${limit}\``),
];

/** What the cell documents, each weight as it is; and after it what it leaves out. */
function rightWeights({ weight }: Route, cell: string): string {
  const examples = cell
    .split(/,\s+(?=\d+ \()/)
    .map((entry) => /^\d+ \((.*)\)$/.exec(entry)?.[1] ?? null)
    .map((example) => ({ example, weight: weight(parametersOf(example ?? "none")) }));
  const known = new Set(examples.map((example) => example.weight));
  const leftOut = PROBES.map((example) => ({ example, weight: weight(parametersOf(example)) })).filter(
    (probe) => !known.has(probe.weight),
  );
  return [...examples, ...leftOut]
    .map(({ example, weight }) => (example === null ? String(weight) : `${weight} (${example})`))
    .join(", ");
}

/** `none`, `21 symbols`, or a query in backticks. */
function parametersOf(example: string): Parameters {
  if (example === "none") return new Map();
  const [, count] = /^(\d+) symbols$/.exec(example) ?? [];
  if (count !== undefined) {
    const symbols = Array.from({ length: Number(count) }, (_none, index) => `S${index}USDT`);
    return new Map([["symbols", JSON.stringify(symbols)]]);
  }
  if (!/^`[^`]+`$/.test(example))
    throw new Error(`parameters are none, a number of symbols or a query: ${example}`);
  return new Map(new URLSearchParams(example.slice(1, -1)));
}

/**
 * A refusal whose every part is the part's name in braces, as the table writes it; an order type has words of
 * its own.
 */
function specimen(refusal: string): Refusal {
  const parts: Readonly<Record<string, unknown>> = {
    refusal,
    parameters: ["{one}", "{other}"],
    orderType: "LIMIT",
    // A filter and a fault that have a row of their own; an amount is written as it is on the wire.
    ...(refusal === "CONTRACT_FILTER_FAILED" ? { filter: "PRICE_FILTER", fault: "TOO_LOW" } : {}),
    minNotional: 5_000_000_000n,
  };
  return new Proxy({}, { get: (_none, name) => parts[String(name)] ?? `{${String(name)}}` }) as Refusal;
}
