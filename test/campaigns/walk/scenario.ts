// The state of a walk when the next command is drawn, and the commands that traders of both types send.
import type { Account } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Order } from "../../../src/domain/order.ts";
import { floorToStep, type Price } from "../../../src/money/decimal.ts";
import { happens, pick } from "./chance.ts";
import type { RandomMarket } from "./random/market.ts";

export type Scenario = {
  readonly random: () => number;
  readonly market: RandomMarket;
  readonly account: Account;
  /** The symbol of the next command, and the client id of an order that it places. */
  readonly symbol: string;
  readonly clientId: string;
  /** Orders and legs that were placed; they may be over. */
  readonly orders: ReadonlyMap<number, Order>;
  readonly legs: ReadonlyMap<number, Leg>;
};

const ID_NEVER_GIVEN = 1_000_000;
const BASIS_POINTS = 10_000n;

/** Takes an open order back, now and then one that never was. */
export function cancelOne({ random, account }: Scenario): Command {
  const orderId = pick(random, [...account.openOrders.keys()]) ?? ID_NEVER_GIVEN;
  return { type: "CancelOrder", orderId: happens(random, 0.9) ? orderId : ID_NEVER_GIVEN };
}

/** A price on the tick, so many basis points from another. */
export function near(price: Price, basisPoints: number, tick: Price): Price {
  const moved = (price * (BASIS_POINTS + BigInt(Math.round(basisPoints)))) / BASIS_POINTS;
  return floorToStep(moved as Price, tick);
}
