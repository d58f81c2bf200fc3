// The descriptions of a row's parameters, of which the API reference and the tables of docs/api/ are made.
// The functions beside the descriptions read the parameters; tests check that the two agree.

/** How a value is written; docs/api/README.md explains the types. */
export type ParameterType = "text" | "list" | "decimal" | "id" | "time" | "count" | "flag";

export type ParameterDescription = {
  readonly type: ParameterType;
  /** Whether a request without it is refused; a text says when. */
  readonly required: boolean | string;
  /** A sentence or two in Markdown; empty where `values` say everything. */
  readonly description: string;
  /** The default value of the parameter, or what its absence means. */
  readonly default?: string;
  /** The only values that are accepted. */
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** Of a mandatory parameter: a value that is accepted. */
  readonly example?: string;
  /** Clients send it of their own accord, and no reader reads it. */
  readonly isIgnored?: true;
};

export type Descriptions<Name extends string = string> = Readonly<Record<Name, ParameterDescription>>;

type More = Omit<ParameterDescription, "type" | "required" | "description">;

/** A parameter without which a request is refused (-1102). */
export function mandatory(
  type: ParameterType,
  description: string,
  more: More & { readonly example: string },
): ParameterDescription {
  return { type, required: true, description, ...more };
}

/** A parameter that some requests need; `when` says which. */
export function conditional(
  type: ParameterType,
  when: string,
  description: string,
  more: More = {},
): ParameterDescription {
  return { type, required: when, description, ...more };
}

export function optional(type: ParameterType, description: string, more: More = {}): ParameterDescription {
  return { type, required: false, description, ...more };
}

export const IGNORED: ParameterDescription = {
  ...optional("text", "Ignored: some clients send it of their own accord."),
  isIgnored: true,
};

export const SYMBOL = mandatory("text", "A listed symbol.", { example: "BTCUSDT" });
export const SYMBOL_OR_ALL = optional("text", "A listed symbol.", { default: "all" });
/** The symbol of a list of the account's rows, which may have been delisted since. */
export const SYMBOL_OF_ROWS = {
  ...SYMBOL,
  description: "A listed symbol, or one for which there are rows.",
};
export const SYMBOL_OF_ROWS_OR_ALL = { ...SYMBOL_OR_ALL, description: SYMBOL_OF_ROWS.description };

export const START_TIME = optional("time", "Inclusive.");
export const END_TIME = optional("time", "Inclusive.");

/** Two ids of which one is needed; `withBoth` says how a request with both is handled. */
export function soughtIds<Id extends string, ClientId extends string>(
  id: Id,
  clientId: ClientId,
  withBoth: string,
): Descriptions<Id | ClientId> {
  return {
    [id]: conditional("id", `without \`${clientId}\``, withBoth),
    [clientId]: conditional("text", `without \`${id}\``, "The id that the client chose."),
  } as Descriptions<Id | ClientId>;
}
