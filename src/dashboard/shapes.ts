// What the dashboard's server says to its browser, as JSON. The browser imports these types (types alone), so that both sides are
// checked as one. Amounts, prices, rates and quantities are exact decimal strings; times are Unix ms, wall time for what people
// and requests do, market time for what trading does.

export type * from "./shapes/copying.ts";
export type * from "./shapes/live.ts";
export type * from "./shapes/markets.ts";
export type * from "./shapes/operators.ts";
export type * from "./shapes/people.ts";
export type * from "./shapes/requests.ts";
export type * from "./shapes/strategies.ts";

/** Every refusal. `fields` says by field of the body what is wrong with it. */
export type ErrorShape = {
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
export type PageShape<Row> = { readonly rows: readonly Row[]; readonly next: string | null };
