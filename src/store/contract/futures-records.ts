// What only futures have, as the cases store it and expect to read it back.

import type { Position } from "../../domain/account.ts";
import { type Account, emptyAccount } from "../../domain/account.ts";
import type { Income } from "../../domain/income.ts";
import type { Leg } from "../../domain/leg.ts";
import { asProduct, decimal, type Product, type Quantity, ZERO } from "../../money/decimal.ts";
import { HUGE, hold, TINY } from "./records.ts";

/**
 * A futures account with something in every part that only futures have, and the largest and the smallest
 * decimals.
 */
export function futuresAccountOf(strategyId: string): Account {
  const account = emptyAccount(strategyId, "FUTURES");
  hold(account, "USDT", {
    free: HUGE,
    locked: "50",
    isolated: TINY,
    seed: "-1000",
    funding: `-${TINY}`,
    clearance: `-${HUGE}`,
  });
  account.nextIncomeId = 4_000_000_001;
  const positions = [positionOf("ETHUSDT", { quantity: decimal(`-${HUGE}`) }), positionOf("BTCUSDT")];
  account.positions = new Map(positions.map((position) => [position.symbol, position]));
  const legs = [legOf(10), legOf(9, { symbol: "ETHUSDT" })];
  account.openLegs = new Map(legs.map((leg) => [leg.legId, leg]));
  account.leverages = new Map([
    ["BTCUSDT", 125],
    ["ETHUSDT", 1],
  ]);
  account.fundedUntil = new Map([
    ["ETHUSDT", 1_795_228_800_005],
    ["BTCUSDT", 1_795_228_800_000],
  ]);
  const held = [
    { changedAt: 1_795_228_304_525, quantity: decimal<Quantity>(`-${TINY}`) },
    { changedAt: 1_795_228_304_526, quantity: ZERO },
  ];
  account.heldBefore = new Map([["BTCUSDT", held]]);
  return account;
}

/** A stop that closes a purchase below 90 and waits; `at` is when it was placed, Unix ms. */
export function legOf(legId: number, terms: Partial<Leg> & { readonly at?: number } = {}): Leg {
  const { at = 1_000, ...others } = terms;
  return {
    legId,
    clientLegId: `leg-${legId}`,
    symbol: "BTCUSDT",
    side: "SELL",
    type: "STOP_MARKET",
    status: "NEW",
    triggerPrice: decimal("90"),
    placedAt: at,
    updatedAt: at,
    fired: null,
    ...others,
  };
}

/** What a futures wallet got from the trade of the same number. */
export function incomeOf(incomeId: number, terms: Partial<Income> = {}): Income {
  return {
    incomeId,
    type: "REALIZED_PNL",
    symbol: "BTCUSDT",
    asset: "USDT",
    amount: decimal("12.5"),
    at: 1_000,
    tradeId: incomeId,
    ...terms,
  };
}

/** Half a coin bought at a price of more digits than prices have. */
export function positionOf(symbol: string, terms: Partial<Position> = {}): Position {
  return {
    symbol,
    quantity: decimal("0.5"),
    entryValue: (asProduct(decimal(HUGE)) + 1n) as Product,
    isolatedWallet: decimal("5"),
    burden: decimal(`-${TINY}`),
    openedAt: 1_000,
    updatedAt: 2_000,
    ...terms,
  };
}
