// Strategies with a position each, opened by the engine. One's entry lies a tick above the other's, so that a
// falling mark price reaches them one after another, the last one first.
import type { Account, Position } from "../../src/domain/account.ts";
import type { DomainEvent } from "../../src/domain/event.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { apply } from "../../src/engine/apply.ts";
import { decide } from "../../src/engine/decide.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";
import { STANDARD } from "../../src/engine/profiles.ts";
import { MarketStub } from "../../src/engine/testing/market-stub.ts";
import { decimal, type Price } from "../../src/money/decimal.ts";
import { type Waiting, waitingOfPosition } from "../../src/watch/waiting.ts";
import { CONTRACT, order } from "../contract.ts";
import type { Opened } from "../strategies.ts";

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
  const decision = decide(account, order("BUY"), { market: MARKET, profile: STANDARD.FUTURES, at });
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
export function liquidationOf({ strategyId, positions }: Account): Waiting {
  const position: Position | undefined = positions.get(CONTRACT.symbol);
  const waiting = position && waitingOfPosition(strategyId, position, CONTRACT.contract);
  if (waiting == null) throw new Error("a position with leverage has a price of liquidation");
  return waiting;
}
