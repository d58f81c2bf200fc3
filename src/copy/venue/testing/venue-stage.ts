// A venue in the test's own process: a whole gateway of ours with real sockets and a real database, while its
// clock, its market and what its market reaches are the test's. Beside it, our own side of it: venues on the
// same clock.
import { randomUUID } from "node:crypto";
import pino from "pino";
import { botParts } from "../../../../test/support/bot-parts.ts";
import { type Credentials, newDirectory } from "../../../../test/support/gateway.ts";
import { contractRow, OwnContracts } from "../../../../test/support/own-contracts.ts";
import { createManualTime, type ManualTime } from "../../../concurrency/testing/manual-time.ts";
import { openDataDirectory } from "../../../config/data-directory.ts";
import { Desk } from "../../../desk/desk.ts";
import type { StrategyType } from "../../../domain/account.ts";
import { fillKey, legTriggerKey, triggerKey } from "../../../domain/command.ts";
import { STANDARD } from "../../../domain/fill-profile.ts";
import type { Order } from "../../../domain/order.ts";
import { createServer } from "../../../http/server.ts";
import { seedStrategies } from "../../../keys/seed.ts";
import type { MarketFeed } from "../../../market/client/feed.ts";
import type { UpstreamAnswer } from "../../../market/client/rest/rest.ts";
import { decimal, formatDecimal, type Price } from "../../../money/decimal.ts";
import { Budgets } from "../../../rate-limits/budgets.ts";
import type { Store } from "../../../store/store.ts";
import type { VenueClient, VenueOrder } from "../venue.ts";
import { createVenues, type Venues } from "../venues.ts";
import { OwnPairs } from "./own-pairs.ts";

export type VenueStage = AsyncDisposable & {
  readonly url: string;
  readonly time: ManualTime;
  readonly pairs: OwnPairs;
  readonly contracts: OwnContracts;
  readonly store: Store;
  /** The requests that the venue has received: those in flight, and all so far. */
  readonly requests: { readonly underWay: number; readonly all: number };
  /** Offset of the venue's clock to ours, ms. */
  setAhead(ms: number): void;
  seed(type: StrategyType): Promise<Credentials>;
  /** Our side; `through` is another origin that leads there. */
  readonly venues: Venues;
  client(type: StrategyType, strategy: Credentials, through?: string): VenueClient;
  /** Every order that the venue has of a strategy on a symbol. */
  orders(strategy: Credentials, symbol: string): Promise<readonly Order[]>;
  /** The market has triggered an open order, a waiting stop, or a leg. */
  fill(strategy: Credentials, orderId: string, seen: string): Promise<void>;
  trigger(strategy: Credentials, orderId: string, seen: string): Promise<void>;
  fire(strategy: Credentials, legId: string, seen: string): Promise<void>;
  /** A mark price has reached the liquidation price of a position. */
  liquidate(strategy: Credentials, symbol: string, seen: string): Promise<void>;
  /** Funding is settled at the market time of now. */
  settleFunding(strategy: Credentials, symbol: string, rate: string): Promise<void>;
};

export async function openVenueStage(): Promise<VenueStage> {
  const { store, master } = await openDataDirectory(newDirectory(), null);
  const log = pino({ level: "silent" });
  // In the middle of a minute, so that a test stays within one unless it wants to leave it.
  const time = createManualTime(Date.UTC(2026, 0, 1, 12, 0, 20));
  let aheadMs = 0;
  const wallNow = () => time.now() + aheadMs;
  const pairs = new OwnPairs(["BTCUSDT", "ETHUSDT"], () => time.now());
  const contracts = new MarkedContracts([contractRow("BTCUSDT"), contractRow("ETHUSDT")], time.now);
  const feeds = { SPOT: pairs as unknown as MarketFeed, FUTURES: contracts as unknown as MarketFeed };
  const onStoreFailure = (error: unknown) => {
    throw error;
  };
  const parts = { store, markets: feeds, profiles: STANDARD };
  const desk = new Desk({ ...parts, onStoreFailure, log });
  const server = createServer(
    {
      ...parts,
      desk,
      master,
      budgets: new Budgets(),
      ...botParts({ desk, store, market: feeds.SPOT, wallNow }),
      wallNow,
      newClientOrderId: randomUUID,
    },
    { log },
  );
  const requests = { underWay: 0, all: 0 };
  server.server.on("request", (_, outgoing) => {
    requests.underWay += 1;
    requests.all += 1;
    outgoing.once("close", () => {
      requests.underWay -= 1;
    });
  });
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  const venues = createVenues({ wallNow: time.now, after: time.after, log });
  const seenAt = (seen: string) => ({ seen: decimal<Price>(seen), seenAt: time.now() });
  return {
    url,
    time,
    pairs,
    contracts,
    store,
    requests,
    setAhead(ms) {
      aheadMs = ms;
    },
    async seed(type) {
      const [seeded] = await seedStrategies(store, master, [type], wallNow(), {
        marketNow: feeds[type].now(),
      });
      if (seeded === undefined) throw new Error("one strategy was asked for");
      return seeded;
    },
    venues,
    client: (type, strategy, through = url) =>
      venues.venue(through, type).account(strategy.strategyId, strategy),
    orders: ({ strategyId }, symbol) =>
      store.listOrders(strategyId, {
        symbol,
        fromOrderId: undefined,
        startTime: undefined,
        endTime: undefined,
        limit: 1_000,
      }),
    async fill({ strategyId }, orderId, seen) {
      const command = { type: "FillRestingOrder", orderId: Number(orderId), ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, { key: fillKey(command.orderId) });
    },
    async trigger({ strategyId }, orderId, seen) {
      const command = { type: "TriggerStop", orderId: Number(orderId), ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, { key: triggerKey(command.orderId) });
    },
    async fire({ strategyId }, legId, seen) {
      const command = { type: "TriggerLeg", legId: Number(legId), ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, { key: legTriggerKey(command.legId) });
    },
    async liquidate({ strategyId }, symbol, seen) {
      const command = { type: "LiquidatePosition", symbol, ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, {});
    },
    async settleFunding({ strategyId }, symbol, rate) {
      const settlement = contracts.settlement(symbol, rate);
      await desk.execute(strategyId, { type: "SettleFunding", settlement }, {});
    },
    async [Symbol.asyncDispose]() {
      await venues.close();
      await server.close();
      await desk.drain();
      await store.close();
    },
  };
}

/** Contracts whose mark prices can be requested. */
class MarkedContracts extends OwnContracts {
  readonly query = async (): Promise<UpstreamAnswer> => {
    const rows = [...this.exchangeInfo().symbols.keys()].flatMap((symbol) => {
      const mark = this.lastMarkPrice(symbol);
      return mark === null ? [] : [{ symbol, markPrice: formatDecimal(mark) }];
    });
    return { unavailable: false, status: 200, text: JSON.stringify(rows) };
  };
}

/** An order with what it does not say left empty. */
export function order(said: Partial<VenueOrder> & Pick<VenueOrder, "type" | "clientOrderId">): VenueOrder {
  return {
    symbol: "BTCUSDT",
    side: "BUY",
    quantity: decimal("0.001"),
    price: decimal("0"),
    stopPrice: decimal("0"),
    reduceOnly: false,
    ...said,
  };
}
