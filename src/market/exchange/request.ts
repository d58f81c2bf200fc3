/** Parsing of a request, and the exchange's errors for malformed ones (reference sections 2 and 16.1). */

/** Thrown by the readers below and by answers, caught once by the REST server; `message` goes on the wire. */
export class RequestFault extends Error {
  readonly code: number;
  readonly status: number;

  constructor(code: number, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export type TimeRange = { readonly startTime: number | undefined; readonly endTime: number | undefined };

export type Params = ReadonlyMap<string, string>;

/** The parameters of a query string; the same name twice is a fault. */
export function readParams(query: string): Params {
  const params = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (params.has(name)) throw new RequestFault(-1101, "Duplicate values for a parameter detected.");
    params.set(name, value);
  }
  return params;
}

export function mandatory(params: Params, name: string): string {
  const value = params.get(name);
  if (!value) throw malformed(name);
  return value;
}

/** A whole number that is not negative; undefined when it was not sent. */
export function wholeNumber(params: Params, name: string): number | undefined {
  const text = params.get(name);
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,16}$/.test(text)) {
    throw new RequestFault(
      -1100,
      `Illegal characters found in parameter '${name}'; legal range is '^[0-9]{1,20}$'.`,
    );
  }
  return Number(text);
}

/** Clamped to its maximum, as spot does. */
export function clampedLimit(params: Params, usual: number, max: number): number {
  const limit = wholeNumber(params, "limit") ?? usual;
  if (limit === 0) throw malformed("limit");
  return Math.min(limit, max);
}

/** Refused above its maximum, as futures do. */
export function strictLimit(params: Params, usual: number, max: number): number {
  const limit = wholeNumber(params, "limit") ?? usual;
  if (limit === 0 || limit > max)
    throw new RequestFault(-1130, "Data sent for parameter 'limit' is not valid.");
  return limit;
}

export function malformed(name: string): RequestFault {
  return new RequestFault(-1102, `Mandatory parameter '${name}' was not sent, was empty/null, or malformed.`);
}

/** The requested time range, inclusive. */
export function readTimes(params: Params): TimeRange {
  return { startTime: wholeNumber(params, "startTime"), endTime: wholeNumber(params, "endTime") };
}

/** Refused where it ends before it starts, as futures do. */
export function strictTimes(params: Params): TimeRange {
  const times = readTimes(params);
  if ((times.startTime ?? 0) > (times.endTime ?? Infinity)) {
    throw new RequestFault(-1023, "Start time is greater than end time.");
  }
  return times;
}

export function unknownSymbol(): RequestFault {
  return new RequestFault(-1121, "Invalid symbol.");
}

/** A JSON list of symbols as spot's `symbols` parameter carries it. */
export function readSymbolList(text: string): readonly string[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw new RequestFault(-1135, "JSON sent for parameter 'symbols' is not valid");
  }
  if (!Array.isArray(list) || list.length === 0 || !list.every((item) => typeof item === "string")) {
    throw new RequestFault(-1135, "JSON sent for parameter 'symbols' is not valid");
  }
  const symbols = list.map(String);
  if (new Set(symbols).size < symbols.length) {
    throw new RequestFault(-1151, "Symbol is present multiple times in the list.");
  }
  return symbols;
}
