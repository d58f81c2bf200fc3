// Derives a JSON Schema from an example. A field whose value is null gets no type.
import type { JsonSchema } from "./schema-book.ts";

/** The schema of a value; the fields that `optional` names may be absent. */
export function schemaOfExample(value: unknown, optional: ReadonlySet<string> = new Set()): JsonSchema {
  const schemaOf = (inner: unknown) => schemaOfExample(inner, optional);
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
      Object.entries(value).map(([name, inner]) => [name, schemaOf(inner)]),
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
