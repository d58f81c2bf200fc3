// What of the walks depends on the fill profile: terms, listings, how large books and trades are, and times
// in force.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import {
  type FillProfile,
  type FillProfileName,
  QUEUE_MODELS,
  STANDARD,
} from "../../../src/domain/fill-profile.ts";
import type { MarketTrade } from "../../../src/domain/market.ts";
import { type Order, SPOT_ORDER_TYPES } from "../../../src/domain/order.ts";
import { MINUTE_MS } from "../../../src/domain/order-counts.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../../src/engine/matching/terms.ts";
import { restingSide } from "../../../src/engine/matching/walk.ts";
import { type Price, type Quantity, SCALE } from "../../../src/money/decimal.ts";
import { happens, pick } from "./chance.ts";
import type { Listing } from "./random/market.ts";
import type { WalkSetup } from "./setups.ts";

/** The smallest levels of a book, in whole units of the quote asset: a part of what a strategy places. */
export const LEVEL_WORTH = { SPOT: 10n, FUTURES: 300n } as const satisfies {
  readonly [T in StrategyType]: bigint;
};
/**
 * Steps of the walk are minutes apart, so what was consumed is gone for longer than it may be on a server.
 */
const REFRESH_MS_MAX = 60 * MINUTE_MS;

/** Without a latency: the clock of a walk does not move while a command is on its way. */
export function profileOf({ type }: WalkSetup, name: FillProfileName, random: () => number): FillProfile {
  if (name === "standard") return STANDARD[type];
  const queue = pick(random, QUEUE_MODELS) ?? STRICT_DEFAULTS.queue;
  const refreshMs = Math.floor(random() * REFRESH_MS_MAX);
  return strictProfile(type, { ...STRICT_DEFAULTS, latency: 0, queue, refreshMs }) ?? STANDARD[type];
}

/** Pairs take post-only orders where those are served. */
export function listingFor(profile: FillProfileName): (listing: Listing) => Listing {
  return (listing) =>
    profile === "standard" || listing.rules.contract !== null
      ? listing
      : { ...listing, rules: { ...listing.rules, orderTypes: [...SPOT_ORDER_TYPES, "LIMIT_MAKER"] } };
}

/** Under `strict` an order with a limit has any time in force. */
export function inForce(command: Command, { type }: WalkSetup, random: () => number): Command {
  if (command.type !== "PlaceOrder" || command.price === null) return command;
  const drawn = random();
  if (drawn < 0.6) return command;
  if (drawn < 0.75) return { ...command, timeInForce: "IOC" };
  if (drawn < 0.85) return { ...command, timeInForce: "FOK" };
  if (type === "FUTURES") return { ...command, timeInForce: "GTX" };
  return command.orderType === "LIMIT" ? { ...command, orderType: "LIMIT_MAKER" } : command;
}

/** A trade of the market: at its price, or at the limit of an order that waits. */
export function randomTrade(
  { type }: WalkSetup,
  marketPrice: Price,
  waiting: readonly Order[],
  random: () => number,
): Pick<MarketTrade, "price" | "quantity" | "side"> {
  const order = happens(random, 0.5) ? pick(random, waiting) : undefined;
  const price = order?.price ?? marketPrice;
  const side = order === undefined ? (happens(random, 0.5) ? "BID" : "ASK") : restingSide(order.side);
  const worth = LEVEL_WORTH[type] * SCALE * BigInt(Math.ceil(random() ** 3 * 20));
  return { price, quantity: ((worth * SCALE) / price) as Quantity, side };
}
