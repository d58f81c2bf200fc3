// Triggers a stop that the last price has hit. It becomes its limit or market order, under the same id, and
// is checked against the present rules and funds: if they do not permit it any more it expires, and its
// reserve is freed.
// As with an open limit order the command carries the price that was seen; a triggered market order pays the
// market's present price. Source: design, section 6 (fills); reference exchange, section 8.4.
import type { Account } from "../../domain/account.ts";
import type { TriggerStop } from "../../domain/command.ts";
import type { OrderTriggered } from "../../domain/event.ts";
import { awaitsTrigger } from "../../domain/order.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { failsAsLimit, failsAsMarket, failsPosition } from "../filters.ts";
import { expired } from "../release.ts";
import { bestOpposite, isTriggeredBy, stopTrigger } from "../trigger.ts";
import { fillWhole } from "./fill.ts";
import { takeTriggered } from "./strict.ts";
import { canPay, fillIfMet } from "./working-order.ts";

export function triggerStop(account: Account, command: TriggerStop, circumstances: Circumstances): Decision {
  const { market, at } = circumstances;
  const order = account.openOrders.get(command.orderId);
  if (order === undefined || !awaitsTrigger(order) || !isTriggeredBy(stopTrigger(order), command.seen)) {
    return { refusal: "NOTHING_TO_FILL" };
  }
  const rules = market.rules(order.symbol);
  if (rules === null || rules.status !== "TRADING") return { refusal: "NOTHING_TO_FILL" };
  const isStrict = account.profile.strict !== null;
  const quote = market.quote(order.symbol);
  // It stays triggered: it is executed again when the market is back.
  if (isStrict ? market.book(order.symbol) === null : quote === null) return { refusal: "MARKET_SILENT" };

  const triggered: OrderTriggered = { type: "OrderTriggered", at, orderId: order.orderId, postings: [] };
  const isLimit = order.type === "STOP_LOSS_LIMIT";
  const failed =
    (isLimit ? failsAsLimit(rules, order, market) : failsAsMarket(rules, order, market)) ??
    failsPosition(rules, order, account);
  if (failed !== null) return { events: [triggered, expired(order, failed.filter, at)] };
  if (isStrict) return { events: takeTriggered(account, triggered, rules, circumstances) };
  if (isLimit) return { events: [triggered, ...fillIfMet(account, order, rules, circumstances)] };

  const price = quote && bestOpposite(order.side, quote);
  if (price === null) return { events: [triggered, expired(order, "BOOK_EMPTY", at)] };
  if (!canPay(account, order, price)) {
    return { events: [triggered, expired(order, "INSUFFICIENT_BALANCE", at)] };
  }
  const terms = { price, isMaker: false };
  return { events: [triggered, fillWhole(account, order, terms, rules, at)] };
}
