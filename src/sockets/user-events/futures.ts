// Journal entries of a futures strategy as events of its user data stream: each step of orders and legs,
// wallets and positions after fills and funding, and changes of leverage. Figures are those of the REST
// bodies. An order's reserve is no part of these events: it changes neither wallet nor position. Source:
// reference sockets, sections 7.3 to 7.6.
import type { Account } from "../../domain/account.ts";
import type { DomainEvent, FundingSettled, LegFired, OrderFilled } from "../../domain/event.ts";
import { incomesOf } from "../../domain/income.ts";
import type { Leg } from "../../domain/leg.ts";
import type { ExpiryReason, Order } from "../../domain/order.ts";
import { apply } from "../../engine/apply.ts";
import { seedOf } from "../../engine/open-strategy.ts";
import { digitsOf } from "../../http/present/digits.ts";
import { presentBalances } from "../../http/present/futures-account.ts";
import { presentLeg, presentOrder, presentTrade } from "../../http/present/futures-orders.ts";
import { presentRisk, standingOf } from "../../http/present/futures-positions.ts";
import { formatBriefly, formatDecimal } from "../../money/decimal.ts";
import { type Translate, type TranslationContext, type UserEvent, userEvent } from "./event.ts";

/** States of a leg as the exchange names them; the two of a trigger are passed through within one entry. */
type AlgoStatus = "NEW" | "CANCELED" | "TRIGGERING" | "TRIGGERED" | "FINISHED" | "EXPIRED";

/** Why an order was removed. Source: reference sockets, section 7.3 (`er`). */
const EXPIRY = {
  none: "0",
  selfTrade: "1",
  restCanceled: "2",
  nothingToReduce: "4",
  liquidated: "5",
} as const;
/** The exchange publishes no value for other reasons, such as a balance that is too low: they have none. */
const EXPIRY_OF: { readonly [R in ExpiryReason]?: string } = {
  SELF_TRADE: EXPIRY.selfTrade,
  UNFILLED_IOC_QUANTITY_EXPIRED: EXPIRY.restCanceled,
  INSUFFICIENT_LIQUIDITY: EXPIRY.restCanceled,
  NOTHING_TO_REDUCE: EXPIRY.nothingToReduce,
};

export const futuresEvents: Translate = (account, entry, context) => {
  const step = new Step(account, entry.events, context);
  return entry.events.flatMap((event) => step.translate(event));
};

/** One entry: some events are translated by what follows in the same entry. */
class Step {
  readonly #account: Account;
  readonly #context: TranslationContext;
  /** By the order that it placed. */
  readonly #fired = new Map<number, LegFired>();
  /** Symbols whose position the entry liquidates. */
  readonly #liquidated = new Set<string>();

  constructor(account: Account, events: readonly DomainEvent[], context: TranslationContext) {
    this.#account = account;
    this.#context = context;
    for (const event of events) {
      if (event.type === "LegFired") this.#fired.set(event.fired.orderId, event);
      if (event.type === "OrderPlaced" && event.order.type === "LIQUIDATION")
        this.#liquidated.add(event.order.symbol);
    }
  }

  translate(event: DomainEvent): readonly UserEvent[] {
    const { order, leg } = apply(this.#account, event);
    if (leg !== null) return this.#ofLeg(event, leg);
    if (order !== null) return this.#ofOrder(event, order);
    if (event.type === "FundingSettled") return this.#ofFunding(event);
    if (event.type !== "LeverageChanged") return [];
    const { symbol, leverage } = event;
    return [this.#event("ACCOUNT_CONFIG_UPDATE", event.at, { ac: { s: symbol, l: leverage } })];
  }

  #ofLeg(event: DomainEvent, leg: Leg): readonly UserEvent[] {
    switch (event.type) {
      case "LegPlaced":
        return [this.#algoUpdate(leg, "NEW", event.at)];
      case "LegFired":
        return [this.#algoUpdate(leg, "FINISHED", event.at)];
      case "LegCanceled":
        return [this.#algoUpdate(leg, "CANCELED", event.at)];
      case "LegExpired":
        return [this.#algoUpdate(leg, "EXPIRED", event.at)];
      // A leg that is armed was NEW before, as the exchange has no other state for it.
      default:
        return [];
    }
  }

  #ofOrder(event: DomainEvent, order: Order): readonly UserEvent[] {
    switch (event.type) {
      case "OrderPlaced":
        return [...this.#trigger(order), this.#orderUpdate(order, event, "NEW")];
      case "OrderFilled": {
        const isLiquidation = order.type === "LIQUIDATION";
        return [
          ...(isLiquidation ? [] : [this.#tradeLite(order, event)]),
          this.#accountUpdate(event, "ORDER", order.symbol),
          this.#orderUpdate(order, event, isLiquidation ? "CALCULATED" : "TRADE"),
        ];
      }
      case "OrderCanceled":
        return [this.#orderUpdate(order, event, "CANCELED")];
      case "OrderExpired":
        return [this.#orderUpdate(order, event, "EXPIRED")];
      default:
        return [];
    }
  }

  /** The firing of the leg that has placed this order. */
  #trigger({ orderId }: Order): readonly UserEvent[] {
    const firing = this.#fired.get(orderId);
    const leg = firing && this.#account.openLegs.get(firing.legId);
    if (firing === undefined || leg === undefined) return [];
    const fired = { ...leg, fired: firing.fired };
    return [
      this.#algoUpdate(fired, "TRIGGERING", firing.at),
      this.#algoUpdate(fired, "TRIGGERED", firing.at),
    ];
  }

  /** Funding that moved nothing, of a contract without holdings, is no event. */
  #ofFunding(event: FundingSettled): readonly UserEvent[] {
    return event.postings.length === 0 ? [] : [this.#accountUpdate(event, "FUNDING_FEE", event.symbol)];
  }

  #orderUpdate(
    order: Order,
    event: DomainEvent,
    execution: "NEW" | "TRADE" | "CALCULATED" | "CANCELED" | "EXPIRED",
  ): UserEvent {
    const { market } = this.#context;
    const digits = digitsOf(market.rules(order.symbol));
    const shown = presentOrder({ order, digits });
    const fill = event.type === "OrderFilled" ? presentTrade(event.trade, digits) : null;
    const { bidNotional, askNotional } = standingOf(this.#account, order.symbol, market);
    return this.#event("ORDER_TRADE_UPDATE", event.at, {
      o: {
        s: shown.symbol,
        c: clientIdOf(order),
        S: shown.side,
        o: shown.type,
        f: shown.timeInForce,
        q: shown.origQty,
        p: shown.price,
        ap: shown.avgPrice,
        sp: shown.stopPrice,
        x: execution,
        X: shown.status,
        i: shown.orderId,
        l: fill?.qty ?? "0",
        z: shown.executedQty,
        L: fill?.price ?? "0",
        n: fill?.commission ?? "0",
        N: fill?.commissionAsset ?? order.reservedAsset,
        T: event.at,
        t: fill?.id ?? 0,
        b: formatBriefly(bidNotional),
        a: formatBriefly(askNotional),
        m: fill?.maker ?? false,
        R: shown.reduceOnly,
        wt: shown.workingType,
        ot: shown.origType,
        ps: shown.positionSide,
        cp: shown.closePosition,
        rp: fill?.realizedPnl ?? "0",
        pP: shown.priceProtect,
        si: 0,
        ss: 0,
        V: shown.selfTradePreventionMode,
        pm: shown.priceMatch,
        gtd: shown.goodTillDate,
        er: this.#expiryOf(order, event),
      },
    });
  }

  #expiryOf({ symbol }: Order, event: DomainEvent): string {
    if (event.type === "OrderExpired") return EXPIRY_OF[event.reason] ?? EXPIRY.none;
    if (event.type === "OrderCanceled" && this.#liquidated.has(symbol)) return EXPIRY.liquidated;
    return EXPIRY.none;
  }

  #tradeLite(order: Order, { at, trade }: OrderFilled): UserEvent {
    const digits = digitsOf(this.#context.market.rules(order.symbol));
    const shown = presentOrder({ order, digits });
    const fill = presentTrade(trade, digits);
    return this.#event("TRADE_LITE", at, {
      s: shown.symbol,
      q: shown.origQty,
      p: shown.price,
      m: fill.maker,
      c: shown.clientOrderId,
      S: shown.side,
      L: fill.price,
      l: fill.qty,
      t: fill.id,
      i: shown.orderId,
    });
  }

  /** The wallet and the symbol's position after a fill or a settlement of funding. */
  #accountUpdate(event: OrderFilled | FundingSettled, reason: string, symbol: string): UserEvent {
    const account = this.#account;
    const balances = presentBalances(account).map(({ asset, balance, crossWalletBalance }) => ({
      a: asset,
      wb: balance,
      cw: crossWalletBalance,
      bc: otherChange(event),
    }));
    const isHeld = event.type === "OrderFilled" || event.position !== null;
    return this.#event("ACCOUNT_UPDATE", event.at, {
      a: {
        B: balances,
        P: isHeld ? [positionRow(account, symbol, this.#context)] : [],
        m: reason,
        ...(reason === "FUNDING_FEE" && { S: symbol }),
      },
    });
  }

  #algoUpdate(leg: Leg, status: AlgoStatus, at: number): UserEvent {
    const shown = presentLeg({ leg, digits: digitsOf(this.#context.market.rules(leg.symbol)) });
    const isPlaced = status === "TRIGGERED" || status === "FINISHED";
    return this.#event("ALGO_UPDATE", at, {
      o: {
        caid: shown.clientAlgoId,
        aid: shown.algoId,
        at: shown.algoType,
        o: shown.orderType,
        s: shown.symbol,
        S: shown.side,
        ps: shown.positionSide,
        f: shown.timeInForce,
        q: shown.quantity,
        X: status,
        ai: isPlaced ? shown.actualOrderId : "",
        tp: shown.triggerPrice,
        p: shown.price,
        V: shown.selfTradePreventionMode,
        wt: shown.workingType,
        pm: shown.priceMatch,
        cp: shown.closePosition,
        pP: shown.priceProtect,
        R: shown.reduceOnly,
        tt: shown.triggerTime,
        gtd: shown.goodTillDate,
        ...(isPlaced && {
          ap: status === "FINISHED" ? shown.actualPrice : "0",
          aq: status === "FINISHED" ? shown.actualQty : "0",
          act: shown.actualType,
        }),
        ...(status === "EXPIRED" && { rm: shown.endReason }),
      },
    });
  }

  #event(name: string, at: number, body: object): UserEvent {
    return userEvent({ e: name, T: at, E: Math.max(this.#context.now, at), ...body });
  }
}

/** A row of `P`. The account does not store a symbol's sum of realized profits: `cr` is always zero. */
function positionRow(account: Account, symbol: string, { market }: TranslationContext) {
  const risk = presentRisk(standingOf(account, symbol, market));
  return {
    s: risk.symbol,
    pa: risk.positionAmt,
    ep: risk.entryPrice,
    cr: "0",
    up: risk.unRealizedProfit,
    mt: risk.marginType,
    iw: risk.isolatedWallet,
    ps: risk.positionSide,
    ma: risk.marginAsset === "" ? seedOf("FUTURES").asset : risk.marginAsset,
    bep: risk.breakEvenPrice,
  };
}

/** What a wallet gained or lost otherwise than by profit and commission: funding, and the insurance fund. */
function otherChange(event: DomainEvent): string {
  const others = incomesOf(event).filter(({ type }) => type !== "REALIZED_PNL" && type !== "COMMISSION");
  const sum = others.reduce((total, { amount }) => total + amount, 0n);
  return sum === 0n ? "0" : formatDecimal(sum);
}

/** Clients recognize a liquidation by the beginning of its id; REST has the service's own id of it. */
function clientIdOf({ type, orderId, clientOrderId }: Order): string {
  return type === "LIQUIDATION" ? `autoclose-${orderId}` : clientOrderId;
}
