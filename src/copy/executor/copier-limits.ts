// What a copier's settings say by time and by what the copy is worth: stop loss, take profit, loss a day,
// orders a minute; and the strategy's share of the profit, which goes by the same worth. What is changed here
// is not durable before the state is flushed.
import {
  type CopyReason,
  type CopySettings,
  type MirrorEntry,
  PROFIT_SHARES_ID,
  type Scale,
  type Skip,
  skipOf,
} from "../../domain/copying.ts";
import { type Amount, divideDown, SCALE, subtract } from "../../money/decimal.ts";
import { type CopyState, ownRow } from "../orders/copy-state.ts";
import { equityOf, isStopLossReached, isTakeProfitReached, settlementOf, weekOf } from "../sizing/book.ts";
import type { VenuePrices } from "../sizing/proportion.ts";
import { countAsAmount } from "../sizing/skip.ts";

/** The time over which openings are counted, ms. */
const ORDERS_WINDOW_MS = 60_000;
/** Rows of the log that are searched for openings of the last minute. */
const ROWS_RECALLED = 300;
/** By what exits are scaled. */
const BY_HOLDINGS: readonly Scale["by"][] = ["HOLDING", "POSITION", "UNPROMISED"];
const DAY_MS = 86_400_000;
/** Why a copy closes everything by what it is worth. */
export const BY_EQUITY: readonly CopyReason[] = ["STOP_LOSS", "TAKE_PROFIT"];

type Parts = {
  /** Wall time, Unix ms. */
  readonly now: () => number;
  /** So many rows of the copy's log, newest first. */
  readonly newestRows: (limit: number) => Promise<readonly MirrorEntry[]>;
};

export class CopierLimits {
  readonly #state: CopyState;
  readonly #now: Parts["now"];
  readonly #newestRows: Parts["newestRows"];
  /** Times of the openings of the last minute, wall time, Unix ms. */
  #openedAt: readonly number[] = [];
  /** Openings are noted since then; earlier ones are in the log alone until they are recalled. */
  readonly #notedSince: number;
  #recalling: Promise<void> | null = null;

  constructor(state: CopyState, { now, newestRows }: Parts) {
    this.#state = state;
    this.#now = now;
    this.#newestRows = newestRows;
    this.#notedSince = now();
  }

  /** Learns which openings an earlier process has sent within the last minute. Rejects as the store does. */
  recallOpenings(): Promise<void> {
    const isCounted = this.#state.copy.settings.ordersPerMinuteMax !== null;
    if (!isCounted || this.#now() - this.#notedSince >= ORDERS_WINDOW_MS) return Promise.resolve();
    this.#recalling ??= this.#recall().catch((error) => {
      this.#recalling = null;
      throw error;
    });
    return this.#recalling;
  }

  async #recall(): Promise<void> {
    const rows = await this.#newestRows(ROWS_RECALLED);
    const before = rows.filter(isSentOpening).flatMap(({ sentAt }) => sentAt ?? []);
    this.#openedAt = [...this.#openedAt, ...before.filter((at) => at <= this.#notedSince)];
  }

  /** Whether a week has ended whose profit share is not computed yet. */
  get isShareDue(): boolean {
    return this.#state.book.profitMark?.week !== weekOf(this.#now());
  }

  /**
   * Notes what the copy is worth at the beginning of a day, and begins to close it when its stop loss or take
   * profit is reached; answers what of it was done.
   */
  checkEquity(prices: VenuePrices): "CLOSES" | "NOTED" | null {
    const state = this.#state;
    const { settings, status, reason } = state.copy;
    const { book } = state;
    if (book.snapshot === null) return null;
    const equity = equityOf(book, prices) ?? book.snapshot.equity;
    const isNewDay = this.#noteDay(prices);
    const isOver =
      status === "CLOSING" || (status === "PAUSED" && reason !== null && BY_EQUITY.includes(reason));
    const hasSomething = book.holdings.size > 0 || state.resting().length > 0;
    const mayClose = !isOver && (status !== "PAUSED" || hasSomething);
    const isStopped = isStopLossReached({ ...book, snapshot: { ...book.snapshot, equity } }, settings);
    if (!mayClose || (!isStopped && !isTakeProfitReached(book, settings, equity)))
      return isNewDay ? "NOTED" : null;
    state.setSnapshot({ ...book.snapshot, equity });
    state.move("CLOSING", isStopped ? "STOP_LOSS" : "TAKE_PROFIT", this.#now());
    return "CLOSES";
  }

  /**
   * Notes what the copy is worth when a day begins, also without a limit: one that is set during the day
   * counts from there. Returns whether that was to be noted.
   */
  #noteDay(prices: VenuePrices): boolean {
    const state = this.#state;
    const { book } = state;
    const day = Math.floor(this.#now() / DAY_MS);
    if (book.snapshot === null || book.dayStart?.day === day) return false;
    state.setBook({ ...book, dayStart: { day, equity: equityOf(book, prices) ?? book.snapshot.equity } });
    return true;
  }

  /** Its stop loss or take profit counts from what the copy is worth now. */
  restartFrom(prices: VenuePrices): void {
    const { book } = this.#state;
    const { snapshot } = book;
    const equity = equityOf(book, prices);
    const valued = snapshot === null || equity === null ? snapshot : { ...snapshot, equity };
    this.#state.setBook({ ...book, stopBase: equity, snapshot: valued });
  }

  /** Computes the profit share, once every price that it needs is known; answers whether it did. */
  settleProfit(prices: VenuePrices, { isFinal = false }: { readonly isFinal?: boolean } = {}): boolean {
    const state = this.#state;
    const { book } = state;
    const equity = equityOf(book, prices);
    const isValued = [...book.holdings.keys()].every((symbol) => prices.has(symbol));
    if (equity === null || !isValued) return false;
    const at = this.#now();
    const settlement = settlementOf(book, { equity, at, isFinal });
    if (settlement === null) return false;
    const { settled, profitMark } = settlement;
    state.setBook({ ...book, profitMark });
    if (settled !== null) {
      const row = ownRow("PROFIT_SHARE", null, at);
      state.add({ ...row, collectiveId: PROFIT_SHARES_ID, profitShare: settled });
    }
    return true;
  }

  /** Why the copier's limits let nothing be opened now; null if they do. */
  openingLimit(prices: VenuePrices): Skip | null {
    const { settings, book } = this.#state.copy;
    // A copy that holds nothing is worth what it was when the day began.
    if (book.holdings.size === 0) this.#noteDay(prices);
    const openings = { openedAt: this.#openedAt, now: this.#now() };
    return tooManyOrdersSkip(settings, openings) ?? this.lossOfDay(prices);
  }

  /** LOSS_OF_DAY, if the copy has lost as much today as the copier permits; null if not. */
  lossOfDay(prices: VenuePrices): Skip | null {
    const { settings, book } = this.#state.copy;
    const isOfToday = book.dayStart?.day === Math.floor(this.#now() / DAY_MS);
    const dayStartEquity = isOfToday ? (book.dayStart?.equity ?? null) : null;
    const equity = equityOf(book, prices);
    return equity === null ? null : lossOfDaySkip(settings, { dayStartEquity, equity });
  }

  /** An order that opens something is sent. Returns what takes that back, if it opens nothing. */
  noteOpening(): () => void {
    const now = this.#now();
    this.#openedAt = [...this.#openedAt.filter((at) => now - at < ORDERS_WINDOW_MS), now];
    return () => {
      const index = this.#openedAt.indexOf(now);
      this.#openedAt = this.#openedAt.filter((_at, each) => each !== index);
    };
  }
}

/**
 * Whether a row's order was sent and opened something. What a row was scaled by says whether its order had an
 * opening part, also after the strategy has closed that.
 */
function isSentOpening({ kind, status, scale, retained }: MirrorEntry): boolean {
  const opens =
    kind === "REPAIR"
      ? retained !== undefined
      : kind === "PLACE" && scale !== null && !BY_HOLDINGS.includes(scale.by);
  return opens && status !== "NEW" && status !== "SKIPPED" && status !== "FAILED";
}

/**
 * TOO_MANY_ORDERS, if one more opening now would be one too many. `openedAt`: of recent openings, Unix ms, in
 * any order.
 */
export function tooManyOrdersSkip(
  { ordersPerMinuteMax }: Pick<CopySettings, "ordersPerMinuteMax">,
  { openedAt, now }: { readonly openedAt: readonly number[]; readonly now: number },
): Skip | null {
  if (ordersPerMinuteMax === null) return null;
  const recent = openedAt.filter((at) => now - at < ORDERS_WINDOW_MS).length;
  if (recent < ordersPerMinuteMax) return null;
  const [wanted, had] = [countAsAmount(recent + 1), countAsAmount(ordersPerMinuteMax)];
  return skipOf("TOO_MANY_ORDERS", { wanted, had });
}

/**
 * LOSS_OF_DAY, if the copy has lost as much of its equity at 00:00 UTC as the copier permits. Null where that
 * equity is not known.
 */
export function lossOfDaySkip(
  { lossPerDayMax }: Pick<CopySettings, "lossPerDayMax">,
  { dayStartEquity, equity }: { readonly dayStartEquity: Amount | null; readonly equity: Amount },
): Skip | null {
  if (lossPerDayMax === null || dayStartEquity === null || dayStartEquity <= 0n) return null;
  const wanted = subtract(dayStartEquity, equity);
  const had = divideDown(dayStartEquity * lossPerDayMax, SCALE) as Amount;
  if (wanted < had) return null;
  return skipOf("LOSS_OF_DAY", { wanted, had, unit: "QUOTE", bound: lossPerDayMax });
}
