// `decide` is all of trading as one pure function: same input, same result. It has no clock, waits for
// nothing and changes nothing; `apply` and the desk execute its result.
import type { Account } from "../domain/account.ts";
import type { Command } from "../domain/command.ts";
import type { Circumstances, Decision } from "./decision.ts";
import { decideFutures } from "./futures/decide.ts";
import { orderToCancel } from "./release.ts";
import { symbolsOfHoldings } from "./spot/close-strategy.ts";
import { decideSpot } from "./spot/decide.ts";

/** Decides a command for an account under the given circumstances. The account is read, never written. */
export function decide(account: Account, command: Command, circumstances: Circumstances): Decision {
  return account.type === "SPOT"
    ? decideSpot(account, command, circumstances)
    : decideFutures(account, command, circumstances);
}

/** The symbols whose rules and prices the decision uses; the caller has them refreshed first. */
export function symbolsConcerned(account: Account, command: Command): string[] {
  switch (command.type) {
    case "PlaceOrder":
    case "PlaceLeg":
    case "ChangeLeverage":
    case "LiquidatePosition":
    case "MatchTrade":
      return [command.symbol];
    case "SettleFunding":
      return [command.settlement.symbol];
    // A closed strategy needs no market: the signal is rejected.
    case "ExecuteSignal":
      return account.status === "LIVE" ? [command.order.symbol] : [];
    case "TriggerStop":
    case "MatchCrossing":
      return symbolOf(account.openOrders.get(command.orderId));
    case "TriggerLeg":
      return symbolOf(account.openLegs.get(command.legId));
    case "CloseStrategy":
      if (account.status === "CLOSED") return [];
      return account.type === "SPOT" ? symbolsOfHoldings(account) : [...account.positions.keys()];
    // A futures opening is measured by the mark price, the reserves of other orders by the rules.
    case "FillRestingOrder":
      return account.type === "SPOT" ? [] : symbolOf(account.openOrders.get(command.orderId));
    case "CancelOrder":
      return account.type === "SPOT" ? [] : symbolOf(orderToCancel(account, command));
    case "CancelOpenOrders":
      return account.type === "SPOT" ? [] : [command.symbol];
    case "CancelLeg":
    case "CancelOpenLegs":
      return [];
  }
}

function symbolOf(subject: { readonly symbol: string } | undefined): string[] {
  return subject === undefined ? [] : [subject.symbol];
}
