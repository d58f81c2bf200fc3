// What closing a strategy would do now: the engine's own decision, which is then dropped. Nothing is changed,
// and nothing is computed a second way.
import type { z } from "zod";
import { prepare } from "../../desk/desk.ts";
import type { Account } from "../../domain/account.ts";
import { closingSide } from "../../domain/account.ts";
import type { DomainEvent } from "../../domain/event.ts";
import type { Side } from "../../domain/order.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { apply } from "../../engine/apply.ts";
import { decide } from "../../engine/decide.ts";
import { seedOf } from "../../engine/open-strategy.ts";
import { type Holding, sellableHoldings } from "../../engine/spot/close-strategy.ts";
import type { Ports } from "../../http/pipeline.ts";
import {
  type Amount,
  add,
  asAmount,
  magnitude,
  proceedsDown,
  type Quantity,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";
import { DashboardError } from "../errors.ts";
import type { LastPrices } from "../last-prices.ts";
import { type closePreviewSchema, legAnswer, orderAnswer } from "../schemas/trading.ts";
import { priceOfAsset } from "../valuation.ts";

const CLOSE = { type: "CloseStrategy" } as const;

type ClosePreview = z.output<typeof closePreviewSchema>;
type Parts = { readonly gateway: Ports; readonly prices: LastPrices };

/**
 * `confirmation` is the text that confirms it. Throws STATE_CHANGED if there is nothing left to be closed.
 */
export async function previewClose(
  account: Account,
  confirmation: string,
  parts: Parts,
): Promise<ClosePreview> {
  const { strategyId, type } = account;
  const market = parts.gateway.markets[type];
  await prepare(market, account, CLOSE);
  const circumstances = { market, at: market.now() };
  const decision = decide(account, CLOSE, circumstances);
  if (isRefusal(decision)) throw new DashboardError("STATE_CHANGED", { message: "The strategy is closed." });
  const { events } = decision;
  const cancelled = [...account.openOrders.values()].map((order) => orderAnswer(strategyId, order));
  const legs = [...account.openLegs.values()].map(legAnswer);
  // The account is a copy of our own: it was loaded for this.
  for (const event of events) apply(account, event);
  const isClosed = events.some((event) => event.type === "StrategyClosed");
  const unsold = isClosed || type === "FUTURES" ? [] : sellableHoldings(account, market);
  const waiting = isClosed ? [] : waitingParts(account, unsold);
  return {
    confirmation,
    cancelled,
    legs,
    sold: [...salesOf(events), ...waiting],
    dust: await dustOf(account, unsold, parts),
    waitingFor: waiting.map(({ symbol }) => symbol),
  };
}

type Sale = ClosePreview["sold"][number];

/**
 * The sales that would be made, one row a symbol, and what each brings in the quote asset. Of a position that
 * is what it gains, since its price was never paid.
 */
function salesOf(events: readonly DomainEvent[]): readonly Sale[] {
  const sales = new Map<string, { side: Side; quantity: Quantity; brings: Amount }>();
  for (const event of events) {
    if (event.type !== "OrderFilled") continue;
    const { symbol, side, quantity, quoteQuantity, fee, realizedPnl } = event.trade;
    // On spot only the quote asset itself is bought.
    const received = side === "BUY" ? asAmount(quantity) : quoteQuantity;
    const before = sales.get(symbol) ?? { side, quantity: ZERO, brings: ZERO };
    sales.set(symbol, {
      side,
      quantity: add(before.quantity, quantity),
      brings: add(before.brings, subtract(realizedPnl ?? received, fee)),
    });
  }
  return [...sales].map(([symbol, sale]) => ({ symbol, ...sale }));
}

/** Sales that wait for market data, without a price. */
function waitingParts(account: Account, unsold: readonly Holding[]): readonly Sale[] {
  if (account.type === "FUTURES") {
    return [...account.positions.values()].map((position) => ({
      symbol: position.symbol,
      side: closingSide(position),
      quantity: magnitude(position.quantity),
      brings: null,
    }));
  }
  return unsold.map(({ rules: { symbol }, side, quantity }) => ({
    symbol,
    side,
    quantity: quantity ?? ZERO,
    brings: null,
  }));
}

async function dustOf(
  account: Account,
  unsold: readonly Holding[],
  { gateway, prices }: Parts,
): Promise<ClosePreview["dust"]> {
  const { asset: quoteAsset } = seedOf(account.type);
  const rows: ClosePreview["dust"][number][] = [];
  for (const asset of account.balances.keys()) {
    if (asset === quoteAsset) continue;
    const later = unsold.find((holding) => holding.asset === asset)?.amount ?? ZERO;
    const quantity = subtract(ownedOf(account.balances, asset), later) as bigint as Quantity;
    if (quantity === 0n) continue;
    const known = await priceOfAsset(account, asset, { prices, store: gateway.store });
    rows.push({ asset, quantity, value: known === null ? null : proceedsDown(known.price, quantity) });
  }
  return rows;
}
