// Events in a trader's words.
import type { DomainEvent, OrderFilled } from "../../domain/event.ts";
import { incomesOf } from "../../domain/income.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { type Amount, formatBriefly, ZERO } from "../../money/decimal.ts";

export function inWords(event: DomainEvent): string {
  switch (event.type) {
    case "StrategyOpened":
      return "opened";
    case "OrderRested": {
      const { ahead } = event.queue;
      return `${event.orderId} rests behind ${ahead === null ? "unknown" : formatBriefly(ahead)}`;
    }
    case "OrderPlaced":
      return `placed ${event.order.orderId}`;
    case "OrderFilled":
      return fillInWords(event);
    case "OrderCanceled":
      return `canceled ${event.orderId}`;
    case "OrderTriggered":
      return `triggered ${event.orderId}`;
    case "OrderExpired":
      return `expired ${event.orderId} ${event.reason}`;
    case "OrderReserveChanged":
      return `${event.orderId} locks ${formatBriefly(event.reserved)}`;
    case "LegPlaced":
      return event.leg.status === "PENDING"
        ? `pending leg ${event.leg.legId}`
        : `placed leg ${event.leg.legId}`;
    case "LegArmed":
      return `armed leg ${event.legId}`;
    case "LegFired":
      return `fired leg ${event.legId}`;
    case "LegCanceled":
      return `canceled leg ${event.legId} ${event.reason}`;
    case "LegExpired":
      return `expired leg ${event.legId} ${event.reason}`;
    case "LeverageChanged":
      return `leverage ${event.leverage}`;
    case "FundingSettled":
      return `funding ${signed(incomeOf(event, "FUNDING_FEE"))}`;
    case "StrategyClosing":
      return "closing";
    case "StrategyClosed":
      return "closed";
    case "SignalExecuted":
      return `executed signal with ${event.orderId}`;
    case "SignalRejected":
      return `rejected signal ${refusalInWords(event.reason)}`;
  }
}

/** The name of a refusal, with what it names besides. */
export function refusalInWords(refusal: Refusal): string {
  switch (refusal.refusal) {
    case "FILTER_FAILED":
      return `FILTER_FAILED ${refusal.filter}`;
    case "CONTRACT_FILTER_FAILED":
      return `CONTRACT_FILTER_FAILED ${refusal.filter} ${refusal.fault}`;
    default:
      return refusal.refusal;
  }
}

/** A decimal with its sign, and with no more digits than it needs. */
export function signed(value: bigint): string {
  return value > 0n ? `+${formatBriefly(value)}` : formatBriefly(value);
}

function fillInWords(event: OrderFilled): string {
  const { orderId, quantity, price, fee, feeAsset, isMaker, realizedPnl } = event.trade;
  const role = isMaker ? "maker" : "taker";
  const clearance = incomeOf(event, "INSURANCE_CLEAR");
  return [
    `filled ${orderId}: ${formatBriefly(quantity)} @ ${formatBriefly(price)}`,
    `fee ${formatBriefly(fee)} ${feeAsset} ${role}`,
    ...(realizedPnl === undefined || realizedPnl === 0n ? [] : [`realized ${signed(realizedPnl)}`]),
    ...(clearance === 0n ? [] : [`clearance ${signed(clearance)}`]),
  ].join(" ");
}

function incomeOf(event: DomainEvent, type: "FUNDING_FEE" | "INSURANCE_CLEAR"): Amount {
  return incomesOf(event).find((income) => income.type === type)?.amount ?? ZERO;
}
