// The client's dependencies on the machine. A program uses the defaults; a test passes its own.

/** Takes a callback back; harmless once it has run. */
export type Cancel = () => void;

export type Timers = {
  /** Calls back once, after `delayMs`. */
  after(delayMs: number, callback: () => void): Cancel;
};

/** As much of `fetch` as is used. */
export type Fetch = (
  url: string,
  request: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: "error";
    readonly signal: AbortSignal;
  },
) => Promise<FetchedAnswer>;

export type FetchedAnswer = {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
};

export type Environment = {
  /** This machine's wall clock, Unix ms. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly timers: Timers;
  readonly fetch: Fetch;
};

const systemTimers: Timers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The given dependencies, and the machine's own for the rest. */
export function environmentOf(own: { readonly [Part in keyof Environment]?: Environment[Part] | undefined }) {
  return {
    now: own.now ?? (() => Date.now()),
    random: own.random ?? Math.random,
    timers: own.timers ?? systemTimers,
    fetch: own.fetch ?? ((url, request) => globalThis.fetch(url, request)),
  } satisfies Environment;
}
