// The drift of a copy from its strategy, computed by `copy/sizing/drift.ts`, as a repair computes it, from
// what is committed here and the venue's last snapshot, with the cause in plain sentences. Prices are our own
// market's; no venue is asked for its prices.
import type { z } from "zod";
import { leadStateOf } from "../../copy/leads/actions.ts";
import { type Drift, driftOf, driftWords, offWords } from "../../copy/sizing/drift.ts";
import { symbolsHeld } from "../../copy/sizing/proportion.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { Copy, DriftCause, LeadState, MirrorEntry } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import type { Price } from "../../money/decimal.ts";
import type { DashboardParts } from "../parts.ts";
import type { driftSchema } from "../schemas/copies.ts";
import { followsStrategy } from "./own-copies.ts";

/** The newest entries, which are searched for causes. */
const ENTRIES_SEARCHED = 300;

type Parts = Pick<DashboardParts, "gateway" | "copying" | "prices">;

type DriftAnswer = z.output<typeof driftSchema>["rows"][number];

/**
 * Null once the copy is being closed or has ended: from then on its owner is not shown what the strategy
 * holds.
 */
export async function driftsOf(parts: Parts, copy: Copy): Promise<readonly DriftAnswer[] | null> {
  if (!followsStrategy(copy)) return null;
  const { store } = parts.gateway;
  const { strategyId, copyId, accountId, type, settings, book } = copy;
  const [loaded, account, lead, newest, resting, [last = null]] = await Promise.all([
    store.loadAccount(strategyId),
    store.copying.findAccount(accountId),
    store.copying.findLead(strategyId),
    store.copying.listMirrorEntries(copyId, { limit: ENTRIES_SEARCHED }),
    store.copying.listOpenEntries({ copyId }),
    store.copying.listRecentActions(strategyId, { limit: 1 }),
  ]);
  if (loaded === null || account === null) throw new Error(`a copy has a strategy and an account: ${copyId}`);
  const state = leadStateOf(loaded.account, last);
  const symbols = new Set([...symbolsHeld(type, state), ...book.holdings.keys()]);
  const rules = await rulesOf(parts, { type, venue: account.venue }, symbols);
  const rows = driftOf({
    type,
    lead: state,
    leadAtStart: await leadAtStart(parts, copy),
    settings,
    book,
    isPending: copy.doneSeq < (lead?.seq ?? 0) || loaded.version > (lead?.version ?? 0),
    entries: withResting(newest, resting),
    rulesOf: (symbol) => rules.get(symbol) ?? null,
    prices: pricesOf(parts, type, symbols),
    leverages: loaded.account.leverages,
  });
  const isCut = newest.length === ENTRIES_SEARCHED && (newest.at(-1)?.entryId ?? 1) > 1;
  return rows.map((row) => driftAnswer(row, isCut ? ENTRIES_SEARCHED : null));
}

/**
 * `linesSearched`: how many lines of the log were searched for causes if there are older ones; null if all
 * were. Where none of them explains it, an older one may.
 */
export function driftAnswer(drift: Drift, linesSearched: number | null): DriftAnswer {
  const shown = (cause: DriftCause) => (cause === "UNEXPLAINED" && linesSearched !== null ? "OLDER" : cause);
  return {
    ...drift,
    cause: shown(drift.cause),
    words: wordsOf(drift, linesSearched),
    parts: drift.parts.map((part) => ({ ...part, cause: shown(part.cause) })),
  };
}

function wordsOf(drift: Drift, linesSearched: number | null): string {
  if (drift.cause !== "UNEXPLAINED" || linesSearched === null) return driftWords(drift);
  return `The newest ${linesSearched} lines of the log do not explain it: the cause is older, or the ratio of the two accounts has changed since. ${offWords(drift)}`;
}

/** Entries newest first, with the open orders, however old. */
function withResting(
  newest: readonly MirrorEntry[],
  resting: readonly MirrorEntry[],
): readonly MirrorEntry[] {
  const known = new Set(newest.map(({ entryId }) => entryId));
  return [...newest, ...resting.filter(({ entryId }) => !known.has(entryId)).toReversed()];
}

/** What the strategy had before the first action that the copy has dealt with; null if there is none. */
async function leadAtStart({ gateway }: Parts, { strategyId, copyId }: Copy): Promise<LeadState | null> {
  const { copying } = gateway.store;
  const first = await copying.findMirrorEntry(copyId, 1);
  if (first?.seq == null) return null;
  const [action] = await copying.listActions(strategyId, { afterSeq: first.seq - 1, limit: 1 });
  return action?.lead ?? null;
}

/** The venue's rules, and our own market's where it does not tell them. */
async function rulesOf(
  { copying, gateway }: Parts,
  place: { readonly type: StrategyType; readonly venue: string },
  symbols: ReadonlySet<string>,
): Promise<ReadonlyMap<string, SymbolRules>> {
  const told = copying.venues.includes(place.venue) ? await copying.rulesOf(place, symbols) : new Map();
  const market = gateway.markets[place.type];
  const rules = new Map<string, SymbolRules>();
  for (const symbol of symbols) {
    const found = told.has(symbol) ? told.get(symbol) : market.rules(symbol);
    if (found != null) rules.set(symbol, found);
  }
  return rules;
}

/** Prices that strategies are valued at here, of those symbols that have one. */
export function pricesOf(
  { prices }: Pick<Parts, "prices">,
  type: StrategyType,
  symbols: ReadonlySet<string>,
): ReadonlyMap<string, Price> {
  const known = new Map<string, Price>();
  for (const symbol of symbols) {
    const price = prices.of(type, symbol)?.price;
    if (price !== undefined) known.set(symbol, price);
  }
  return known;
}
