// All that a copy has is closed: everything that rests is cancelled, legs too, and what it holds is sold at the market, as far
// as it is its own and still there. Repeatable: a pass closes what is left, and says whether anything is. What cannot be sold,
// since it is below the venue's least or gone, does not keep a copy from being closed; the log says so.
//
// A pass is recorded whole. Until it is, a repetition uses the same client ids, so that after a restart nothing is sold twice.
import type { CopyRequest, MirrorEntry, MirrorKind, Skip } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { asAmount, magnitude, type Quantity, ZERO } from "../../money/decimal.ts";
import { mirrorClientId } from "../client-ids.ts";
import { skipOf } from "../scaling/skip.ts";
import { marketQuantity } from "../scaling/snap.ts";
import { takeBack } from "./cancel.ts";
import { ownLine, refusedLine, skipped } from "./lines.ts";
import { takeStock } from "./liquidations.ts";
import { marketOrder } from "./market-order.ts";
import { refusedAs } from "./refusals.ts";
import { askAfter, enter, entryGone } from "./settle.ts";
import { ORDER_WAITS_MS, unlessUnanswered } from "./snapshot.ts";
import type { NewEntry } from "./turn.ts";
import { isWaitingLeg, type Work } from "./work.ts";
import { goneFrom, writeOff } from "./write-off.ts";

/** Lines of a symbol that are looked back on for a refusal that was noted before. */
const LINES_MAX = 200;

export type Closing = {
  /** What its lines are called. */
  readonly kind: MirrorKind;
  readonly request: CopyRequest | null;
  /** Makes the client ids of one pass, and of its repetition until it is recorded. */
  readonly passId: string;
};

/** What a pass of a copy's closing is known by: the number of the line that it would add first. */
export function passIdOf({ turn }: Pick<Work, "turn">): string {
  return `flatten-${turn.book.nextEntryId}`;
}

/** Books the orders of a pass that may have been sent before a restart; answers of which symbols. Sends nothing. */
export async function recoverClosing(work: Work, closing: Closing): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  // What the pass had cancelled may have executed something first, which it has sold as well.
  for (const entry of work.turn.resting()) if (!isWaitingLeg(entry)) await askAfter(work, entry);
  for (const symbol of heldSymbols(work)) {
    const placed = await work.dealings.recover({ symbol, clientOrderId: idOf(work, symbol, closing) });
    if (placed === null) continue;
    found.add(symbol);
    const { quantity } = placed.state;
    await enter(work, { ...lineOfClosing(work, symbol, closing), quantity }, placed);
  }
  return found;
}

/**
 * One pass: null if nothing rests any more and nothing that could be sold is held; otherwise what keeps it, to be tried again.
 * `recovered`: of which symbols this pass had sold something before a restart, which is booked.
 */
export async function closeAll(
  work: Work,
  closing: Closing,
  recovered: ReadonlySet<string>,
): Promise<Skip | null> {
  const { turn } = work;
  const stopped = work.stopped();
  if (stopped !== null) return stopped;
  let kept: Skip | null = null;
  for (const entry of turn.resting()) {
    const { outcome } = await takeBack(work, entry, null);
    if (outcome.kind === "UNSENT") return outcome.skip;
    if (outcome.kind !== "REFUSED") continue;
    const { skip } = refusedAs(outcome.refusal);
    // With its symbol it is gone; whatever else cannot be cancelled is tried again in the next pass.
    if (await work.dealings.isUnlisted(entry.symbol ?? "", outcome.refusal)) entryGone(work, entry, skip);
    else kept = skip;
  }
  // What there is to sell the book says as well: the sale waits for no balances.
  const briefly = { ...work, dealings: work.dealings.briefly(ORDER_WAITS_MS) };
  const isMuch = turn.book.holdings.size > 0 || turn.copy.family === "FUTURES";
  const isStockTaken = isMuch && (await unlessUnanswered(takeStock(briefly)));
  const unsold: NewEntry[] = [];
  let left = kept;
  for (const symbol of heldSymbols(work)) {
    // A client id serves once: what its order has left over is for the next pass.
    const sold = recovered.has(symbol)
      ? await afterSale(work, symbol)
      : await closeHolding(work, symbol, { ...closing, isStockTaken });
    if (sold.isLeft) left = sold.skip;
    else if (sold.line !== null) unsold.push(sold.line);
  }
  // What was executed may not be known whole yet.
  if (left === null && turn.resting().some((entry) => !isWaitingLeg(entry))) left = skipOf("ALREADY_OVER");
  if (left === null) for (const line of unsold) turn.add(line);
  return left;
}

type Sold =
  /** Something is left that the next pass may sell. */
  | { readonly isLeft: true; readonly skip: Skip }
  /** Nothing is left, or nothing that could be sold: the line says why not. */
  | { readonly isLeft: false; readonly line: NewEntry | null };

/** The venue takes no more of it in one order. */
const LATER: Sold = { isLeft: true, skip: skipOf("ABOVE_MAXIMUM") };
const SOLD: Sold = { isLeft: false, line: null };

async function closeHolding(
  work: Work,
  symbol: string,
  closing: Closing & { readonly isStockTaken: boolean },
  isFittedAnew = false,
): Promise<Sold> {
  const { turn, dealings } = work;
  const { family } = turn.copy;
  const rules = await dealings.rules(symbol);
  const price = (await dealings.prices()).get(symbol) ?? null;
  const gone = closing.isStockTaken ? goneFrom(turn, symbol) : ZERO;
  if (gone > 0n) writeOff(work, { symbol, quantity: gone, price });
  const own = turn.holding(symbol).quantity;
  const line = lineOfClosing(work, symbol, closing);
  if (own === 0n) {
    const figures = { wanted: asAmount(gone), had: ZERO, unit: "BASE" } as const;
    return { isLeft: false, line: skipped(line, skipOf("NOTHING_HELD", figures)) };
  }
  const side = own > 0n ? "SELL" : "BUY";
  const size = magnitude(own);
  const fit = fitToSell(rules, size, { price, side, isReduction: true, family });
  const sized: NewEntry = { ...line, scaledQuantity: size, quantity: fit.quantity };
  if (fit.skip !== null) return { isLeft: false, line: skipped(sized, fit.skip) };
  const clientOrderId = idOf(work, symbol, closing);
  const order = marketOrder({ symbol, side, quantity: fit.quantity, clientOrderId, family });
  const outcome = await dealings.send(order, () => work.stopped());
  if (outcome.kind === "UNSENT") return { isLeft: true, skip: outcome.skip };
  if (outcome.kind === "REFUSED") {
    if (!isFittedAnew && (await dealings.haveRulesChanged(symbol, outcome.refusal)))
      return await closeHolding(work, symbol, closing, true);
    const refused = refusedLine(sized, outcome);
    // One line says it, however often it is tried again.
    const last = await lastOf(work, symbol, closing);
    if (last === null || !isSameRefusal(last, refused)) turn.add(refused);
    return { isLeft: true, skip: refused.skip ?? skipOf("REFUSED") };
  }
  await enter(work, sized, outcome);
  return await afterSale(work, symbol);
}

/** The last line of this kind, if it is among the last ones of the symbol. */
async function lastOf(work: Work, symbol: string, { kind }: Closing): Promise<MirrorEntry | null> {
  let looked = 0;
  return await work.findLine(symbol, (line) => {
    looked += 1;
    return line.kind === kind || looked === LINES_MAX;
  });
}

/** What an order has left over is for the next pass, unless it is too little to be sold. */
async function afterSale(work: Work, symbol: string): Promise<Sold> {
  const { turn, dealings } = work;
  const { family } = turn.copy;
  const rest = turn.holding(symbol).quantity;
  if (rest === 0n) return SOLD;
  const side = rest > 0n ? "SELL" : "BUY";
  const price = (await dealings.prices()).get(symbol) ?? null;
  const at = { price, side, isReduction: true, family } as const;
  return fitToSell(await dealings.rules(symbol), magnitude(rest), at).skip === null ? LATER : SOLD;
}

function isSameRefusal(one: NewEntry, other: NewEntry): boolean {
  const isSameReason = one.status === other.status && one.skip?.reason === other.skip?.reason;
  return isSameReason && one.skip?.venue?.code === other.skip?.venue?.code;
}

/** What is not traded at the moment is left to its owner. */
function fitToSell(rules: SymbolRules | null, size: Quantity, at: Parameters<typeof marketQuantity>[2]) {
  if (rules?.status === "TRADING") return marketQuantity(rules, size, at);
  return { quantity: ZERO as Quantity, skip: skipOf("NOT_LISTED") };
}

function lineOfClosing(work: Work, symbol: string, { kind, request }: Closing): NewEntry {
  const own = work.turn.holding(symbol).quantity;
  const line = ownLine(kind, symbol, { request, now: work.now() });
  return { ...line, side: own < 0n ? "BUY" : "SELL", orderType: "MARKET" };
}

function idOf({ turn }: Work, symbol: string, { passId }: Closing): string {
  return mirrorClientId({ requestId: passId, symbol, copyId: turn.copy.copyId, purpose: "close" });
}

/** In the same order every time. */
function heldSymbols({ turn }: Work): readonly string[] {
  return [...turn.book.holdings.keys()].sort();
}
