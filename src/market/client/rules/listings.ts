// The exchange's listings: the body of `exchangeInfo` and the rules of each symbol. The whole is loaded at
// start and every half hour. Rules older than `rulesAgeMsMax` are loaded again when they are needed, those of
// subscribed symbols earlier, by a sweep. Where upstream takes no symbol names, each load is the whole again,
// shared by all callers. Without an answer the last known rules stay valid. A delisted symbol has no rules.
// Known limit: a new symbol is unknown until the next whole refresh; requests for unknown names would let any
// client spend the upstream budget.
import { createKeyBatcher } from "../../../concurrency/batcher.ts";
import type { Clock } from "../../../concurrency/time.ts";
import type { SymbolRules } from "../../../domain/symbol.ts";
import type { Log } from "../log.ts";
import { bodyOf, faultOf, type Rest, type UpstreamAnswer } from "../rest/rest.ts";
import type { MarketProtocol } from "../streams/protocol.ts";
import type { JsonObject } from "./rules-row.ts";

/** Source: design, section 4 (rules of traded symbols are at most 60 seconds old). */
export const rulesAgeMsMax = 60_000;
/** The sweep asks again at this age, so that two attempts fit in before an order would have to wait. */
const rulesRefreshAgeMs = 30_000;
const rulesRetryMs = 5_000;
const wholeRefreshMs = 30 * 60_000;
const wholeRetryMs = 60_000;
/** A whole body is up to 17 MB. */
const wholeDeadlineMs = 30_000;
const rowsDeadlineMs = 3_000;
const questionsAtATimeMax = 2;
const symbolsMax = 20_000;
/** Interval of the log entries about old rules. */
const oldRulesLogIntervalMs = 60_000;
const faultsRememberedMax = 1_000;

/** An `exchangeInfo` body as received, its rows by symbol in the order of the exchange. */
export type ExchangeInfoBody = {
  /** Everything but `symbols`. */
  readonly head: JsonObject;
  readonly symbols: ReadonlyMap<string, JsonObject>;
  /** Rises when a row is changed, comes or goes, so that what was made of the rows can be kept until then. */
  readonly version: number;
};

type Listed = { readonly rules: SymbolRules; readonly askedAt: number };
type Body = { head: JsonObject; symbols: Map<string, JsonObject>; version: number };

export type ListingsOptions = {
  readonly protocol: MarketProtocol;
  readonly rest: Rest;
  readonly wallClock: Clock;
  readonly log: Log;
};

export function createListings({ protocol, rest, wallClock, log }: ListingsOptions) {
  const { exchangeInfoPath: path, exchangeInfoSymbolsMax: namedMax } = protocol;
  const listed = new Map<string, Listed>();
  const retryAt = new Map<string, number>();
  const faulty = new Set<string>();
  const body: Body = { head: {}, symbols: new Map(), version: 0 };
  /** Number of contracts without brackets when that was last logged. */
  let withoutBrackets = 0;
  /** Infinity before the start and while the whole is being loaded. */
  let wholeDueAt = Number.POSITIVE_INFINITY;
  let oldRulesLoggedAt = Number.NEGATIVE_INFINITY;

  const refresh =
    namedMax === 0
      ? createKeyBatcher(askAll, { keysMax: symbolsMax, concurrentMax: 1 })
      : createKeyBatcher(askRows, { keysMax: namedMax, concurrentMax: questionsAtATimeMax });

  async function load(): Promise<void> {
    const fault = await askWhole();
    if (fault !== null) {
      throw new Error(
        `The market data cannot be had: ${fault}. Check the network and the UPSTREAM_… addresses, or start with --market sim.`,
      );
    }
    wholeDueAt = wallClock.now() + wholeRefreshMs;
  }

  async function refreshWhole(): Promise<void> {
    wholeDueAt = Number.POSITIVE_INFINITY;
    const fault = await askWhole();
    if (fault !== null)
      log.warn({ fault }, "exchangeInfo could not be refreshed; the last known rules stand");
    wholeDueAt = wallClock.now() + (fault === null ? wholeRefreshMs : wholeRetryMs);
  }

  /** Null when it is in, or else why not. */
  async function askWhole(): Promise<string | null> {
    const askedAt = wallClock.now();
    const answer = await rest.ask(path, "", wholeDeadlineMs);
    const parts = partsOf(bodyOf(answer));
    if (parts === null) return `${path}: ${faultOf(answer)}`;
    // An exchange does not lose all its symbols at once; something in front of it does.
    if (parts.rows.length === 0 && body.symbols.size > 0) return `${path} lists no symbols any more`;
    if (parts.rows.length > symbolsMax)
      log.error({ path, symbolsMax }, "exchangeInfo lists too many symbols; the rest is left out");
    body.head = parts.head;
    const symbols = new Map(parts.rows.slice(0, symbolsMax).map((row) => [String(row.symbol), row]));
    if (!isSameJson([...body.symbols.values()], [...symbols.values()])) {
      body.symbols = symbols;
      body.version += 1;
    }
    for (const symbol of listed.keys()) if (!body.symbols.has(symbol)) listed.delete(symbol);
    const leftOut = [...body.symbols.values()].filter((row) => take(row, askedAt) === "NO_BRACKETS");
    reportWithoutBrackets(leftOut);
    retryAt.clear();
    return null;
  }

  function reportWithoutBrackets(rows: readonly JsonObject[]): void {
    if (rows.length > 0 && rows.length !== withoutBrackets) {
      log.warn(
        { symbols: rows.length, first: rows[0]?.symbol },
        "contracts without leverage brackets are left out: LEVERAGE_BRACKETS can name a file that has them",
      );
    }
    withoutBrackets = rows.length;
  }

  /** A concurrent caller finds the rules fresh afterwards. */
  async function askAll(symbols: readonly string[]): Promise<void> {
    const now = wallClock.now();
    if (symbols.every((symbol) => ageOf(symbol, now) < rulesRefreshAgeMs)) return;
    if ((await askWhole()) !== null) for (const symbol of symbols) retryLater(symbol);
  }

  /** Age of the rules, ms; 0 for a symbol without rules. */
  function ageOf(symbol: string, now: number): number {
    return now - (listed.get(symbol)?.askedAt ?? now);
  }

  /** One name that is no longer listed makes the exchange refuse a whole question; halving finds it. */
  async function askRows(symbols: readonly string[]): Promise<void> {
    const [first] = symbols;
    if (first === undefined) return;
    const askedAt = wallClock.now();
    const search =
      symbols.length === 1
        ? `symbol=${encodeURIComponent(first)}`
        : `symbols=${encodeURIComponent(JSON.stringify(symbols))}`;
    const answer = await rest.ask(path, search, rowsDeadlineMs);
    const parts = partsOf(bodyOf(answer));
    if (parts !== null) {
      takeRows(parts.rows, askedAt);
      for (const symbol of symbols) {
        if ((listed.get(symbol)?.askedAt ?? askedAt) >= askedAt) retryAt.delete(symbol);
        else retryLater(symbol);
      }
    } else if (isUnknownSymbol(answer)) {
      const middle = Math.floor(symbols.length / 2);
      if (middle === 0) drop(first);
      else await Promise.all([askRows(symbols.slice(0, middle)), askRows(symbols.slice(middle))]);
    } else {
      for (const symbol of symbols) retryLater(symbol);
    }
  }

  function retryLater(symbol: string): void {
    retryAt.set(symbol, wallClock.now() + rulesRetryMs);
  }

  /** Rules in use that are older than `rulesAgeMsMax` because upstream does not return newer ones. */
  function reportOldRules(old: readonly string[], now: number): void {
    if (old.length === 0 || now - oldRulesLoggedAt < oldRulesLogIntervalMs) return;
    oldRulesLoggedAt = now;
    log.warn(
      { symbols: old.length, first: old[0], rulesAgeMsMax },
      "rules could not be refreshed; the last known ones stand",
    );
  }

  function takeRows(rows: readonly JsonObject[], askedAt: number): void {
    let isChanged = false;
    for (const row of rows) {
      const symbol = String(row.symbol);
      isChanged ||= !isSameJson(body.symbols.get(symbol), row);
      body.symbols.set(symbol, row);
      take(row, askedAt);
    }
    if (isChanged) body.version += 1;
  }

  function drop(symbol: string): void {
    listed.delete(symbol);
    retryAt.delete(symbol);
    body.symbols.delete(symbol);
    body.version += 1;
  }

  /** Answers why there are no rules, null if there are. */
  function take(row: JsonObject, askedAt: number): "FAULTY" | "OTHER_MARKET" | "NO_BRACKETS" | null {
    const parsed = protocol.readRules(row);
    if ("rules" in parsed) {
      const known = listed.get(parsed.rules.symbol);
      if (known === undefined || known.askedAt <= askedAt)
        listed.set(parsed.rules.symbol, { rules: parsed.rules, askedAt });
      return null;
    }
    const symbol = String(row.symbol);
    listed.delete(symbol);
    if ("leftOut" in parsed) return parsed.leftOut;
    reportFault(symbol, parsed.fault);
    return "FAULTY";
  }

  function reportFault(symbol: string, fault: string): void {
    if (faulty.has(symbol) || faulty.size >= faultsRememberedMax) return;
    faulty.add(symbol);
    log.warn({ symbol, fault }, "a symbol of exchangeInfo cannot be understood and is left out");
  }

  function isFresh(symbol: string, now: number): boolean {
    if (ageOf(symbol, now) < rulesAgeMsMax) return true;
    return (retryAt.get(symbol) ?? 0) > now;
  }

  return {
    /** Loads the whole. If it is not available, throws an error that says what to do. */
    load,
    rules: (symbol: string): SymbolRules | null => listed.get(symbol)?.rules ?? null,
    /**
     * Whether nothing is to be waited for: the rules are young enough, or upstream did not answer just now.
     */
    isFresh,
    /** Requests the rules of a symbol; resolves when they have arrived, or were not available. */
    refresh,
    /** Refreshes what will be needed. Call it every second or so. */
    sweep(now: number, symbolsInUse: Iterable<string>) {
      if (now >= wholeDueAt) void refreshWhole();
      const old: string[] = [];
      for (const symbol of symbolsInUse) {
        const ageMs = ageOf(symbol, now);
        if (ageMs < rulesRefreshAgeMs) continue;
        if (ageMs > rulesAgeMsMax && retryAt.has(symbol)) old.push(symbol);
        if ((retryAt.get(symbol) ?? 0) <= now) void refresh(symbol);
      }
      reportOldRules(old, now);
    },
    body: (): ExchangeInfoBody => body,
  };
}

// Source: reference exchange, section 5 (unknown symbol: 400 with -1121).
function isUnknownSymbol(answer: UpstreamAnswer): boolean {
  return !answer.unavailable && answer.status === 400 && /"code"\s*:\s*-1121\b/.test(answer.text);
}

/** Stops at the first difference; two whole bodies that are alike take about as long as parsing one. */
function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSameJson(item, right[index]));
  }
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => isSameJson((left as JsonObject)[name], (right as JsonObject)[name]));
}

function partsOf(body: unknown): { readonly head: JsonObject; readonly rows: readonly JsonObject[] } | null {
  if (typeof body !== "object" || body === null) return null;
  const { symbols, ...head } = body as JsonObject;
  if (!Array.isArray(symbols)) return null;
  const rows = symbols.filter(
    (row: unknown): row is JsonObject =>
      typeof row === "object" && row !== null && "symbol" in row && typeof row.symbol === "string",
  );
  return { head, rows };
}
