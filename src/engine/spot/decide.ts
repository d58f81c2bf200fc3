// Decisions of spot strategies.
import type { Account } from "../../domain/account.ts";
import type { Command } from "../../domain/command.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { cancelOpenOrders, cancelOrder } from "../release.ts";
import { settleSignal } from "../signal.ts";
import { closeStrategy } from "./close-strategy.ts";
import { fillRestingOrder } from "./fill-resting-order.ts";
import { placeOrder } from "./place-order.ts";
import { matchCrossing, matchMarketTrade } from "./strict.ts";
import { triggerStop } from "./trigger-stop.ts";

export function decideSpot(account: Account, command: Command, circumstances: Circumstances): Decision {
  switch (command.type) {
    case "PlaceOrder":
      return placeOrder(account, command, circumstances);
    case "CancelOrder":
      return cancelOrder(account, command, circumstances);
    case "CancelOpenOrders":
      return cancelOpenOrders(account, command, circumstances);
    case "FillRestingOrder":
      return fillRestingOrder(account, command, circumstances);
    case "MatchTrade":
      return matchMarketTrade(account, command, circumstances);
    case "MatchCrossing":
      return matchCrossing(account, command, circumstances);
    case "TriggerStop":
      return triggerStop(account, command, circumstances);
    case "CloseStrategy":
      return closeStrategy(account, circumstances);
    case "ExecuteSignal":
      return settleSignal(command, placeOrder(account, command.order, circumstances), circumstances);
    case "PlaceLeg":
    case "CancelLeg":
    case "CancelOpenLegs":
    case "TriggerLeg":
    case "ChangeLeverage":
    case "SettleFunding":
    case "LiquidatePosition":
      throw new Error(`a spot strategy has no positions: ${command.type}`);
  }
}
