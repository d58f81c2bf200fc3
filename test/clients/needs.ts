// The type that clients of typed languages need of each field of a body, and the check of a body. These
// clients cannot run here, and one field of another type fails their whole call. A listed field must be
// present.
import type { Told } from "./client.ts";

/** What a value has to be. */
const KINDS = {
  id: (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0,
  count: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  /** Unix ms of this century: never 0, never microseconds. */
  time: (value: unknown) => Number.isSafeInteger(value) && Number(value) > 1e12 && Number(value) < 1e13,
  /** −1 while there is no such time yet. */
  timeOrNone: (value: unknown) => value === -1 || KINDS.time(value),
  minusOne: (value: unknown) => value === -1,
  zero: (value: unknown) => value === 0,
  code: (value: unknown) => Number.isSafeInteger(value) && Number(value) < 0,
  /** A number of JSON, as only brackets have them. */
  number: (value: unknown) => typeof value === "number",
  decimal: (value: unknown) => typeof value === "string" && /^\d+(\.\d+)?$/.test(value),
  signedDecimal: (value: unknown) => typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value),
  text: (value: unknown) => typeof value === "string" && value !== "",
  textOrEmpty: (value: unknown) => typeof value === "string",
  textOrNull: (value: unknown) => value === null || typeof value === "string",
  flag: (value: unknown) => typeof value === "boolean",
  yes: (value: unknown) => value === true,
  texts: (value: unknown) => Array.isArray(value) && value.every((entry) => typeof entry === "string"),
  list: (value: unknown) => Array.isArray(value),
  canceled: (value: unknown) => value === "CANCELED",
  trading: (value: unknown) => value === "TRADING",
  perpetual: (value: unknown) => value === "PERPETUAL",
  spotOnly: (value: unknown) => JSON.stringify(value) === '[["SPOT"]]',
  oneWay: (value: unknown) => value === "BOTH",
  success: (value: unknown) => value === 200,
  successText: (value: unknown) => value === "200",
} as const;

/** Field → kind. A dot leads into an object, `filters.NAME` to the filter of that name. */
export type Shape = Readonly<Record<string, keyof typeof KINDS>>;

/** The shape of fields that are listed by their kinds: names apart by blanks. */
export function fields(byKind: Readonly<Partial<Record<keyof typeof KINDS, string>>>): Shape {
  const entries = Object.entries(byKind) as [keyof typeof KINDS, string][];
  return Object.fromEntries(
    entries.flatMap(([kind, names]) => names.match(/\S+/g)?.map((name) => [name, kind]) ?? []),
  );
}

/** Body → client → what it reads there. */
export type Needs = Readonly<Record<string, Readonly<Record<string, Shape>>>>;

/** Every client of every body, for a table of tests. */
export function rowsOf(needs: Needs) {
  return Object.entries(needs).flatMap(([body, clients]) =>
    Object.entries(clients).map(([client, shape]) => ({ body, client, shape })),
  );
}

/** What of a body is not as a client needs it. */
export function faultsOf(told: Told, shape: Shape): readonly string[] {
  return Object.entries(shape)
    .filter(([path, kind]) => !KINDS[kind](at(told, path)))
    .map(([path, kind]) => `${path} is not ${kind}: ${JSON.stringify(at(told, path))}`);
}

/** Where a path leads in a body. */
function at(body: Told, path: string): unknown {
  return path.split(".").reduce((value, name) => {
    if (!Array.isArray(value)) return value?.[name];
    return value.find(({ filterType }) => filterType === name);
  }, body);
}
