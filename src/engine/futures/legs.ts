import { closingSide } from "../../domain/account.ts";
import type { CancelLeg, CancelOpenLegs, PlaceLeg, TriggerLeg } from "../../domain/command.ts";
import type { Leg } from "../../domain/leg.ts";
import type { Market } from "../../domain/market.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { ContractTerms } from "../../domain/symbol.ts";
import { add, isWithinMultiples, magnitude, type Rate, SCALE, subtract } from "../../money/decimal.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { bestDisplayed } from "../matching/walk.ts";
import { exhaustedOrders, placed } from "../new-order.ts";
import { canceledLeg, endUnfilled, legToCancel } from "../release.ts";
import { bestOpposite, isTriggeredBy, legTrigger } from "../trigger.ts";
import { conclude } from "./aftermath.ts";
import { contractOf, openContractOf, untradableRefusal } from "./contract.ts";
import { legCountRefusal, priceRefusal } from "./contract-filters.ts";
import { closingOrder, fillClosing } from "./fill.ts";
import { openLegOf, openLegsOn } from "./locks.ts";
import { averageOf, expireOwn, takeClosing, walkAtMarket } from "./strict.ts";

export function placeLeg(draft: Draft, command: PlaceLeg, circumstances: Circumstances): Refusal | null {
  const { account } = draft;
  const { market, at, admittedAt } = circumstances;
  const { symbol, side, legType: type, triggerPrice, clientLegId } = command;
  const isStrict = account.profile.strict !== null;
  // Under `standard` the mark price decides whatever a client names.
  const workingType = isStrict ? command.workingType : undefined;
  const priceProtect = isStrict && command.priceProtect === true;
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
  const isOfLast = workingType === "CONTRACT_PRICE";
  const present = isOfLast ? market.lastPrice(symbol) : market.markPrice(symbol);
  if (present === null) return { refusal: "MARKET_SILENT" };
  if (isTriggeredBy(legTrigger({ side, type, triggerPrice }), present))
    return { refusal: "LEG_WOULD_TRIGGER" };
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
      ...(isOfLast && { workingType }),
      ...(priceProtect && { priceProtect }),
      placedAt: at,
      updatedAt: at,
      fired: null,
    },
    postings: [],
  });
  return null;
}

export function cancelLeg(draft: Draft, command: CancelLeg, { at }: Circumstances): Refusal | null {
  if (draft.account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const leg = legToCancel(draft.account, command);
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

/** The price that was seen comes with the command; what the order pays is the market's present price. */
export function triggerLeg(
  draft: Draft,
  { legId, seen, seenAt }: TriggerLeg,
  circumstances: Circumstances,
): Refusal | null {
  const { account } = draft;
  const { market, at } = circumstances;
  const { profile } = account;
  const leg = account.openLegs.get(legId);
  if (leg?.status !== "NEW" || !isTriggeredBy(legTrigger(leg), seen)) return { refusal: "NOTHING_TO_FILL" };
  const { symbol, side } = leg;
  const position = account.positions.get(symbol);
  const contract = openContractOf(market, symbol);
  if (position === undefined || contract === null) return { refusal: "NOTHING_TO_FILL" };
  const isStrict = profile.strict !== null;
  if (isStrict && isProtected(leg, contract.contract, market)) return { refusal: "NOTHING_TO_FILL" };
  const book = isStrict ? market.book(symbol) : null;
  const quote = market.quote(symbol);
  const price = isStrict ? book && bestDisplayed(side, book) : quote && bestOpposite(side, quote);
  // It stays triggered: it is executed again when the market is back.
  if (price === null) return { refusal: "MARKET_SILENT" };
  const quantity = magnitude(position.quantity);
  const terms = { clientOrderId: leg.clientLegId, type: "MARKET", quantity } as const;
  const order = { ...closingOrder(account, position, terms, contract, at), closesPosition: true } as const;
  const mark = market.markPrice(symbol) ?? seen;
  const walk = book && walkAtMarket(account, order, { book, mark }, contract, at);
  // Likewise: a leg that closed nothing would end the protection of the position.
  if (walk?.takes.length === 0) return { refusal: "MARKET_SILENT" };
  draft.add(placed(order));
  if (book === null || walk === null) {
    fillClosing(draft, order, contract, { price, quantity, feeRate: profile.takerFee, at, seenAt });
  } else {
    expireOwn(draft, order, walk, circumstances);
    takeClosing(draft, order, walk, { book, at, cause: "WALK" }, contract, {
      feeRate: profile.takerFee,
      seenAt,
    });
    endUnfilled(draft, order.orderId, at);
  }
  draft.add({
    type: "LegFired",
    at,
    legId,
    fired:
      walk === null
        ? { orderId: order.orderId, price, quantity, at }
        : { orderId: order.orderId, ...averageOf(walk), at },
    postings: [],
  });
  for (const sibling of openLegsOn(draft.account, symbol)) {
    if (sibling.status === "NEW") draft.add(canceledLeg(sibling, "OTHER_LEG_FIRED", at));
  }
  conclude(draft, contract, at);
  return null;
}

/** Whether price protection holds a leg back: the last price is too far from the mark price. */
export function isProtected(
  { symbol, priceProtect }: Pick<Leg, "symbol" | "priceProtect">,
  { triggerProtect }: ContractTerms,
  market: Pick<Market, "markPrice" | "lastPrice">,
): boolean {
  if (priceProtect !== true || triggerProtect === undefined) return false;
  const mark = market.markPrice(symbol);
  const last = market.lastPrice(symbol);
  if (mark === null || last === null) return false;
  const multiples = {
    up: add(SCALE as Rate, triggerProtect),
    down: subtract(SCALE as Rate, triggerProtect),
  };
  return !isWithinMultiples(mark, last, multiples);
}
