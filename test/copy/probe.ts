// The price at which a gateway trades: a strategy made for this buys something. The public routes show
// upstream's prices, which the engine may not have received yet.
import type { StrategyType } from "../../src/domain/account.ts";
import { PATHS } from "../campaigns/harness/routes.ts";
import { eventually } from "../support/eventually.ts";
import type { GatewayProcess } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import { type Books, newVenueAccounts } from "./actors.ts";

/** Within the budget of orders. */
const AGAIN_MS = 250;

/** What is bought: a little more than the least that may be. */
const SIZES: Readonly<Record<string, string>> = {
  BTCUSDT: "0.002",
  ETHUSDT: "0.02",
  DOGEUSDT: "100",
  ADAUSDT: "20",
};

/** Resolves when a gateway buys a symbol at its ask, and a contract's mark price is what it should be. */
export async function tradesAt(
  { gateway, ...books }: Books & { readonly gateway: GatewayProcess },
  type: StrategyType,
  symbol: string,
  { bid, ask, mark = bid }: { readonly bid: string; readonly ask: string; readonly mark?: string },
): Promise<void> {
  const quantity = SIZES[symbol];
  if (quantity === undefined) throw new Error(`${symbol} can be bought`);
  const order = { symbol, side: "BUY", type: "MARKET", quantity };
  let [prober] = await newVenueAccounts(books, type, 1);
  const isSeen = async () => {
    if (prober === undefined) throw new Error("an account was made");
    const placed = await signed(gateway.url, prober, "POST", PATHS[type].order, order);
    if (placed.status !== 200) {
      // The account may lack funds by now.
      [prober] = await newVenueAccounts(books, type, 1);
      return false;
    }
    const { body } = placed;
    const paid = Number(body.cummulativeQuoteQty ?? body.cumQuote) / Number(body.executedQty);
    if (Math.abs(paid - Number(ask)) > PRECISION * Number(ask)) return false;
    if (type === "SPOT") return true;
    const risk = await signed(gateway.url, prober, "GET", "/fapi/v3/positionRisk", { symbol });
    return Number(risk.body[0]?.markPrice) === Number(mark);
  };
  await eventually(`${symbol} costs ${ask} at ${gateway.url}`, isSeen, { askAgainMs: AGAIN_MS });
}

/** Amounts are rounded. */
const PRECISION = 1e-6;
