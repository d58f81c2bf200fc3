// Two tenants, each a trader with two strategies, a copier and an operator, with all that belongs to them:
// for tests of access rights. The copiers follow a third person's strategy.
import { randomUUID } from "node:crypto";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Person } from "../../../src/domain/person.ts";
import { botClient } from "../bot-client.ts";
import { signed } from "../signed-client.ts";
import type { Browser } from "./client.ts";
import { catchUp, connectAccount, follow, newOffer, recordLine } from "./copying-world.ts";
import { type DashboardFixture, openDashboardFixture } from "./fixture.ts";

export type OwnStrategy = {
  readonly strategyId: string;
  readonly keyId: string;
  readonly apiKey: string;
  readonly apiSecret: string;
};

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld(databaseUrl: string | null = null) {
  const fixture = await openDashboardFixture(databaseUrl);
  const offerId = await newOffer(fixture);
  const a = await tenantOf(fixture, offerId);
  const b = await tenantOf(fixture, offerId);
  await catchUp(fixture, offerId);
  return {
    ...{ fixture, a, b },
    /** A strategy that anybody may follow. */
    offerId,
    /** Somebody new who is signed in. */
    somebody: (made: Partial<Person>): Promise<Browser> => fixture.somebody(made),
  };
}

/** Signed requests of a strategy's key. */
export function tradeOn(fixture: DashboardFixture, strategy: OwnStrategy) {
  return async (method: string, path: string, parameters: Record<string, string | number> = {}) => {
    fixture.pass(1_000);
    return await signed(fixture.url, strategy, method, path, { ...parameters, timestamp: fixture.wallNow() });
  };
}

/** A new key of a trader, and a strategy that it manages. */
export async function newStrategy(trader: Browser, type: StrategyType): Promise<OwnStrategy> {
  const { keyId, apiKey, apiSecret } = await newKey(trader);
  const name = `A ${type} strategy`;
  const { strategyId } = await trader.send("POST", "/strategies", { name, type, keyId });
  return { strategyId, keyId, apiKey, apiSecret };
}

export async function newKey(trader: Browser): Promise<Omit<OwnStrategy, "strategyId">> {
  const { key, apiSecret } = await trader.send("POST", "/keys", { label: "a key", code: trader.code() });
  return { keyId: key.keyId, apiKey: key.apiKey, apiSecret };
}

/** A limit order far below the market. */
export async function restOrder(fixture: DashboardFixture, strategy: OwnStrategy): Promise<number> {
  const { body } = await tradeOn(fixture, strategy)("POST", "/api/v3/order", {
    symbol: "BTCUSDT",
    side: "BUY",
    type: "LIMIT",
    timeInForce: "GTC",
    quantity: "0.0002",
    price: await farBelow(fixture, "SPOT"),
  });
  if (body.status !== "NEW") throw new Error(`no order rests: ${JSON.stringify(body)}`);
  return body.orderId;
}

/** A stop far below the market, of a position that is there. */
export async function waitLeg(fixture: DashboardFixture, strategy: OwnStrategy): Promise<number> {
  const { body } = await tradeOn(fixture, strategy)("POST", "/fapi/v1/algoOrder", {
    algoType: "CONDITIONAL",
    symbol: "BTCUSDT",
    side: "SELL",
    type: "STOP_MARKET",
    triggerPrice: await farBelow(fixture, "FUTURES"),
    closePosition: "true",
  });
  if (body.algoStatus !== "NEW") throw new Error(`no leg waits: ${JSON.stringify(body)}`);
  return body.algoId;
}

export type Tenant = Awaited<ReturnType<typeof tenantOf>>;

async function tenantOf(fixture: DashboardFixture, offerId: string) {
  const trader = await fixture.somebody({});
  const copier = await fixture.somebody({ profile: "COPIER" });
  const operator = await fixture.somebody({ role: "OPERATOR", profile: "COPIER", kyc: "NONE" });
  const spot = await newStrategy(trader, "SPOT");
  const futures = await newStrategy(trader, "FUTURES");
  const bought = await tradeOn(fixture, spot)("POST", "/api/v3/order", {
    symbol: "BTCUSDT",
    side: "BUY",
    type: "MARKET",
    quoteOrderQty: "50",
  });
  const opened = await tradeOn(fixture, futures)("POST", "/fapi/v1/order", {
    symbol: "BTCUSDT",
    side: "BUY",
    type: "MARKET",
    quantity: "0.002",
  });
  for (const { status, body } of [bought, opened]) {
    if (status !== 200) throw new Error(`nothing was bought: ${JSON.stringify(body)}`);
  }
  const orderId = await restOrder(fixture, spot);
  const legId = await waitLeg(fixture, futures);
  fixture.pass(1_000);
  const order = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "20" };
  const { body } = await botClient(fixture.url, spot, () => fixture.wallNow()).submit(order, randomUUID());
  const { rows } = await trader.get("/sessions");
  const { signalId } = body;
  const sessionId = rows[0].sessionId;
  const { accountId, secret } = await connectAccount(fixture, copier, "SPOT");
  const copyId = await follow(copier, offerId, accountId);
  await recordLine(fixture, copyId);
  const own = [spot, futures].flatMap(({ strategyId, keyId, apiKey }) => [strategyId, keyId, apiKey]);
  return {
    trader,
    copier,
    operator,
    spot,
    futures,
    /** Carried out on the spot strategy. */
    signalId,
    /** Resting on the spot strategy. */
    orderId,
    /** Waiting on the futures strategy. */
    legId,
    sessionId,
    /** The copier's, of `World.offerId`. */
    accountId,
    copyId,
    /** Ids that no other person may ever receive. */
    ids: [
      ...own,
      ...[trader.personId, trader.email, copier.personId, copier.email],
      ...[sessionId, signalId, accountId, copyId],
    ],
    /** Secrets that were shown once. */
    secrets: [spot.apiSecret, futures.apiSecret, secret],
  };
}

async function farBelow(fixture: DashboardFixture, type: StrategyType): Promise<string> {
  const market = fixture.gateway.markets[type];
  await market.prepare("BTCUSDT");
  const bid = market.quote("BTCUSDT")?.bid;
  const rules = market.rules("BTCUSDT");
  const tick = rules?.priceFilter?.tickSize ?? 1n;
  if (bid === undefined || bid === null) throw new Error("the simulated market has a bid");
  const price = ((bid * 90n) / 100n / tick) * tick;
  return `${price / 100_000_000n}.${String(price % 100_000_000n).padStart(8, "0")}`.replace(/\.?0+$/, "");
}
