// The types of what the dashboard's server answers, as JSON. The browser imports them (types alone), so that
// both sides are checked as one. Times are Unix ms: wall time for what people and requests do, market time
// for what trading does.

export type * from "./schemas/copies.ts";
export type * from "./schemas/copying.ts";
export type * from "./schemas/live.ts";
export type * from "./schemas/markets.ts";
export type * from "./schemas/operators.ts";
export type * from "./schemas/people.ts";
export type * from "./schemas/requests.ts";
export type * from "./schemas/strategies.ts";
export type * from "./schemas/trading.ts";

/** Every error. `fields` says by field of the body what is wrong with it. */
export type ErrorJson = {
  readonly error: {
    readonly code: string;
    /** A plain sentence. */
    readonly message: string;
    /** What to do about it. */
    readonly action?: string;
    readonly fields?: Readonly<Record<string, string>>;
    readonly retryAfterSeconds?: number;
  };
};

/** A part of a list, and what to ask for to go on; null at its end. */
export type PageJson<Row> = { readonly rows: readonly Row[]; readonly next: string | null };
