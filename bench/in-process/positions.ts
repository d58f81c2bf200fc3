// Strategies with a position each, opened by the engine. One's entry lies a tick above the other's, so that a
// falling mark price reaches them one after another, the last one first.

import type { Account, Position } from "../../src/domain/account.ts";
import type { PlaceOrder } from "../../src/domain/command.ts";
import type { DomainEvent } from "../../src/domain/event.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { apply } from "../../src/engine/apply.ts";
import { decide } from "../../src/engine/decide.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";
import { contractRules } from "../../src/engine/testing/contract-rules.ts";
import { MarketStub } from "../../src/engine/testing/market-stub.ts";
import { decimal, type Price, type Quantity } from "../../src/money/decimal.ts";
import { type Trigger, triggerOfPosition } from "../../src/triggers/trigger.ts";
import type { Opened } from "../strategies.ts";

export const CONTRACT = contractRules("BTC");
/** Within every limit of a strategy's 1,000 USDT, at the leverage that nobody has chosen: 20. */
export const QUANTITY = decimal<Quantity>("0.002");

const LOWEST_ENTRY = decimal<Price>("60000");
const TICK = decimal<Price>("0.1");
const MARKET = new MarketStub([CONTRACT]);

/** The price that the position of this number is opened at. */
export function entryOf(number: number): Price {
  return (LOWEST_ENTRY + TICK * BigInt(number)) as Price;
}

/** Opens a strategy and its position. `at` is market time, Unix ms. */
export function withPosition(strategyId: string, at: number, number: number): Opened {
  const { account, event, incomes } = openStrategy(strategyId, "FUTURES", at);
  const entry = entryOf(number);
  MARKET.setQuote(CONTRACT.symbol, { bid: entry, ask: entry });
  MARKET.setMarkPrice(CONTRACT.symbol, entry);
  const decision = decide(account, order("BUY"), { market: MARKET, at });
  if (isRefusal(decision)) throw new Error(`a position can be opened, and is not: ${decision.refusal}`);
  const events: DomainEvent[] = [event];
  const earned = [...incomes];
  for (const each of decision.events) {
    events.push(each);
    earned.push(...apply(account, each).incomes);
  }
  return { account, events, incomes: earned };
}

/** The trigger of an account's position. */
export function liquidationOf({ strategyId, positions }: Account): Trigger {
  const position: Position | undefined = positions.get(CONTRACT.symbol);
  const trigger = position && triggerOfPosition(strategyId, position, CONTRACT.contract);
  if (trigger == null) throw new Error("a position with leverage has a price of liquidation");
  return trigger;
}

/** An order of that size: at the market's price, or at a limit. */
export function order(side: "BUY" | "SELL", price: Price | null = null): PlaceOrder {
  return {
    type: "PlaceOrder",
    symbol: CONTRACT.symbol,
    side,
    orderType: price === null ? "MARKET" : "LIMIT",
    size: { quantity: QUANTITY },
    price,
    stopPrice: null,
    clientOrderId: "bench-1",
  };
}
