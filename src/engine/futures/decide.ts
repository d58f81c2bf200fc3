// Decisions of futures strategies.
import type { Account } from "../../domain/account.ts";
import type { Command } from "../../domain/command.ts";
import type { DomainEvent } from "../../domain/event.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { Draft } from "../draft.ts";
import { cancelOpenOrders, cancelOrder } from "../release.ts";
import { rejected } from "../signal.ts";
import { conclude } from "./aftermath.ts";
import { cancelAttached } from "./attached-legs.ts";
import { closeStrategy } from "./close-strategy.ts";
import { contractOf } from "./contract.ts";
import { fillRestingOrder } from "./fill-resting-order.ts";
import { settleFunding } from "./funding.ts";
import { cancelLeg, cancelOpenLegs, placeLeg, triggerLeg } from "./legs.ts";
import { changeLeverage } from "./leverage.ts";
import { liquidatePosition } from "./liquidation.ts";
import { placeOrder } from "./place-order.ts";
import { matchCrossing, matchMarketTrade } from "./strict.ts";

export function decideFutures(account: Account, command: Command, circumstances: Circumstances): Decision {
  const draft = new Draft(account);
  const refusal = carryOut(draft, command, circumstances);
  return refusal ?? { events: draft.events };
}

/** Takes the steps of a command, or answers why there are none. */
function carryOut(draft: Draft, command: Command, circumstances: Circumstances): Refusal | null {
  switch (command.type) {
    case "PlaceOrder":
      return placeOrder(draft, command, circumstances);
    case "CancelOrder":
      return cancel(draft, cancelOrder(draft.account, command, circumstances), circumstances);
    case "CancelOpenOrders":
      return cancel(draft, cancelOpenOrders(draft.account, command, circumstances), circumstances);
    case "FillRestingOrder":
      return fillRestingOrder(draft, command, circumstances);
    case "MatchTrade":
      return matchMarketTrade(draft, command, circumstances);
    case "MatchCrossing":
      return matchCrossing(draft, command, circumstances);
    case "PlaceLeg":
      return placeLeg(draft, command, circumstances);
    case "CancelLeg":
      return cancelLeg(draft, command, circumstances);
    case "CancelOpenLegs":
      return cancelOpenLegs(draft, command, circumstances);
    case "TriggerLeg":
      return triggerLeg(draft, command, circumstances);
    case "ChangeLeverage":
      return changeLeverage(draft, command, circumstances);
    case "SettleFunding":
      return settleFunding(draft, command, circumstances);
    case "LiquidatePosition":
      return liquidatePosition(draft, command, circumstances);
    case "CloseStrategy":
      return closeStrategy(draft, circumstances);
    // Signals are for spot: none of a futures strategy is ever recorded, and one that were should not be
    // tried for ever.
    case "ExecuteSignal":
      draft.add(rejected(command, { refusal: "KEY_OF_OTHER_FAMILY" }, circumstances.at));
      return null;
    case "TriggerStop":
      throw new Error("a futures strategy has legs, and no stops");
  }
}

/**
 * The legs of a canceled entry end with it. What a canceled order would have closed, the orders after it may
 * close now.
 */
function cancel(draft: Draft, decision: Decision, { market, at }: Circumstances): Refusal | null {
  if (isRefusal(decision)) return decision;
  const symbols = new Set(decision.events.flatMap((event) => symbolOf(draft, event)));
  for (const event of decision.events) {
    draft.add(event);
    if (event.type === "OrderCanceled") cancelAttached(draft, event, at);
  }
  for (const symbol of symbols) {
    const contract = contractOf(market, symbol);
    if (contract !== null) conclude(draft, contract, at);
  }
  return null;
}

function symbolOf({ account }: Draft, event: DomainEvent): string[] {
  const order = event.type === "OrderCanceled" ? account.openOrders.get(event.orderId) : undefined;
  return order === undefined ? [] : [order.symbol];
}
