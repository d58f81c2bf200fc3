// A gateway with its sockets in the test's own process, on books that the test writes and that never change
// by themselves: what an order under `strict` takes of them is known to the digit. The books are those of the
// worked examples. Source: strict fills, section 15.
import { pino } from "pino";
import { systemTimers } from "../../src/concurrency/time.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import type { MarketTrade } from "../../src/domain/market.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import type { SymbolRules } from "../../src/domain/symbol.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { contractRules } from "../../src/engine/testing/contract-rules.ts";
import { MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import { ROUTES } from "../../src/http/server.ts";
import { KeyChecks } from "../../src/keys/key-checks.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import type { ExchangeInfoBody } from "../../src/market/client/rules/listings.ts";
import { perpetualExchangeInfo, spotExchangeInfo } from "../../src/market/simulated/exchange-info.ts";
import { decimal } from "../../src/money/decimal.ts";
import { ConnectionBound } from "../../src/rate-limits/connections.ts";
import { ListenKeys } from "../../src/sockets/listen-keys.ts";
import { createMarketEndpoints } from "../../src/sockets/market-streams.ts";
import { createPrivateEndpoint, listenKeyNames } from "../../src/sockets/private-streams.ts";
import { isWebSocketUpgrade, Sockets } from "../../src/sockets/server.ts";
import { UserStreams } from "../../src/sockets/user-streams.ts";
import { createWsApi } from "../../src/sockets/ws-api.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { openOwnGateway } from "../support/servers/own-gateway.ts";
import { SYMBOL, type Told } from "./client.ts";

const MARKET_TIME = Date.UTC(2026, 0, 1);

class FixedBook extends MarketStub {
  #tradeCount = 0;
  readonly exchangeInfo: () => ExchangeInfoBody;

  constructor(rules: SymbolRules, published: typeof spotExchangeInfo) {
    super([rules], () => MARKET_TIME);
    const { symbols, ...head } = published(MARKET_TIME, [SYMBOL]) as Told;
    const body = { head, symbols: new Map([[SYMBOL, symbols[0]]]), version: 1 };
    this.exchangeInfo = () => body;
  }

  /** A trade that took bids, after everything so far. */
  sell(price: string, quantity: string): MarketTrade {
    this.#tradeCount += 1;
    return {
      ...{ aggregateId: this.#tradeCount, price: decimal(price), quantity: decimal(quantity) },
      ...{ side: "BID", time: MARKET_TIME + this.#tradeCount },
    };
  }
}

const spotRules = symbolRules("BTC");

export type StrictFixture = Awaited<ReturnType<typeof openStrictFixture>>;

/** Starts a gateway of both types on fixed books; the caller closes it. */
export async function openStrictFixture() {
  const markets = {
    SPOT: new FixedBook(
      { ...spotRules, orderTypes: [...spotRules.orderTypes, "LIMIT_MAKER"] },
      spotExchangeInfo,
    ).showBook(
      SYMBOL,
      [
        ["60000", "0.0005"],
        ["60001", "0.0005"],
        ["60010", "0.001"],
        ["60100", "5"],
      ],
      [["59999.99", "1"]],
    ),
    FUTURES: new FixedBook(contractRules("BTC"), perpetualExchangeInfo).showBook(
      SYMBOL,
      [
        ["60000.1", "0.004"],
        ["60001", "0.004"],
        ["60010", "0.008"],
        ["60100", "1"],
      ],
      [["60000", "1"]],
    ),
  };
  const feeds = markets as unknown as Readonly<Record<StrategyType, MarketFeed>>;
  const wallNow = () => Date.now();
  const own = await openOwnGateway(feeds, wallNow);
  const { gateway } = own;
  const { store, desk, budgets } = gateway;
  const { server, url } = await own.serve({ isUpgrade: isWebSocketUpgrade });
  const log = pino({ level: "silent" });
  const { every } = systemTimers;
  const keyChecks = new KeyChecks({ store, every, log });
  const userStreams = new UserStreams({
    ...{ store, desk, markets: feeds, isShared: false, timers: systemTimers, wallNow, log },
  });
  const listenKeys = new ListenKeys({ store, userStreams, keyChecks, every, wallNow, log });
  const privateParts = { listenKeys, timers: systemTimers, log };
  const sockets = new Sockets({
    server: server.server,
    endpoints: [
      createPrivateEndpoint(privateParts),
      ...createMarketEndpoints({
        markets: feeds,
        listenKeysOf: (query) => listenKeyNames(query, privateParts),
      }),
      ...createWsApi({ gateway, routes: ROUTES, userStreams, keyChecks, log }),
    ],
    addressOf: () => "127.0.0.1",
    perAddress: new ConnectionBound(1_000),
    ...{ budgets, wallNow, timers: systemTimers, log },
  });

  return {
    /** `http://…` and `ws://…` of the one port. */
    url,
    wsUrl: url.replace("http", "ws"),
    /** A new strategy under `strict` without latency. What it takes of the book stays taken, for it alone. */
    async seed(type: StrategyType): Promise<Credentials> {
      const profile = strictProfile(type, { ...STRICT_DEFAULTS, latency: 0 });
      if (profile === null) throw new Error("the first tier is always known");
      return await own.seed(type, profile);
    },
    /** The market sells this at a price, and a strategy's open orders to buy there are filled by it. */
    async sell(type: StrategyType, { strategyId }: Credentials, price: string, quantity: string) {
      const trade = markets[type].sell(price, quantity);
      const matched = { type: "MatchTrade", symbol: SYMBOL, trade, queues: new Map() } as const;
      if (isRefusal(await desk.execute(strategyId, matched))) throw new Error("a trade is never refused");
    },
    async close(): Promise<void> {
      await sockets.close();
      await listenKeys.close();
      await userStreams.close();
      await keyChecks.close();
      await server.close();
      await own.close();
    },
  };
}
