// The schemas that a document shares: those it has a name for are written once, under that name, and referred
// to wherever they are used; all others stand where they are used.
import { z } from "zod";

/** A JSON Schema. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** Which draft a document writes: OpenAPI 3.1 the one of 2020-12, AsyncAPI 3.0 the seventh. */
type Draft = "draft-2020-12" | "draft-7";

/** Where a document keeps what it shares. */
export const HOME = "#/components/schemas/";

export class SchemaBook {
  readonly #named = new Map<string, JsonSchema>();
  readonly #draft: Draft;
  readonly #names: Names;
  readonly #words: ReadonlyMap<z.core.$ZodType, JsonSchema>;

  /**
   * A book with names for these schemas, besides those that have an id of their own, and with keywords that
   * take the place of those of a schema; one that is a reference there is nothing else.
   */
  constructor(
    draft: Draft,
    names: Readonly<Record<string, z.ZodType>>,
    words: ReadonlyMap<z.core.$ZodType, JsonSchema> = new Map(),
  ) {
    this.#draft = draft;
    this.#words = words;
    this.#names = new Names(new Map(Object.entries(names).map(([name, schema]) => [schema, name])));
  }

  /**
   * The schema as a document writes it: what is sent over the wire, before it is checked. Throws if a name
   * means two things.
   */
  write(schema: z.ZodType): JsonSchema {
    const {
      $schema,
      $defs = {},
      definitions = {},
      ...written
    } = z.toJSONSchema(schema, {
      io: "input",
      target: this.#draft,
      metadata: this.#names,
      // What may not be changed in our code is not what a document means by the word.
      override: ({ zodSchema, jsonSchema }) => {
        delete jsonSchema.readOnly;
        const words = this.#words.get(zodSchema);
        if (words === undefined) return;
        if (words.$ref !== undefined)
          for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
        Object.assign(jsonSchema, words);
      },
    });
    for (const [name, definition] of Object.entries({ ...$defs, ...(definitions as typeof $defs) })) {
      this.#keep(name, moved(definition));
    }
    return moved(written);
  }

  /** Everything that has been referred to so far, by name. */
  named(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#named].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #keep(name: string, definition: JsonSchema): void {
    const known = this.#named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
      throw new Error(`a name belongs to one schema: ${name}`);
    }
    this.#named.set(name, definition);
  }
}

/** What the schemas say of themselves, and the names that a document has for some. */
class Names extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  readonly #names: ReadonlyMap<z.core.$ZodType, string>;

  constructor(names: ReadonlyMap<z.core.$ZodType, string>) {
    super();
    this.#names = names;
  }

  override get<Schema extends z.core.$ZodType>(schema: Schema) {
    const said = z.globalRegistry.get(schema);
    const id = this.#names.get(schema);
    return id === undefined ? said : { ...said, id };
  }
}

/** The same with its references led to where a document keeps what is shared. */
function moved(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) =>
    name === "$ref" && typeof value === "string" ? value.replace(/^#\/(\$defs|definitions)\//, HOME) : value,
  );
}
