// Spot bodies as the wire has them. Amounts are strings of eight decimals, ids and times integers, flags
// booleans. Source: specification 2.3, 2.5, 2.6; reference exchange, section 7.
import type { Account } from "../../domain/account.ts";
import { collectiveId } from "../../domain/collective-id.ts";
import { type ExpiryReason, isStrict, type Order, type Trade } from "../../domain/order.ts";
import { userNumberOf } from "../../keys/api-keys.ts";
import { formatDecimal, ZERO } from "../../money/decimal.ts";
import { presentProfile, selfTradePreventionOf } from "./strict.ts";

/** The `workingTime` of a stop that waits for its trigger. Source: reference exchange, section 7.5. */
const NOT_YET_WORKING = -1;
const BASIS_POINTS_IN_ONE = 10_000n;

/** An order: the answer to placing and querying it. */
export function presentOrder(strategyId: string, order: Order) {
  return {
    symbol: order.symbol,
    orderId: order.orderId,
    orderListId: -1,
    clientOrderId: order.clientOrderId,
    transactTime: order.updatedAt,
    price: formatDecimal(order.price),
    origQty: formatDecimal(order.quantity),
    executedQty: formatDecimal(order.executedQuantity),
    origQuoteOrderQty: formatDecimal(order.quoteQuantity),
    cummulativeQuoteQty: formatDecimal(order.executedQuote),
    status: order.status,
    timeInForce: order.timeInForce ?? "GTC",
    type: order.type,
    side: order.side,
    stopPrice: formatDecimal(order.stopPrice),
    icebergQty: formatDecimal(ZERO),
    time: order.placedAt,
    updateTime: order.updatedAt,
    isWorking: order.workingAt !== null,
    workingTime: order.workingAt ?? NOT_YET_WORKING,
    selfTradePreventionMode: selfTradePreventionOf(order),
    collectiveId: collectiveId(strategyId, order.orderId),
    ...(isStrict(order) && order.expiryReason && { expiryReason: expiryReasonOf(order.expiryReason) }),
  };
}

/** The exchange's name of the reason for an expiry. Source: reference exchange, section 8.1. */
export function expiryReasonOf(reason: ExpiryReason): string {
  switch (reason) {
    case "PERCENT_PRICE":
    case "PERCENT_PRICE_BY_SIDE":
      return "EXECUTION_RULE_PRICE_RANGE_EXCEEDED";
    case "BOOK_EMPTY":
    case "INSUFFICIENT_LIQUIDITY":
      return "INSUFFICIENT_LIQUIDITY";
    case "UNFILLED_IOC_QUANTITY_EXPIRED":
    case "UNFILLED_FOK_ORDER_EXPIRED":
      return reason;
    default:
      return "REJECTED";
  }
}

/** A cancelled order: `clientOrderId` is the cancel's own id if the client gave it one. */
export function presentCancel(strategyId: string, order: Order, cancelId: string | null) {
  const body = presentOrder(strategyId, order);
  return { ...body, origClientOrderId: order.clientOrderId, clientOrderId: cancelId ?? order.clientOrderId };
}

export function presentTrade(trade: Trade) {
  return {
    symbol: trade.symbol,
    id: trade.tradeId,
    orderId: trade.orderId,
    orderListId: -1,
    price: formatDecimal(trade.price),
    qty: formatDecimal(trade.quantity),
    quoteQty: formatDecimal(trade.quoteQuantity),
    commission: formatDecimal(trade.fee),
    commissionAsset: trade.feeAsset,
    time: trade.at,
    isBuyer: trade.side === "BUY",
    isMaker: trade.isMaker,
    isBestMatch: true,
  };
}

export function presentAccount(
  account: Account,
  { userId, omitZeroBalances }: { readonly userId: string; readonly omitZeroBalances: boolean },
) {
  const { profile } = account;
  const balances = [...account.balances]
    .filter(([, { free, locked }]) => !omitZeroBalances || free > 0n || locked > 0n)
    .map(([asset, { free, locked }]) => ({
      asset,
      free: formatDecimal(free),
      locked: formatDecimal(locked),
    }));
  const live = account.status === "LIVE";
  return {
    makerCommission: Number((profile.makerFee * BASIS_POINTS_IN_ONE) / 100_000_000n),
    takerCommission: Number((profile.takerFee * BASIS_POINTS_IN_ONE) / 100_000_000n),
    buyerCommission: 0,
    sellerCommission: 0,
    commissionRates: {
      maker: formatDecimal(profile.makerFee),
      taker: formatDecimal(profile.takerFee),
      buyer: formatDecimal(ZERO),
      seller: formatDecimal(ZERO),
    },
    canTrade: live,
    canWithdraw: false,
    canDeposit: false,
    brokered: false,
    requireSelfTradePrevention: false,
    preventSor: false,
    updateTime: account.updatedAt,
    accountType: "SPOT",
    balances,
    permissions: ["SPOT"],
    uid: userNumberOf(userId),
    strategyId: account.strategyId,
    isSimulated: true,
    ...presentProfile(profile),
  };
}
