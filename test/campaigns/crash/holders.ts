// Strategies that have held a position for a while: opened by the engine, at a time before the test.
import { placementKey } from "../../../src/domain/command.ts";
import { isRefusal } from "../../../src/domain/refusal.ts";
import { apply } from "../../../src/engine/apply.ts";
import { decide } from "../../../src/engine/decide.ts";
import { openStrategy } from "../../../src/engine/open-strategy.ts";
import { contractRules } from "../../../src/engine/testing/contract-rules.ts";
import { MarketStub } from "../../../src/engine/testing/market-stub.ts";
import type { MasterKey } from "../../../src/keys/master-key.ts";
import { seedStrategies } from "../../../src/keys/seed.ts";
import { decimal } from "../../../src/money/decimal.ts";
import type { Commit } from "../../../src/store/ports/trading.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Credentials } from "../../support/servers/gateway.ts";

/** What each of them holds of the contract that is traded here. */
export const HELD = "1000";

const UNFILTERED = {
  priceFilter: null,
  lotSize: null,
  marketLotSize: null,
  notional: null,
  percentPrice: null,
};

/** Makes so many strategies that bought at a price and a time (Unix ms), without a leg. */
export async function makeHolders(
  store: Store,
  master: MasterKey,
  { count, price, at }: { readonly count: number; readonly price: string; readonly at: number },
): Promise<Credentials[]> {
  const seeded = await seedStrategies(
    store,
    master,
    Array.from({ length: count }, () => "FUTURES" as const),
    at,
  );
  const bought = seeded.map(({ strategyId }) => purchaseOf(strategyId, price, at));
  const outcomes = await store.commit(bought);
  if (outcomes.some((outcome) => outcome !== "COMMITTED"))
    throw new Error("nobody else moves new strategies");
  return seeded;
}

/** What a new strategy has bought with a part of its seed. */
function purchaseOf(strategyId: string, price: string, at: number): Commit {
  const contract = contractRules("DOGE", UNFILTERED);
  const market = new MarketStub([contract]);
  market.setQuote(contract.symbol, { bid: decimal(price), ask: decimal(price) });
  market.setMarkPrice(contract.symbol, decimal(price));
  const { account } = openStrategy(strategyId, "FUTURES", at);
  const decision = decide(
    account,
    {
      type: "PlaceOrder",
      symbol: contract.symbol,
      side: "BUY",
      orderType: "MARKET",
      size: { quantity: decimal(HELD) },
      price: null,
      stopPrice: null,
      clientOrderId: "held",
    },
    { market, at },
  );
  if (isRefusal(decision)) throw new Error(`a position can be bought, and is not: ${decision.refusal}`);
  const { events } = decision;
  const applied = events.map((event) => apply(account, event));
  const order = applied.findLast((each) => each.order !== null)?.order;
  if (order == null) throw new Error("a purchase has an order");
  return {
    account,
    entry: { version: 2, key: placementKey("held"), at, events },
    orders: [order],
    trades: events.flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : [])),
    legs: [],
    incomes: applied.flatMap((each) => each.incomes),
    signals: [],
  };
}
