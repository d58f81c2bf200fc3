// Closes a futures strategy permanently: cancels orders and legs, and closes every position at the market's
// price, in one decision and so one commit.
// A position whose market is silent or halted cannot be closed honestly now. The strategy is then CLOSING,
// which permits no writes, and the same command closes it later; until then the position continues, funding
// and liquidation included. One whose contract was delisted has no market to wait for and is settled.
// Source: specification 3.3; design, section 6 (strategy close).
import type { Position } from "../../domain/account.ts";
import { closingSide } from "../../domain/account.ts";
import type { Delisted } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { floorToStep, least, magnitude, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { placed } from "../new-order.ts";
import { canceled, canceledLeg, endUnfilled } from "../release.ts";
import { bestOpposite } from "../trigger.ts";
import { type Contract, openContractOf } from "./contract.ts";
import { closingOrder, fillClosing } from "./fill.ts";
import { entryPriceOf } from "./margin.ts";
import { takeClosing, walkAtMarket } from "./strict.ts";

export function closeStrategy(draft: Draft, circumstances: Circumstances): Refusal | null {
  const { account } = draft;
  const { market, at } = circumstances;
  if (account.status === "CLOSED") return { refusal: "STRATEGY_CLOSED" };
  for (const order of account.openOrders.values()) draft.add(canceled(order, at));
  for (const leg of account.openLegs.values()) draft.add(canceledLeg(leg, "STRATEGY_CLOSED", at));
  for (const position of account.positions.values()) {
    const delisted = market.delisted(position.symbol);
    if (delisted !== null) {
      settle(draft, position, delisted, at);
      continue;
    }
    const contract = openContractOf(market, position.symbol);
    if (contract !== null && account.profile.strict !== null) {
      closeByWalk(draft, position, contract, circumstances);
      continue;
    }
    const quote = market.quote(position.symbol);
    const price = quote && bestOpposite(closingSide(position), quote);
    if (contract !== null && price !== null) close(draft, position, price, contract, circumstances);
  }
  if (draft.account.positions.size === 0) draft.add({ type: "StrategyClosed", at, postings: [] });
  else if (account.status === "LIVE") draft.add({ type: "StrategyClosing", at, postings: [] });
  return null;
}

/**
 * Ends a position in a contract that the exchange does not list any more: at the last mark price, or at the
 * entry price where none is known, without a fee. Under `strict` as well: without a book there is no receipt.
 */
function settle(draft: Draft, position: Position, { lastMark }: Delisted, at: number): void {
  const { account } = draft;
  const clientOrderId = `close#${account.nextOrderId}`;
  const quantity = magnitude(position.quantity);
  const order = closingOrder(account, position, { clientOrderId, type: "MARKET", quantity }, null, at);
  draft.add(placed(order));
  fillClosing(draft, order, null, { price: lastMark ?? entryPriceOf(position), quantity, feeRate: ZERO, at });
}

/** In as many orders as the exchange's largest one for the market's price makes necessary. */
function close(
  draft: Draft,
  { symbol }: Position,
  price: Price,
  contract: Contract,
  circumstances: Circumstances,
): void {
  const { at } = circumstances;
  const { takerFee: feeRate } = draft.account.profile;
  for (let position = draft.account.positions.get(symbol); position !== undefined; ) {
    const order = marketOrder(draft, position, contract, at);
    draft.add(placed(order));
    fillClosing(draft, order, contract, { price, quantity: order.quantity, feeRate, at });
    position = draft.account.positions.get(symbol);
  }
}

/** The same under `strict`: what the book does not have now is closed later. */
function closeByWalk(
  draft: Draft,
  { symbol }: Position,
  contract: Contract,
  circumstances: Circumstances,
): void {
  const { market, at } = circumstances;
  const book = market.book(symbol);
  const mark = market.markPrice(symbol);
  if (book === null || mark === null) return;
  for (let position = draft.account.positions.get(symbol); position !== undefined; ) {
    const order = marketOrder(draft, position, contract, at);
    const { takes, left } = walkAtMarket(draft.account, order, { book, mark }, contract, at);
    if (takes.length === 0) return;
    draft.add(placed(order));
    takeClosing(draft, order, { takes, left }, { book, at, cause: "WALK" }, contract, {
      feeRate: draft.account.profile.takerFee,
    });
    endUnfilled(draft, order.orderId, at);
    if (left > 0n) return;
    position = draft.account.positions.get(symbol);
  }
}

function marketOrder(draft: Draft, position: Position, contract: Contract, at: number): Order {
  const { account } = draft;
  const quantity = atMost(magnitude(position.quantity), contract);
  const terms = { clientOrderId: `close#${account.nextOrderId}`, type: "MARKET", quantity } as const;
  return closingOrder(account, position, terms, contract, at);
}

function atMost(quantity: Quantity, { marketLotSize }: Contract): Quantity {
  const largest = floorToStep(marketLotSize?.maxQuantity ?? ZERO, marketLotSize?.stepSize ?? ZERO);
  return largest === 0n ? quantity : least(quantity, largest);
}
