// Engines that are wrong in one thing each: what a walk is for is to find them. Each decides as the engine
// does and then spoils the decision, or spoils what the engine looks at.
import type { Account, Position, StrategyType } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { DomainEvent } from "../../../src/domain/event.ts";
import type { Market } from "../../../src/domain/market.ts";
import { isRefusal } from "../../../src/domain/refusal.ts";
import type { ContractTerms } from "../../../src/domain/symbol.ts";
import { decide } from "../../../src/engine/decide.ts";
import type { Decision } from "../../../src/engine/decision.ts";
import type { Amount, Price, Quantity } from "../../../src/money/decimal.ts";

type Decide = typeof decide;

export type PlantedFault = { readonly type: StrategyType; readonly what: string; readonly decides: Decide };

/** What is wrong, in words that complete "an engine that". */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  fault("SPOT", "keeps locked what a cancelled order reserved", spoiling(withoutRelease)),
  fault("FUTURES", "keeps locked what a cancelled order reserved", spoiling(withoutRelease)),
  fault("SPOT", "passes over a number", spoiling(numberedAhead)),
  fault("FUTURES", "passes over a number", spoiling(numberedAhead)),
  fault("SPOT", "rejects a signal and keeps its order", spoiling(rejectedAfterAll)),
  fault("FUTURES", "tells of a gain that was not paid", spoiling(gainOfOneMore)),
  fault("FUTURES", "forgets one unit of a wallet", spoiling(walletOfOneLess)),
  fault("FUTURES", "reserves one unit too little", spoiling(reserveOfOneLess)),
  fault("FUTURES", "leaves the reserves as they are", spoiling(without("OrderReserveChanged"))),
  fault("FUTURES", "leaves the legs of a position that is gone", spoiling(without("LegExpired"))),
  fault("FUTURES", "leaves the sibling of a leg that has fired", spoiling(withoutSibling)),
  fault("FUTURES", "arms no leg of a resting entry", spoiling(without("LegArmed"))),
  fault("FUTURES", "loses the legs of a resting entry", spoiling(withoutPending)),
  fault("FUTURES", "leaves the legs of a cancelled entry", spoiling(withoutCanceledEntry)),
  fault("FUTURES", "leaves orders that have nothing to reduce", spoiling(without("OrderExpired"))),
  fault("FUTURES", "liquidates nobody", ignoring("LiquidatePosition")),
  fault("FUTURES", "settles no funding", ignoring("SettleFunding")),
  fault("FUTURES", "settles funding for what is held now", (account, ...rest) =>
    decide({ ...account, heldBefore: new Map() }, ...rest),
  ),
  fault("FUTURES", "settles funding at another mark price", settlingOneBeside),
  fault("FUTURES", "knows no position limit", onTerms(withoutLimits)),
  fault("FUTURES", "liquidates by half the maintenance margin", onTerms(withHalfMaintenance)),
  fault("FUTURES", "lends twice as much as was chosen", (account, ...rest) =>
    decide({ ...account, leverages: doubled(account.leverages) }, ...rest),
  ),
  fault("FUTURES", "takes the fee of an opening from what is free", spoiling(feeFromFree)),
  fault("FUTURES", "has what is free bear a loss", spoiling(lossFromFree)),
  fault("SPOT", "gives no receipt of what an open order got", spoiling(withoutReceipt)),
  fault("FUTURES", "gives no receipt of what an open order got", spoiling(withoutReceipt)),
  fault("SPOT", "tells of one unit more than was filled of a part", spoiling(partOfOneMore)),
  fault("SPOT", "fills open orders by more than was traded", matchingTwice),
  fault("FUTURES", "fills open orders by more than was traded", matchingTwice),
  fault("SPOT", "takes again what it has taken", takingAgain),
  fault("FUTURES", "takes again what it has taken", takingAgain),
];

function fault(type: StrategyType, what: string, decides: Decide): PlantedFault {
  return { type, what, decides };
}

/** Spoils each event of a decision; null leaves it out. */
function spoiling(spoil: (event: DomainEvent, all: readonly DomainEvent[]) => DomainEvent | null): Decide {
  return (...asked) => {
    const decision = decide(...asked);
    if (isRefusal(decision)) return decision;
    return { events: decision.events.flatMap((event) => spoil(event, decision.events) ?? []) };
  };
}

function without(type: DomainEvent["type"]): (event: DomainEvent) => DomainEvent | null {
  return (event) => (event.type === type ? null : event);
}

function ignoring(type: Command["type"]): Decide {
  return (account, command, circumstances): Decision =>
    command.type === type ? { refusal: "NOTHING_TO_FILL" } : decide(account, command, circumstances);
}

function withoutRelease(event: DomainEvent): DomainEvent {
  return event.type === "OrderCanceled" ? { ...event, postings: [] } : event;
}

function rejectedAfterAll(event: DomainEvent): DomainEvent {
  if (event.type !== "SignalExecuted") return event;
  const { orderId: _, ...others } = event;
  return { ...others, type: "SignalRejected", reason: { refusal: "INSUFFICIENT_BALANCE" } };
}

function numberedAhead(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderPlaced" || event.order.status !== "NEW" || event.order.type !== "LIMIT")
    return event;
  return { ...event, order: { ...event.order, orderId: event.order.orderId + 1 } };
}

function gainOfOneMore(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderFilled" || !event.trade.realizedPnl) return event;
  const realizedPnl = (event.trade.realizedPnl + 1n) as Amount;
  return { ...event, trade: { ...event.trade, realizedPnl } };
}

function walletOfOneLess(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderFilled" || event.position == null) return event;
  const position: Position = {
    ...event.position,
    isolatedWallet: (event.position.isolatedWallet - 1n) as Amount,
  };
  return { ...event, position };
}

function reserveOfOneLess(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderReserveChanged" || event.postings[0]?.from !== "free") return event;
  const [{ amount, ...posting }] = event.postings;
  return {
    ...event,
    reserved: (event.reserved - 1n) as Amount,
    postings: [{ ...posting, amount: (amount - 1n) as Amount }],
  };
}

function withoutSibling(event: DomainEvent, all: readonly DomainEvent[]): DomainEvent | null {
  return event.type === "LegCanceled" && all.some(({ type }) => type === "LegFired") ? null : event;
}

function withoutPending(event: DomainEvent): DomainEvent | null {
  return event.type === "LegPlaced" && event.leg.status === "PENDING" ? null : event;
}

function withoutCanceledEntry(event: DomainEvent): DomainEvent | null {
  return event.type === "LegCanceled" && event.reason === "ENTRY_CANCELED" ? null : event;
}

function feeFromFree(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderFilled" || event.position == null) return event;
  const fee = event.postings.find(({ from, to }) => from === "isolated" && to === "fees");
  if (fee === undefined) return event;
  return {
    ...event,
    position: {
      ...event.position,
      isolatedWallet: (event.position.isolatedWallet + fee.amount) as Amount,
    },
    postings: event.postings.map((each) => (each === fee ? { ...each, from: "free" } : each)),
  };
}

function lossFromFree(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderFilled") return event;
  const postings = event.postings.map((each) =>
    each.from === "clearance" && each.to === "market" ? { ...each, from: "free" as const } : each,
  );
  return { ...event, postings };
}

function withoutReceipt(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderFilled" || event.trade.receipt === undefined || !event.trade.isMaker) return event;
  const { receipt: _, ...trade } = event.trade;
  return { ...event, trade };
}

function partOfOneMore(event: DomainEvent): DomainEvent {
  if (event.type !== "OrderFilled" || event.trade.receipt === undefined) return event;
  const { quantity, receipt } = event.trade;
  if (quantity >= receipt.remaining) return event;
  return { ...event, trade: { ...event.trade, quantity: (quantity + 1n) as Quantity } };
}

function matchingTwice(...[account, command, circumstances]: Parameters<Decide>): Decision {
  if (command.type !== "MatchTrade") return decide(account, command, circumstances);
  const quantity = (command.trade.quantity * 2n) as Quantity;
  return decide(account, { ...command, trade: { ...command.trade, quantity } }, circumstances);
}

function takingAgain(...[account, ...rest]: Parameters<Decide>): Decision {
  return decide({ ...account, consumed: new Map() }, ...rest);
}

function settlingOneBeside(...[account, command, circumstances]: Parameters<Decide>): Decision {
  if (command.type !== "SettleFunding") return decide(account, command, circumstances);
  const { settlement } = command;
  const markPrice = ((settlement.markPrice * 1_001n) / 1_000n) as Price;
  return decide(account, { ...command, settlement: { ...settlement, markPrice } }, circumstances);
}

function doubled(leverages: Account["leverages"]): Account["leverages"] {
  return new Map([...leverages].map(([symbol, leverage]) => [symbol, leverage * 2]));
}

/** Has the engine look at other terms than those that the market has. */
function onTerms(change: (terms: ContractTerms) => ContractTerms): Decide {
  return (account, command, circumstances) => {
    const { market } = circumstances;
    const changed: Market = {
      rules: (symbol) => {
        const rules = market.rules(symbol);
        return rules?.contract ? { ...rules, contract: change(rules.contract) } : rules;
      },
      quote: (symbol) => market.quote(symbol),
      lastPrice: (symbol) => market.lastPrice(symbol),
      averagePrice: (symbol) => market.averagePrice(symbol),
      markPrice: (symbol) => market.markPrice(symbol),
      book: (symbol) => market.book(symbol),
      untradable: () => market.untradable(),
      delisted: (symbol) => market.delisted(symbol),
    };
    return decide(account, command, { ...circumstances, market: changed });
  };
}

function withoutLimits(terms: ContractTerms): ContractTerms {
  const notionalCap = (terms.brackets.at(-1)?.notionalCap ?? 0n) as Amount;
  return { ...terms, brackets: terms.brackets.map((bracket) => ({ ...bracket, notionalCap })) };
}

function withHalfMaintenance(terms: ContractTerms): ContractTerms {
  return {
    ...terms,
    brackets: terms.brackets.map((bracket) => ({
      ...bracket,
      maintenanceRate: (bracket.maintenanceRate / 2n) as typeof bracket.maintenanceRate,
      cum: (bracket.cum / 2n) as Amount,
    })),
  };
}
