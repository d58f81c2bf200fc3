// The fields of a message from the wire, not validated yet.

export type Fields = { readonly [field: string]: unknown };

/** The fields of a value; none if it is no object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The fields of JSON text; none if it is no JSON, or no object. */
export function readFields(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}
