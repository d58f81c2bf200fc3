// Recomputes a copy's funds when an order was sized, from the venue's journal and prices, and compares them
// with the scale in its log. The log does not say when exactly an order was sized, nor which fills the copy
// knew of by then. The scale must therefore agree with the account at some moment shortly before: with the
// wallet and the holdings of the same moment. Money counted in both, as proceeds of a sale and as what was
// sold, fits no moment of the account. A fault says when the account last had what the scale says.
import type { MirrorEntry } from "../../../src/domain/copying.ts";
import { magnitude } from "../../support/exact.ts";
import type { CopyBooks } from "./books.ts";
import type { CopyFault } from "./faults.ts";
import type { Moment } from "./history.ts";

/** The lowest and the highest price of a symbol at the venue in a span of time, units of 1e-8. */
export type PricesOf = (symbol: string, from: number, until: number) => readonly [low: bigint, high: bigint];

const ONE = 100_000_000n;
/** Fills that an account poll has not found yet are younger than this, ms, where accounts are few; */
const FILLS_MS = 40_000;
/** and by this for each account whose polls share the weight of the address: docs/copying-reference.md. */
const FILLS_MS_PER_COPY = 1_000;
/**
 * Prices are read for many orders at once, and are younger than this, ms, also when some of the requests for
 * them fail.
 */
const PRICES_MS = 20_000;
/** A request may be on its way when its sender sees the time, ms. */
const AFTER_MS = 1_000;
/** The fee of one fill, in parts of a thousand of it, which is known a moment later than the fill. */
const FEE_PER_MILLE = 1n;
/**
 * What fees, and prices that were read a little earlier, may change of a whole account, in parts of a
 * thousand: less than half of what the smallest order is worth, so that an order that is counted twice is
 * always seen.
 */
const WHOLE_PER_MILLE = 10n;

/** How old the last poll of an account may be where so many accounts of a type are polled, ms. */
export function pollMsMax(copies: number): number {
  return FILLS_MS + copies * FILLS_MS_PER_COPY;
}

/** `copies`: all of the type, at one address. */
export function sizeFaults(
  books: CopyBooks,
  history: readonly Moment[],
  pricesOf: PricesOf,
  copies: number,
): CopyFault[] {
  const fillsMs = pollMsMax(copies);
  return books.entries.flatMap((entry): CopyFault[] => {
    if (entry.scale === null || !isSized(entry)) return [];
    const { by, ours } = entry.scale;
    const from = entry.sentAt ?? entry.updatedAt;
    const until = Math.max(from, entry.acknowledgedAt ?? entry.updatedAt) + AFTER_MS;
    const moments = momentsBetween(history, from - fillsMs, until);
    const prices = (symbol: string) => pricesOf(symbol, from - PRICES_MS, until);
    const isOfWhole = by === "EQUITY" || by === "COLLATERAL";
    const had = moments.map((moment) =>
      isOfWhole ? equityOf(books, moment, prices) : heldOf(entry, moment, moments),
    );
    const { least, most } = boundsOf(had, isOfWhole);
    // What is promised to other exits is not there for this one: of a holding there is only an upper bound.
    if (ours <= most && (!isOfWhole || ours >= least)) return [];
    const older = history.findLastIndex((moment) => {
      if (moment.at >= from) return false;
      const alone = isOfWhole ? equityOf(books, moment, prices) : heldOf(entry, moment, [moment]);
      const bounds = boundsOf([alone], isOfWhole);
      return ours <= bounds.most && ours >= bounds.least;
    });
    const seconds = Math.round((from - Math.min(from, history[older + 1]?.at ?? from)) / 1_000);
    const { entryId, seq, symbol, status, scale } = entry;
    const what = `sized ${symbol} (entry ${entryId}, action ${seq}, ${status}) by ${ours}/${scale.theirs} ${by}`;
    const found = `at the venue there were ${least} to ${most}`;
    const when = older < 0 ? "it never had so much before" : `it last had so much ${seconds} s before`;
    const place = { from, until, type: books.copy.type, by };
    return [{ kind: "MISSIZED", what: `${books.name} ${what}; ${found}; ${when}`, place }];
  });
}

/** The least and the most that a scale may be of what the account had at one of these moments. */
function boundsOf(
  had: readonly (readonly [low: bigint, high: bigint])[],
  isOfWhole: boolean,
): { readonly least: bigint; readonly most: bigint } {
  const low = smallest(had.map(([each]) => each));
  const high = largest(had.map(([, each]) => each));
  if (isOfWhole) {
    const part = (whole: bigint, perMille: bigint) => (whole * perMille) / 1_000n;
    return { least: part(low, 1_000n - WHOLE_PER_MILLE), most: part(high, 1_000n + WHOLE_PER_MILLE) + 1n };
  }
  // The account has what the copy knows of, less its fee.
  const before = (left: bigint) => (left * 1_000n) / (1_000n - FEE_PER_MILLE) + 1n;
  return { least: (low * (1_000n - FEE_PER_MILLE)) / 1_000n, most: before(high) };
}

/** Whether the size mattered: the venue took the order, or there was too little money for it. */
export function isSized({ kind, scale, sentAt, skip, status }: MirrorEntry): boolean {
  const isShort = skip?.reason.startsWith("INSUFFICIENT_") ?? false;
  const isTaken = sentAt !== null && status !== "SKIPPED" && status !== "FAILED";
  return kind === "PLACE" && scale !== null && (isTaken || isShort);
}

/** The moments of a span, with the one that it began in. */
function momentsBetween(history: readonly Moment[], from: number, until: number): readonly Moment[] {
  const first = history.findLastIndex(({ at }) => at <= from);
  return history.slice(Math.max(0, first)).filter(({ at }, index) => index === 0 || at <= until);
}

/** The copy's share of the account; on spot with what it holds, at the lowest and at the highest prices. */
function equityOf(
  { copy: { type, settings } }: CopyBooks,
  { wallet, held }: Moment,
  prices: (symbol: string) => readonly [bigint, bigint],
): readonly [bigint, bigint] {
  const worth = (which: 0 | 1) =>
    [...held].reduce((sum, [symbol, quantity]) => sum + (quantity * prices(symbol)[which]) / ONE, 0n);
  const whole = type === "SPOT" ? ([wallet + worth(0), wallet + worth(1)] as const) : [wallet, wallet];
  return [((whole[0] ?? 0n) * settings.share) / ONE, ((whole[1] ?? 0n) * settings.share) / ONE];
}

/** What was held at a moment, and with it what was executed lately, which the copy may not have known of. */
function heldOf(
  { symbol }: MirrorEntry,
  { held }: Moment,
  moments: readonly Moment[],
): readonly [bigint, bigint] {
  const own = magnitude(held.get(symbol ?? "") ?? 0n);
  const executed = moments
    .slice(1)
    .flatMap(({ trades }) => trades)
    .filter((trade) => trade.symbol === symbol)
    .reduce((sum, { quantity }) => sum + quantity, 0n);
  return [own, own + executed];
}

function smallest(all: readonly bigint[]): bigint {
  return all.reduce((one, other) => (other < one ? other : one), all[0] ?? 0n);
}

function largest(all: readonly bigint[]): bigint {
  return all.reduce((one, other) => (other > one ? other : one), 0n);
}
