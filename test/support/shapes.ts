// What strictly typed clients ask of a body: every key that is promised, none besides, and each value of
// exactly its type. A shape says what is wrong with a value, and where; nothing wrong is an empty list.

export type Shape = (value: unknown, place?: string) => readonly string[];

export const text = leaf("a text", (value) => typeof value === "string" && value !== "");
export const flag = leaf("true or false", (value) => typeof value === "boolean");
/** A count, an id or a time. */
export const whole = leaf("an integer", (value) => Number.isSafeInteger(value));
/** An amount, a price or a rate: text, however many digits follow the point. */
export const decimal = leaf("a decimal text", (value) => /^-?[0-9]+(\.[0-9]+)?$/.test(textOf(value)));
/** As our own bodies have them: eight digits after the point. */
export const eightDecimals = leaf("a text of eight decimals", (value) =>
  /^[0-9]+\.[0-9]{8}$/.test(textOf(value)),
);
/** The same where it may be negative. */
export const signedEightDecimals = leaf("a text of eight decimals", (value) =>
  /^-?[0-9]+\.[0-9]{8}$/.test(textOf(value)),
);
export const uuid = leaf("a UUID", (value) =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(textOf(value)),
);

/** One of these values. */
export function oneOf(...values: readonly unknown[]): Shape {
  return leaf(`one of ${JSON.stringify(values)}`, (value) => values.includes(value));
}

/** An object with these keys and no others. */
export function exactly(fields: Readonly<Record<string, Shape>>): Shape {
  return (value, place = "body") => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return [`${place} is no object but ${JSON.stringify(value)}`];
    }
    const missing = Object.keys(fields).filter((key) => !(key in value));
    const extra = Object.keys(value).filter((key) => !(key in fields));
    return [
      ...missing.map((key) => `${place}.${key} is missing`),
      ...extra.map((key) => `${place}.${key} is not promised`),
      ...Object.entries(value).flatMap(([key, entry]) => fields[key]?.(entry, `${place}.${key}`) ?? []),
    ];
  };
}

/** A list of such entries that holds at least one, since an empty list would show nothing. */
export function listOf(shape: Shape): Shape {
  return (value, place = "body") => {
    if (!Array.isArray(value) || value.length === 0) {
      return [`${place} is no list with entries but ${JSON.stringify(value)}`];
    }
    return value.flatMap((entry, index) => shape(entry, `${place}[${index}]`));
  };
}

/** A list of entries in a fixed order, each of its own shape. */
export function rowOf(...shapes: readonly Shape[]): Shape {
  return (value, place = "body") => {
    if (!Array.isArray(value) || value.length !== shapes.length) {
      return [`${place} has not ${shapes.length} entries: ${JSON.stringify(value)}`];
    }
    return shapes.flatMap((shape, index) => shape(value[index], `${place}[${index}]`));
  };
}

/** An object whose `key` says which of these shapes it has. */
export function byKind(key: string, kinds: Readonly<Record<string, Readonly<Record<string, Shape>>>>): Shape {
  return (value, place = "body") => {
    const kind = (value as Readonly<Record<string, unknown>> | null)?.[key];
    const fields = kinds[String(kind)];
    if (fields === undefined) return [`${place}.${key} is unknown: ${JSON.stringify(kind)}`];
    return exactly({ [key]: text, ...fields })(value, place);
  };
}

function leaf(what: string, holds: (value: unknown) => boolean): Shape {
  return (value, place = "body") =>
    holds(value) ? [] : [`${place} is not ${what} but ${JSON.stringify(value)}`];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
