// A futures bot that the test controls: a client, its placements so far, and the expected books.
// Whatever the market does, the digits follow: fees, profits and the position from the fills, the wallet from
// the incomes, the locked amount from the open orders.
import { expect } from "vitest";
import { decimalText, signedUnits, units } from "../support/exact.ts";
import { type FuturesClient, type NewContractOrder, type NewLeg, SYMBOL, type Told } from "./client.ts";
import { percentOf, sumsOf } from "./contract-sums.ts";

const NOTHING = "0.00000000";

export function futuresBot(client: FuturesClient) {
  /** Every order so far, as the history should show it. */
  const story = new Map<number, string>();
  return { story, place, trade, restingBuy, markPrice, placeLeg, expectBooks };

  async function place(order: NewContractOrder): Promise<Told> {
    const placed = await client.place(order);
    expect(placed).toMatchObject({
      symbol: SYMBOL,
      side: order.side,
      positionSide: "BOTH",
      type: order.type,
      origType: order.type,
      timeInForce: "GTC",
      price: order.price ?? "0.00",
      origQty: order.quantity,
      reduceOnly: order.reduceOnly ?? false,
      closePosition: false,
    });
    story.set(placed.orderId, placed.status);
    return placed;
  }

  /** An order that is filled at once, and its fill. */
  async function trade(order: Omit<NewContractOrder, "type">): Promise<Told> {
    const placed = await place({ ...order, type: "MARKET" });
    const fill = (await client.trades()).at(-1);
    expect(fill).toMatchObject({
      orderId: placed.orderId,
      side: order.side,
      qty: order.quantity,
      maker: false,
    });
    expect(placed).toMatchObject({
      status: "FILLED",
      executedQty: order.quantity,
      avgPrice: fill.price,
      cumQuote: fill.quoteQty,
    });
    return fill;
  }

  async function restingBuy(quantity: string): Promise<Told> {
    const { askPrice } = await client.bookTicker();
    return await place({ side: "BUY", type: "LIMIT", quantity, price: percentOf(askPrice, 60n) });
  }

  async function markPrice(): Promise<string> {
    return (await client.premium()).markPrice;
  }

  async function placeLeg(leg: NewLeg): Promise<Told> {
    const placed = await client.placeLeg(leg);
    expect(placed).toMatchObject({
      symbol: SYMBOL,
      side: leg.side,
      positionSide: "BOTH",
      algoType: "CONDITIONAL",
      orderType: leg.type,
      algoStatus: "NEW",
      triggerPrice: leg.triggerPrice,
      closePosition: true,
      actualOrderId: "",
    });
    return placed;
  }

  /** The account and its incomes of one moment: a settlement between the two requires another read. */
  async function accountAndIncomes(): Promise<{ account: Told; incomes: Told[] }> {
    const account = await client.account();
    const incomes = await client.incomes();
    const { totalWalletBalance } = await client.account();
    const isOfOneMoment = totalWalletBalance === account.totalWalletBalance;
    return isOfOneMoment ? { account, incomes } : await accountAndIncomes();
  }

  /** Everything that follows from the fills, with this amount locked for open orders. */
  async function expectBooks(locked = 0n): Promise<void> {
    const fills: Told[] = await client.trades();
    const { rows, held, entryPrice } = sumsOf(fills);
    expect(fills.map(({ quoteQty }) => units(quoteQty))).toEqual(
      rows.map(({ quoteQty }) => quoteQty / 10n ** 8n),
    );
    expect(fills).toMatchObject(rows.map(({ commission, realizedPnl }) => ({ commission, realizedPnl })));

    const [position] = await client.positions();
    expect(position?.positionAmt ?? "0.000").toBe(decimalText(held).slice(0, -5));
    expect(units(position?.entryPrice ?? "0")).toBe(entryPrice);

    const { account, incomes } = await accountAndIncomes();
    const ofTrades = (incomeType: string) =>
      incomes
        .filter((income) => income.incomeType === incomeType)
        .map(({ tradeId, income }) => ({ tradeId, income }));
    expect(ofTrades("COMMISSION")).toEqual(
      fills.map(({ id, commission }) => ({ tradeId: String(id), income: `-${commission}` })),
    );
    expect(ofTrades("REALIZED_PNL")).toEqual(
      fills
        .filter(({ realizedPnl }) => realizedPnl !== NOTHING)
        .map(({ id, realizedPnl }) => ({ tradeId: String(id), income: realizedPnl })),
    );
    const wallet = incomes.reduce<bigint>((sum, { income }) => sum + signedUnits(income), 0n);
    const positions: Told[] = account.positions;
    const isolated = positions.reduce<bigint>((sum, { isolatedWallet }) => sum + units(isolatedWallet), 0n);
    expect(account).toMatchObject({
      totalWalletBalance: decimalText(wallet),
      availableBalance: decimalText(wallet - isolated - locked),
      totalOpenOrderInitialMargin: decimalText(locked),
    });
  }
}
