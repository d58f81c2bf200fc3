// A copy brought nearer to its target, because its owner asked for it: the drift of each symbol as it is now, after a look, is
// mended at the market's price. What reduces always; what increases only if the owner says so.
//
// The request is recorded whole, when all its orders are certain. Until then a repetition uses the same client ids: what was
// sent before a restart is found, and not sent again.
import type { CopyRequest, LeadState, MirrorEntry } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { LEVERAGE_DEFAULT } from "../../engine/futures/margin.ts";
import { mirrorClientId } from "../client-ids.ts";
import { driftOf, repairOrders } from "../scaling/drift.ts";
import { spotSymbolOf } from "../scaling/equity.ts";
import { copiedLeverage } from "../scaling/limits.ts";
import type { RepairOrder } from "../scaling/repair-sizes.ts";
import { skipOf } from "../scaling/skip.ts";
import { skipWords } from "../scaling/skip-words.ts";
import { ownLine, refusedLine, skipped } from "./lines.ts";
import { marketOrder } from "./market-order.ts";
import { enter } from "./settle.ts";
import type { NewEntry } from "./turn.ts";
import type { Work } from "./work.ts";

/** A request that the venue did not answer. */
export const IS_AWAY = "The venue did not answer. Please ask again in a while.";

/** What a repair needs to know beside the copy itself. */
export type RepairFacts = {
  /** The strategy as it stands, all of whose actions the copy has dealt with. */
  readonly lead: LeadState;
  /** By contract, where one was chosen. */
  readonly leverages: ReadonlyMap<string, number>;
  /** Of the copy's log, newest first. */
  readonly entries: readonly MirrorEntry[];
};

/** Repairs, and finishes the request. `recovered`: client ids of its orders that are booked already. */
export async function repair(
  work: Work,
  request: CopyRequest,
  facts: RepairFacts,
  recovered: ReadonlySet<string>,
): Promise<void> {
  const { turn } = work;
  const stopped = work.stopped();
  if (stopped !== null) {
    turn.finishRequest(request.requestId, work.now(), skipWords(stopped, null));
    return;
  }
  const looked = await work.glances.askedFor(work, request, { mayHaveMissed: false });
  if (looked === "INTERRUPTED") return;
  if (looked === "AWAY") {
    turn.finishRequest(request.requestId, work.now(), IS_AWAY);
    return;
  }
  for (const order of await ordersOf(work, request, facts)) {
    if (!recovered.has(idOf(work, request, order))) await send(work, request, { order, facts });
  }
  turn.finishRequest(request.requestId, work.now(), null);
}

async function ordersOf(
  work: Work,
  request: CopyRequest,
  { lead, leverages, entries }: RepairFacts,
): Promise<readonly RepairOrder[]> {
  const { turn, dealings } = work;
  const { family, settings } = turn.copy;
  const rules = new Map<string, SymbolRules | null>();
  for (const symbol of symbolsOf(work, lead)) rules.set(symbol, await dealings.rules(symbol));
  const drifts = driftOf({
    family,
    lead,
    leadAtStart: null,
    settings,
    book: turn.book,
    isPending: false,
    entries: turn.current(entries),
    rulesOf: (symbol) => rules.get(symbol) ?? null,
    prices: await dealings.prices(),
    leverages: new Map([...lead.held.keys()].map((symbol) => [symbol, leverageOf(leverages, symbol)])),
  });
  return repairOrders(drifts, request);
}

async function send(
  work: Work,
  request: CopyRequest,
  { order, facts }: { readonly order: RepairOrder; readonly facts: RepairFacts },
  isFittedAnew = false,
): Promise<void> {
  const { turn, dealings } = work;
  const { symbol, side, quantity, reduceOnly, increases } = order;
  const { family } = turn.copy;
  const line = lineOfRepair(work, request, order);
  const mayNot = () => work.stopped() ?? pausedSkip(work, increases);
  const skip = mayNot();
  if (skip !== null) {
    turn.add(skipped(line, skip));
    return;
  }
  if (family === "FUTURES" && increases) {
    const rules = await dealings.rules(symbol);
    const wanted = leverageOf(facts.leverages, symbol);
    const leverage = (rules && copiedLeverage({ leverage: wanted }, rules)) ?? wanted;
    const refusal = await dealings.setLeverage(symbol, leverage);
    if (refusal !== null) {
      const { code, message } = refusal;
      turn.add(skipped(line, skipOf("LEVERAGE_UNFIT", { venue: { code, message } })));
      return;
    }
  }
  const clientOrderId = idOf(work, request, order);
  const sent = marketOrder({ symbol, side, quantity, clientOrderId, family, reduceOnly });
  const outcome = await dealings.send(sent, mayNot);
  if (outcome.kind === "PLACED") await enter(work, line, outcome);
  else if (outcome.kind === "REFUSED") {
    const isOfOldRules = !isFittedAnew && (await dealings.haveRulesChanged(symbol, outcome.refusal));
    const orders = isOfOldRules ? await ordersOf(work, request, facts) : [];
    const anew = orders.find((each) => each.symbol === symbol && each.increases === increases);
    if (anew === undefined) turn.add(refusedLine(line, outcome));
    else await send(work, request, { order: anew, facts }, true);
  } else turn.add(skipped(line, outcome.skip));
}

/**
 * Books the orders of this request that may have been sent before a restart; answers their client ids. Sends nothing. `lead`: the
 * strategy as it was then; null if that is not known.
 */
export async function recoverRepair(
  work: Work,
  request: CopyRequest,
  lead: LeadState | null,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const symbol of symbolsOf(work, lead)) {
    for (const increases of [false, true]) {
      const clientOrderId = idOf(work, request, { symbol, increases });
      const placed = await work.dealings.recover({ symbol, clientOrderId });
      if (placed === null) continue;
      found.add(clientOrderId);
      const { quantity } = placed.state;
      const side = sideOf(work, lead, { symbol, increases });
      const line = ownLine("REPAIR", symbol, { request, now: work.now() });
      await enter(work, { ...line, side, orderType: "MARKET", quantity }, placed);
    }
  }
  return found;
}

function lineOfRepair(
  work: Work,
  request: CopyRequest,
  { symbol, side, quantity, scale }: RepairOrder,
): NewEntry {
  const line = ownLine("REPAIR", symbol, { request, now: work.now() });
  return { ...line, side, orderType: "MARKET", scale, scaledQuantity: quantity, quantity };
}

/** Away from what is held, or towards what the strategy holds. */
function sideOf(
  { turn }: Work,
  lead: LeadState | null,
  { symbol, increases }: Pick<RepairOrder, "symbol" | "increases">,
): Side {
  if (!increases) return turn.holding(symbol).quantity > 0n ? "SELL" : "BUY";
  return turn.copy.family === "FUTURES" && (lead?.held.get(symbol) ?? 0n) < 0n ? "SELL" : "BUY";
}

/** A repair of one symbol may take an order that reduces and one that increases: each has an id of its own. */
function idOf(
  { turn }: Work,
  { requestId }: CopyRequest,
  { symbol, increases }: Pick<RepairOrder, "symbol" | "increases">,
): string {
  const purpose = increases ? "order" : "close";
  return mirrorClientId({ requestId, symbol, copyId: turn.copy.copyId, purpose });
}

function symbolsOf({ turn }: Work, lead: LeadState | null): readonly string[] {
  const nameOf = turn.copy.family === "SPOT" ? spotSymbolOf : (symbol: string) => symbol;
  const theirs = [...(lead?.held.keys() ?? [])].map(nameOf);
  return [...new Set([...theirs, ...turn.book.holdings.keys()])].sort();
}

function leverageOf(leverages: ReadonlyMap<string, number>, symbol: string): number {
  return leverages.get(symbol) ?? LEVERAGE_DEFAULT;
}

function pausedSkip(work: Work, increases: boolean) {
  const reason = increases ? work.opensNot(work.now()) : null;
  return reason === null ? null : skipOf(reason);
}
