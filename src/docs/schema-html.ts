// A schema as a reader sees it: a table of its fields, and the words for a type.
import { Html, html } from "./html.ts";
import { inline } from "./prose.ts";
import { type JsonSchema, nameOf } from "./schema-book.ts";

type Field = {
  /** `data.pairs[].symbol` of a field within others. */
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
};

/** The fields of an object, those of what stands within it among them; what is shared is only named. */
export function fieldTable(schema: JsonSchema): Html {
  const fields = fieldsOf(schema, "");
  if (fields.length === 0) return html`<p>${typeOf(schema)}</p>`;
  return html`<div class="wide"><table>
<thead><tr><th>Field</th><th>Type</th><th>Required</th><th>Meaning</th></tr></thead>
<tbody>${fields.map(
    ({ name, schema: field, isRequired }) =>
      html`<tr><td><code>${name}</code></td><td>${typeOf(field)}</td><td>${isRequired ? "yes" : "no"}</td><td>${meaningOf(field)}</td></tr>`,
  )}</tbody></table></div>`;
}

/** The type in words, with a link to a schema that is shared. */
export function typeOf(schema: JsonSchema): Html {
  const name = nameOf(schema);
  if (name !== null) return html`<a href="#schema-${name}">${name}</a>`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined) return joined(schema.enum.map(enumerated), ", ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return joined(choices.map(typeOf), " or ");
  // A draft that ignores what stands beside a reference wraps it.
  if (schema.allOf !== undefined) return joined(schema.allOf.map(typeOf), " and ");
  if (Array.isArray(schema.items)) return html`[${joined(schema.items.filter(isWritten).map(typeOf), ", ")}]`;
  const item = itemOf(schema);
  if (item !== null) return html`list of ${typeOf(item)}`;
  return html`${[schema.type ?? "anything"].flat().join(" or ")}${bounds(schema)}`;
}

function fieldsOf(schema: JsonSchema, prefix: string): readonly Field[] {
  const properties = Object.entries(schema.properties ?? {});
  return properties.flatMap(([name, property]) => {
    if (!isWritten(property)) return [];
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    const item = itemOf(property);
    const inner = item === null ? fieldsOf(property, `${path}.`) : fieldsOf(item, `${path}[].`);
    return [{ name: path, schema: property, isRequired }, ...inner];
  });
}

function meaningOf(schema: JsonSchema): Html {
  const description = schema.description ?? "";
  if (schema.default === undefined) return inline(description);
  return html`${inline(description)} Default: <code>${JSON.stringify(schema.default)}</code>.`;
}

function bounds({ minLength, maxLength, minimum, maximum, format, pattern }: JsonSchema): string {
  const words = [
    minLength === undefined ? "" : `at least ${minLength} long`,
    maxLength === undefined ? "" : `at most ${maxLength} long`,
    // The bounds that every safe integer has say nothing.
    minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? "" : `at least ${minimum}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? "" : `at most ${maximum}`,
    format ?? (pattern === undefined ? "" : `matching ${pattern}`),
  ].filter((word) => word !== "");
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

function itemOf({ items }: JsonSchema): JsonSchema | null {
  return typeof items === "object" && !Array.isArray(items) ? items : null;
}

function isWritten(schema: JsonSchema | boolean): schema is JsonSchema {
  return typeof schema === "object";
}

function enumerated(value: unknown): Html {
  return html`<code>${typeof value === "string" ? value : JSON.stringify(value)}</code>`;
}

function joined(pieces: readonly Html[], between: string): Html {
  return new Html(pieces.map(({ text }) => text).join(between));
}
