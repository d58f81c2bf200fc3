// Derives a JSON Schema from an example. A field whose value is null gets no type.
import type { JsonSchema } from "./schema-book.ts";

/** The names of fields that may be absent, and of those that may be null where the example has a value. */
type FieldRules = { readonly optional: ReadonlySet<string>; readonly nullable: ReadonlySet<string> };
const NULL: JsonSchema = { type: "null" };
const NO_RULES: FieldRules = { optional: new Set(), nullable: new Set() };

/** The schema of a value. */
export function schemaOfExample(value: unknown, rules: FieldRules = NO_RULES): JsonSchema {
  const { optional, nullable } = rules;
  const schemaOf = (inner: unknown) => schemaOfExample(inner, rules);
  if (value === null) return {};
  if (Array.isArray(value)) {
    const items = value.map(schemaOf);
    if (items.every(isObject)) return { type: "array", items: items.reduce(joined, {}) };
    const isUniform = items.every((item) => item.type === items[0]?.type);
    // A row of fixed places, as a candle is.
    return isUniform ? { type: "array", items: items[0] ?? {} } : { type: "array", prefixItems: items };
  }
  if (typeof value === "object") {
    const properties = Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        nullable.has(name) ? { anyOf: [schemaOf(inner), NULL] } : schemaOf(inner),
      ]),
    );
    return { type: "object", properties, required: Object.keys(value).filter((name) => !optional.has(name)) };
  }
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "number" };
  return { type: typeof value === "boolean" ? "boolean" : "string" };
}

/** The schema of objects of two kinds in one list, as filters are: what both have is required. */
function joined(one: JsonSchema, other: JsonSchema): JsonSchema {
  if (one.properties === undefined) return other;
  return {
    type: "object",
    properties: { ...one.properties, ...other.properties },
    required: (one.required ?? []).filter((name) => other.required?.includes(name)),
  };
}

function isObject({ type }: JsonSchema): boolean {
  return type === "object";
}
