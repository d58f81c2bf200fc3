// Legs: placing one on a position, canceling it, and firing it when the mark price hits its trigger price. A
// fired leg closes the whole position by an order of its own; the other one is canceled. Pending legs are
// canceled here like any other, and otherwise follow their entry (`attached-legs.ts`). Source: specification
// 4.2 (algoOrder); reference exchange, section 13; design, section 6.
import type { Account } from "../../domain/account.ts";
import { closingSide } from "../../domain/account.ts";
import type { CancelLeg, CancelOpenLegs, PlaceLeg, TriggerLeg } from "../../domain/command.ts";
import type { Leg, LegType } from "../../domain/leg.ts";
import type { Side } from "../../domain/order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { magnitude } from "../../money/decimal.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { exhaustedOrders, ownOrder, placed } from "../new-order.ts";
import { canceledLeg } from "../release.ts";
import { bestOpposite, isTriggeredBy, legTrigger } from "../trigger.ts";
import { conclude } from "./aftermath.ts";
import { contractOf, openContractOf, untradableRefusal } from "./contract.ts";
import { legCountRefusal, priceRefusal } from "./contract-filters.ts";
import { fillOf } from "./fill.ts";

export function placeLeg(draft: Draft, command: PlaceLeg, circumstances: Circumstances): Refusal | null {
  const { account } = draft;
  const { market, at, admittedAt } = circumstances;
  const { symbol, side, legType: type, triggerPrice, clientLegId } = command;
  const exhausted = exhaustedOrders(account, circumstances);
  if (exhausted !== null) return exhausted;
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  if ([...account.openOrders.values()].some(({ clientOrderId }) => clientOrderId === clientLegId))
    return { refusal: "CLIENT_ID_TAKEN" };
  const contract = contractOf(market, symbol);
  if (contract === null) return { refusal: "SYMBOL_UNKNOWN" };
  if (contract.status !== "TRADING") return { refusal: "CONTRACT_NOT_TRADING" };
  const overRefusal = untradableRefusal(market);
  if (overRefusal !== null) return overRefusal;
  const unfit = priceRefusal(contract, triggerPrice);
  if (unfit !== null) return unfit;
  const position = account.positions.get(symbol);
  if (position === undefined || closingSide(position) !== side) return { refusal: "NO_POSITION_TO_CLOSE" };
  if (openLegOf(account, symbol, side, type)) return { refusal: "LEG_EXISTS" };
  const tooMany = legCountRefusal(contract, account, 1);
  if (tooMany !== null) return tooMany;
  const mark = market.markPrice(symbol);
  if (mark === null) return { refusal: "MARKET_SILENT" };
  if (isTriggeredBy(legTrigger({ side, type, triggerPrice }), mark)) return { refusal: "LEG_WOULD_TRIGGER" };
  // From here on nothing may fail.
  draft.add({
    type: "LegPlaced",
    at,
    ...(admittedAt === undefined ? {} : { admittedAt }),
    leg: {
      legId: account.nextOrderId,
      clientLegId,
      symbol,
      side,
      type,
      status: "NEW",
      triggerPrice,
      placedAt: at,
      updatedAt: at,
      fired: null,
    },
    postings: [],
  });
  return null;
}

export function cancelLeg(draft: Draft, { legId }: CancelLeg, { at }: Circumstances): Refusal | null {
  if (draft.account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const leg = draft.account.openLegs.get(legId);
  if (leg === undefined) return { refusal: "ORDER_NOT_OPEN" };
  draft.add(canceledLeg(leg, "REQUESTED", at));
  return null;
}

/** Every open leg on the symbol, oldest first. With nothing open, nothing happens. */
export function cancelOpenLegs(
  draft: Draft,
  { symbol }: CancelOpenLegs,
  { at }: Circumstances,
): Refusal | null {
  if (draft.account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  for (const leg of openLegsOn(draft.account, symbol)) draft.add(canceledLeg(leg, "REQUESTED", at));
  return null;
}

/** The mark price that was seen comes with the command; what the order pays is the market's present price. */
export function triggerLeg(
  draft: Draft,
  { legId, seen, seenAt }: TriggerLeg,
  circumstances: Circumstances,
): Refusal | null {
  const { account } = draft;
  const { market, profile, at } = circumstances;
  const leg = account.openLegs.get(legId);
  if (leg?.status !== "NEW" || !isTriggeredBy(legTrigger(leg), seen)) return { refusal: "NOTHING_TO_FILL" };
  const { symbol, side } = leg;
  const position = account.positions.get(symbol);
  const contract = openContractOf(market, symbol);
  if (position === undefined || contract === null) return { refusal: "NOTHING_TO_FILL" };
  const quote = market.quote(symbol);
  const price = quote && bestOpposite(side, quote);
  // It stays triggered: it is executed again when the market is back.
  if (price === null) return { refusal: "MARKET_SILENT" };
  const quantity = magnitude(position.quantity);
  const order = {
    ...ownOrder({
      orderId: account.nextOrderId,
      clientOrderId: leg.clientLegId,
      symbol,
      side,
      type: "MARKET",
      quantity,
      reservedAsset: contract.contract.marginAsset,
      at,
    }),
    reduceOnly: true,
    closesPosition: true,
  } as const;
  const terms = { price, quantity, isMaker: false, feeRate: profile.takerFee, mark: null, at, seenAt };
  const filled = fillOf(account, order, contract, terms);
  if (filled === null) throw new Error("what only closes can always be paid for");
  draft.add(placed(order));
  draft.add(filled);
  draft.add({
    type: "LegFired",
    at,
    legId,
    fired: { orderId: order.orderId, price, quantity, at },
    postings: [],
  });
  for (const sibling of openLegsOn(draft.account, symbol)) {
    if (sibling.status === "NEW") draft.add(canceledLeg(sibling, "OTHER_LEG_FIRED", at));
  }
  conclude(draft, contract, at);
  return null;
}

/** The leg of a kind that waits for the mark price, of which there is at most one. */
export function openLegOf(account: Account, symbol: string, side: Side, type: LegType): Leg | undefined {
  const isIt = (leg: Leg) => leg.status === "NEW" && leg.side === side && leg.type === type;
  return openLegsOn(account, symbol).find(isIt);
}

/** The open legs on a symbol, pending ones included, oldest first. */
export function openLegsOn({ openLegs }: Account, symbol: string): Leg[] {
  return [...openLegs.values()].filter((leg) => leg.symbol === symbol);
}
