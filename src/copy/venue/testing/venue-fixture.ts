// A venue in the test's own process: a whole gateway of ours with real sockets and a real database, while its
// clock, its market and what its market reaches are the test's. Beside it, our own side of it: venues on the
// same clock.
import type { Logger } from "pino";
import { contractRow, OwnContracts } from "../../../../test/support/own-contracts.ts";
import type { Credentials } from "../../../../test/support/servers/gateway.ts";
import { openOwnGateway } from "../../../../test/support/servers/own-gateway.ts";
import { createManualTime, type ManualTime } from "../../../concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../../domain/account.ts";
import { fillKey, legTriggerKey, type MatchTrade, triggerKey } from "../../../domain/command.ts";
import type { FillProfile } from "../../../domain/fill-profile.ts";
import type { Order } from "../../../domain/order.ts";
import type { Gateway } from "../../../http/pipeline.ts";
import { type GatewayServer, ROUTES } from "../../../http/server.ts";
import { KeyChecks } from "../../../keys/key-checks.ts";
import type { MarketFeed } from "../../../market/client/feed.ts";
import type { UpstreamAnswer } from "../../../market/client/rest/rest.ts";
import { decimal, formatDecimal, type Price } from "../../../money/decimal.ts";
import { ConnectionBound } from "../../../rate-limits/connections.ts";
import { ListenKeys } from "../../../sockets/listen-keys.ts";
import { createPrivateEndpoint } from "../../../sockets/private-streams.ts";
import { isWebSocketUpgrade, Sockets } from "../../../sockets/server.ts";
import { UserStreams, type UserStreamsParts } from "../../../sockets/user-streams.ts";
import { createWsApi } from "../../../sockets/ws-api.ts";
import type { VenueClient, VenueOrder } from "../venue.ts";
import { createVenues } from "../venues.ts";
import { OwnPairs } from "./own-pairs.ts";

export type VenueFixture = Awaited<ReturnType<typeof openVenueFixture>>;

/** `hasSockets`: it serves user data streams. */
export async function openVenueFixture({ hasSockets = false }: { readonly hasSockets?: boolean } = {}) {
  // In the middle of a minute, so that a test stays within one unless it wants to leave it.
  const time = createManualTime(Date.UTC(2026, 0, 1, 12, 0, 20));
  let aheadMs = 0;
  const wallNow = () => time.now() + aheadMs;
  const pairs = new OwnPairs(["BTCUSDT", "ETHUSDT"], () => time.now());
  const contracts = new MarkedContracts([contractRow("BTCUSDT"), contractRow("ETHUSDT")], time.now);
  const feeds = { SPOT: pairs as unknown as MarketFeed, FUTURES: contracts as unknown as MarketFeed };
  const own = await openOwnGateway(feeds, wallNow);
  const { store, desk } = own.gateway;
  const { server, url } = await own.serve(hasSockets ? { isUpgrade: isWebSocketUpgrade } : {});
  const closeSockets = hasSockets ? serveUserStreams(own.gateway, { server, time, log: own.log }) : null;
  const requests = { underWay: 0, all: 0 };
  server.server.on("request", (_, outgoing) => {
    requests.underWay += 1;
    requests.all += 1;
    outgoing.once("close", () => {
      requests.underWay -= 1;
    });
  });
  const venues = createVenues({ wallNow: time.now, after: time.after, log: own.log });
  const seenAt = (seen: string) => ({ seen: decimal<Price>(seen), seenAt: time.now() });
  return {
    url,
    time,
    pairs,
    contracts,
    store,
    /** The requests that the venue has received: those in flight, and all so far. */
    requests: requests as { readonly underWay: number; readonly all: number },
    /** Offset of the venue's clock to ours, ms. */
    setAhead(ms: number): void {
      aheadMs = ms;
    },
    seed: (type: StrategyType, profile?: FillProfile): Promise<Credentials> => own.seed(type, profile),
    /** Our side; `through` is another origin that leads there. */
    venues,
    client: (type: StrategyType, strategy: Credentials, through = url): VenueClient =>
      venues.venue(through, type).account(strategy.strategyId, strategy),
    /** Every order that the venue has of a strategy on a symbol. */
    orders: ({ strategyId }: Credentials, symbol: string): Promise<readonly Order[]> =>
      store.listOrders(strategyId, {
        symbol,
        fromOrderId: undefined,
        startTime: undefined,
        endTime: undefined,
        limit: 1_000,
      }),
    /** The market has triggered an open order, a waiting stop, or a leg. */
    async fill({ strategyId }: Credentials, orderId: string, seen: string): Promise<void> {
      const command = { type: "FillRestingOrder", orderId: Number(orderId), ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, { key: fillKey(command.orderId) });
    },
    /** A trade of the market fills open orders of an account under `strict`. */
    async match({ strategyId }: Credentials, command: MatchTrade): Promise<void> {
      await desk.execute(strategyId, command, {});
    },
    async trigger({ strategyId }: Credentials, orderId: string, seen: string): Promise<void> {
      const command = { type: "TriggerStop", orderId: Number(orderId), ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, { key: triggerKey(command.orderId) });
    },
    async fire({ strategyId }: Credentials, legId: string, seen: string): Promise<void> {
      const command = { type: "TriggerLeg", legId: Number(legId), ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, { key: legTriggerKey(command.legId) });
    },
    /** A mark price has reached the liquidation price of a position. */
    async liquidate({ strategyId }: Credentials, symbol: string, seen: string): Promise<void> {
      const command = { type: "LiquidatePosition", symbol, ...seenAt(seen) } as const;
      await desk.execute(strategyId, command, {});
    },
    /** Funding is settled at the market time of now. */
    async settleFunding({ strategyId }: Credentials, symbol: string, rate: string): Promise<void> {
      const settlement = contracts.settlement(symbol, rate);
      await desk.execute(strategyId, { type: "SettleFunding", settlement }, {});
    },
    async [Symbol.asyncDispose]() {
      await venues.close();
      await closeSockets?.();
      await server.close();
      await own.close();
    },
  };
}

/** User data streams of a gateway, as the service serves them; returns what closes them. */
function serveUserStreams(
  gateway: Gateway,
  { server, time, log }: { readonly server: GatewayServer; readonly time: ManualTime; readonly log: Logger },
): () => Promise<void> {
  const { store, desk, markets, wallNow, budgets } = gateway;
  const marked = markets as unknown as UserStreamsParts["markets"];
  const userStreams = new UserStreams({
    ...{ store, desk, markets: marked, isShared: false, timers: time, wallNow, log },
  });
  const keyChecks = new KeyChecks({ store, every: time.every, log });
  const listenKeys = new ListenKeys({ store, userStreams, keyChecks, every: time.every, wallNow, log });
  const sockets = new Sockets({
    server: server.server,
    endpoints: [
      createPrivateEndpoint({ listenKeys, timers: time, log }),
      ...createWsApi({ gateway, routes: ROUTES, userStreams, keyChecks, log }),
    ],
    addressOf: () => "127.0.0.1",
    perAddress: new ConnectionBound(1_000),
    ...{ budgets, wallNow, timers: time, log },
  });
  return async () => {
    await sockets.close();
    await listenKeys.close();
    await userStreams.close();
    await keyChecks.close();
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
