// Fills a futures order: its closing part is settled, its opening part is paid into the position's wallet.
// Closing releases the wallet in proportion to the quantity; its fee comes from the free balance. Opening
// moves initial margin and the open loss against the mark price from the free balance into the wallet, which
// pays its fee. Invariants: an isolated position never costs more than its wallet, and the insurance fund
// pays any further loss (decision 23); nothing is opened that the mark price would liquidate at once.
// Source: design, section 6 (futures margin); reference exchange, sections 14 and 15.9.
import { type Account, closingSide, type Position } from "../../domain/account.ts";
import type { OrderFilled } from "../../domain/event.ts";
import type { Order, Side } from "../../domain/order.ts";
import {
  type Amount,
  add,
  amountDown,
  feeOn,
  least,
  magnitude,
  type Price,
  type Product,
  proceedsDown,
  product,
  type Quantity,
  type Rate,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { freeOf, type LedgerAccount, type Posting } from "../../money/posting.ts";
import type { Draft } from "../draft.ts";
import type { Evidence } from "../matching/evidence.ts";
import { ownOrder } from "../new-order.ts";
import { isTriggeredBy, liquidationTrigger } from "../trigger.ts";
import { type Contract, marginAssetOf } from "./contract.ts";
import { gain, initialMargin, leverageOf, liquidationPrice, openLoss } from "./margin.ts";

export type FillTerms = {
  readonly price: Price;
  /** As much of the order as is filled. */
  readonly quantity: Quantity;
  readonly isMaker: boolean;
  readonly feeRate: Rate;
  /** Of a liquidation: the share of the notional that the insurance fund takes of the remaining margin. */
  readonly clearanceRate?: Rate;
  /** Null is enough for what only closes. */
  readonly mark: Price | null;
  /** Under `strict`. */
  readonly evidence?: Evidence;
  /** Market time, Unix ms. */
  readonly at: number;
  /** When the market was there, if that was found out only afterwards. */
  readonly seenAt?: number | undefined;
};

/**
 * An order that the service places to close a position, or a part of it. The contract is null if it is not
 * listed any more.
 */
export function closingOrder(
  { profile, nextOrderId }: Account,
  position: Position,
  terms: Pick<Order, "clientOrderId" | "type" | "quantity">,
  contract: Contract | null,
  at: number,
): Order {
  const order = {
    ...terms,
    orderId: nextOrderId,
    symbol: position.symbol,
    side: closingSide(position),
    reservedAsset: marginAssetOf(contract),
    at,
  };
  return { ...ownOrder(profile, order), reduceOnly: true };
}

/**
 * The fill of an order that is open, or null if what it opens cannot be paid for, or not be held with what is
 * paid. A contract that is not listed any more is null: nothing is opened in it.
 */
export function fillOf(
  account: Account,
  order: Order,
  contract: Contract | null,
  terms: FillTerms,
): OrderFilled | null {
  const { price, quantity, isMaker, feeRate, at, seenAt = at } = terms;
  const { symbol, side } = order;
  const marginAsset = marginAssetOf(contract);
  const wallets = new Wallets(account, marginAsset);
  wallets.move("locked", "free", order.reserved);

  const held = account.positions.get(symbol) ?? null;
  const closed = closingPart(held, side, quantity);
  const opened = subtract(quantity, closed);
  const fee = feeOn(product(price, quantity), feeRate);
  const closingFee = feeOn(product(price, closed), feeRate);
  const openingFee = subtract(fee, closingFee);

  const closing = held === null || closed === 0n ? null : close(held, closed, price, closingFee, wallets);
  if (closing !== null && terms.clearanceRate !== undefined) {
    wallets.move(
      "free",
      "clearance",
      least(closing.margin, feeOn(product(price, closed), terms.clearanceRate)),
    );
  }
  const kept = closing === null ? held : closing.position;
  const mark = terms.mark ?? price;
  let position = kept;
  if (opened > 0n) {
    if (contract === null) return null;
    const leverage = leverageOf(account, symbol, contract.contract);
    position = open(
      kept,
      { symbol, side, price, quantity: opened, fee: openingFee, leverage, mark, at: seenAt },
      wallets,
    );
    if (position === null || endsAt(position, mark, contract)) return null;
  }
  const { evidence } = terms;

  return {
    type: "OrderFilled",
    at,
    trade: {
      tradeId: account.nextTradeId,
      orderId: order.orderId,
      symbol,
      side,
      price,
      quantity,
      quoteQuantity: proceedsDown(price, quantity),
      fee,
      feeAsset: marginAsset,
      isMaker,
      at,
      realizedPnl: closing?.realized ?? ZERO,
      ...(evidence !== undefined && { receipt: evidence.receipt }),
    },
    position: position === null ? null : { ...position, updatedAt: at },
    ...(seenAt === at ? {} : { heldFrom: seenAt }),
    ...(evidence?.consumed != null && { consumed: evidence.consumed }),
    postings: wallets.postings,
  };
}

/** Fills an order that only closes, as taker: that can always be paid for. */
export function fillClosing(
  draft: Draft,
  order: Order,
  contract: Contract | null,
  terms: Omit<FillTerms, "isMaker" | "mark">,
): void {
  const filled = fillOf(draft.account, order, contract, { ...terms, isMaker: false, mark: null });
  if (filled === null) throw new Error("what only closes can always be paid for");
  draft.add(filled);
}

/** Whether a mark price liquidates a position. */
function endsAt(position: Position, mark: Price, { contract }: Contract): boolean {
  const liquidation = liquidationPrice(position, contract);
  return liquidation !== null && isTriggeredBy(liquidationTrigger(position, liquidation), mark);
}

/** The closing part of an order's quantity. */
export function closingPart(held: Position | null, side: Side, quantity: Quantity): Quantity {
  if (held === null || held.quantity > 0n === (side === "BUY")) return ZERO;
  return least(quantity, magnitude(held.quantity));
}

type Closed = {
  /** The remaining position, null for none. */
  readonly position: Position | null;
  readonly realized: Amount;
  /** The margin of what was closed: the wallet that was released with the gain, or without the loss. */
  readonly margin: Amount;
};

function close(held: Position, closed: Quantity, price: Price, fee: Amount, wallets: Wallets): Closed {
  const size = magnitude(held.quantity);
  const isWhole = closed === size;
  const entryShare = isWhole ? held.entryValue : (((held.entryValue * closed) / size) as Product);
  const released = isWhole ? held.isolatedWallet : (((held.isolatedWallet * closed) / size) as Amount);
  const signedClosed = (held.quantity > 0n ? closed : -closed) as Quantity;
  const realized = amountDown(gain(signedClosed, entryShare, price));

  const loss = realized < 0n ? (-realized as Amount) : (ZERO as Amount);
  const gained = realized > 0n ? realized : (ZERO as Amount);
  const covered = least(loss, released);
  wallets.move("isolated", "market", covered);
  wallets.move("clearance", "market", subtract(loss, covered));
  const left = subtract(released, covered);
  wallets.move("isolated", "free", left);
  wallets.move("market", "free", gained);
  const paid = least(fee, wallets.free);
  wallets.move("free", "fees", paid);
  wallets.move("clearance", "fees", subtract(fee, paid));

  const position = isWhole
    ? null
    : {
        ...held,
        quantity: subtract(held.quantity, signedClosed),
        entryValue: (held.entryValue - entryShare) as Product,
        isolatedWallet: subtract(held.isolatedWallet, released),
        burden: subtract(add(held.burden, fee), realized),
      };
  return { position, realized, margin: add(left, gained) };
}

type Opening = {
  readonly symbol: string;
  readonly side: Side;
  readonly price: Price;
  readonly quantity: Quantity;
  readonly fee: Amount;
  readonly leverage: number;
  readonly mark: Price;
  readonly at: number;
};

/** The position with the opening, or null if it cannot be paid for. */
function open(held: Position | null, opening: Opening, wallets: Wallets): Position | null {
  const { symbol, side, price, quantity, fee, leverage, mark, at } = opening;
  const margin = add(initialMargin(price, quantity, leverage), openLoss(side, price, quantity, mark));
  if (margin > wallets.free) return null;
  wallets.move("free", "isolated", margin);
  wallets.move("isolated", "fees", fee);
  const signed = (side === "BUY" ? quantity : -quantity) as Quantity;
  const before = held ?? {
    quantity: ZERO,
    entryValue: ZERO,
    isolatedWallet: ZERO,
    burden: ZERO,
    openedAt: at,
  };
  return {
    symbol,
    quantity: add(before.quantity, signed),
    entryValue: (before.entryValue + product(price, quantity)) as Product,
    isolatedWallet: subtract(add(before.isolatedWallet, margin), fee),
    burden: add(before.burden, fee),
    openedAt: before.openedAt,
    updatedAt: at,
  };
}

/** The postings of one fill, and what is free after those so far. */
class Wallets {
  readonly postings: Posting[] = [];
  readonly #asset: string;
  #free: Amount;

  constructor({ balances }: Account, asset: string) {
    this.#asset = asset;
    this.#free = freeOf(balances, asset);
  }

  get free(): Amount {
    return this.#free;
  }

  move(from: LedgerAccount, to: LedgerAccount, amount: Amount): void {
    if (amount === 0n) return;
    this.postings.push({ from, to, asset: this.#asset, amount });
    if (from === "free") this.#free = subtract(this.#free, amount);
    if (to === "free") this.#free = add(this.#free, amount);
  }
}
