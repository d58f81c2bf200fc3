// What should happen: `decide` is the whole of trading as one pure function. Same input, same answer, always. It has no
// clock, waits for nothing and changes nothing; `apply` and the desk make it so.
import type { Account } from "../domain/account.ts";
import type { Command } from "../domain/command.ts";
import type { Circumstances, Decision } from "./decision.ts";
import { cancelOpenOrders, cancelOrder } from "./spot/cancel-order.ts";
import { closeStrategy, symbolsOfHoldings } from "./spot/close-strategy.ts";
import { fillRestingOrder } from "./spot/fill-resting-order.ts";
import { placeOrder } from "./spot/place-order.ts";
import { triggerStop } from "./spot/trigger-stop.ts";

/** Decides a command for an account under the given circumstances. The account is read, never written. */
export function decide(account: Account, command: Command, circumstances: Circumstances): Decision {
  switch (command.type) {
    case "PlaceOrder":
      return placeOrder(account, command, circumstances);
    case "CancelOrder":
      return cancelOrder(account, command, circumstances);
    case "CancelOpenOrders":
      return cancelOpenOrders(account, command, circumstances);
    case "FillRestingOrder":
      return fillRestingOrder(account, command, circumstances);
    case "TriggerStop":
      return triggerStop(account, command, circumstances);
    case "CloseStrategy":
      return closeStrategy(account, circumstances);
  }
}

/** The symbols whose rules and prices the decision will look at: whoever asks for it has them fresh. */
export function symbolsConcerned(account: Account, command: Command): string[] {
  switch (command.type) {
    case "PlaceOrder":
      return [command.symbol];
    case "TriggerStop": {
      const order = account.openOrders.get(command.orderId);
      return order === undefined ? [] : [order.symbol];
    }
    case "CloseStrategy":
      return account.status === "CLOSED" ? [] : symbolsOfHoldings(account);
    case "CancelOrder":
    case "CancelOpenOrders":
    case "FillRestingOrder":
      return [];
  }
}
