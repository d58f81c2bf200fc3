// The fixture of tests of budgets and bans: gateways on one database whose clock moves only when the test
// moves it, an unused key, and the requests that exhaust its budgets.
import pino from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { createMarketFeed, type MarketFeed } from "../../src/market/client/feed.ts";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { type OwnClockGateway, openGateway } from "./own-clock.ts";
import { type Credentials, newDirectory } from "./servers/gateway.ts";
import { send, signed, type WireAnswer } from "./signed-client.ts";
import { seedMany, supplyOf } from "./strategies.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
/** A full minute by the clock. */
const T = 29_920_000 * MINUTE;
export const TOO_MUCH_WEIGHT = { code: -1003 };
export const TOO_MANY_ORDERS = { code: -1015 };
export const ORDER = {
  symbol: "BTCUSDT",
  side: "BUY",
  type: "MARKET",
  quantity: "0.001",
  newClientOrderId: "one",
};
/** A placement that a check after the budgets refuses. */
export const BAD_ORDER = { ...ORDER, side: "?" };

type Parameters = Readonly<Record<string, string | number>>;

/**
 * A fixture of the calling test file; read it only inside tests. `openDatabase` answers the address of a new
 * PostgreSQL database; without it the gateways are on an embedded one.
 */
export function budgetFixture(
  strategyCount: number,
  openDatabase: () => Promise<string | null> = async () => null,
) {
  let databaseUrl: string | null = null;
  let market: MarketFeed;
  let takeStrategy: () => Credentials;
  let opened: OwnClockGateway[] = [];
  const closing: (() => Promise<void>)[] = [];

  const fixture = {
    /** Wall time of every gateway, Unix ms. A case begins on a full minute. */
    now: T,
    /** The gateway that requests go to; one that is just opened, to begin with. */
    gateway: {} as OwnClockGateway,
    /** The key that requests are signed with unless another is given; a new one, to begin with. */
    key: {} as Credentials,
    dataDir: newDirectory(),
  };
  const ask = (
    method: string,
    path: string,
    parameters: Parameters = {},
    by: Credentials = fixture.key,
  ): Promise<WireAnswer> =>
    signed(fixture.gateway.url, by, method, path, { ...parameters, timestamp: fixture.now });
  const account = () => ask("GET", "/api/v3/account");
  const exhaust = async () => {
    expect(new Set(statuses(await times(60, account)))).toEqual(new Set([200]));
  };
  const requests = {
    takeStrategy: (): Credentials => takeStrategy(),
    /** Opens another gateway on the same database; it ends with the case. */
    async open(): Promise<OwnClockGateway> {
      const { dataDir } = fixture;
      const another = await openGateway({ dataDir, databaseUrl, market, wallNow: () => fixture.now });
      opened.push(another);
      return another;
    },
    ask,
    /** A read of weight 20. */
    account,
    place: (order: Parameters = BAD_ORDER): Promise<WireAnswer> => ask("POST", "/api/v3/order", order),
    /** A public request of weight 20, from an address. */
    look: (address = "192.0.2.1", headers: Readonly<Record<string, string>> = {}): Promise<WireAnswer> =>
      send(fixture.gateway.url, "GET", "/api/v3/exchangeInfo?symbol=BTCUSDT", {
        headers: { "x-forwarded-for": address, ...headers },
      }),
    /** A request that fails authentication, from an address. */
    fail: (address = "192.0.2.1"): Promise<WireAnswer> =>
      send(fixture.gateway.url, "GET", "/api/v3/account", { headers: { "x-forwarded-for": address } }),
    /** Uses up the key's weight: 60 times 20. */
    exhaust,
    async banKey(): Promise<void> {
      await exhaust();
      expect(statuses(await times(10, account))).toEqual(Array(10).fill(429));
    },
  };

  beforeAll(async () => {
    const exchange = await openSimulatedExchange({ seed: 1 });
    closing.push(() => exchange.close());
    const clock = { now: () => Date.now() };
    market = createMarketFeed({
      type: "SPOT",
      ...exchange,
      clock,
      log: pino({ level: "silent" }),
      asksAboutQuietSymbols: false,
      isMetered: false,
    });
    closing.push(async () => market.close());
    await market.start();
    databaseUrl = await openDatabase();
    takeStrategy = supplyOf(await seedMany(fixture.dataDir, strategyCount, "SPOT", databaseUrl));
  });

  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  /** Cases are hours apart, so that none finds what another has used up. */
  let cases = 0;

  beforeEach(async () => {
    cases += 1;
    fixture.now = T + cases * 60 * MINUTE;
    opened = [];
    fixture.gateway = await requests.open();
    fixture.key = takeStrategy();
  });

  afterEach(async () => {
    for (const each of opened) await each.kill();
  });

  return Object.assign(fixture, requests);
}

/** Sends so many requests, one after another. */
export async function times<Answer>(count: number, request: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let sent = 0; sent < count; sent += 1) answers.push(await request());
  return answers;
}

export function statuses(answers: readonly WireAnswer[]): number[] {
  return answers.map(({ status }) => status);
}

export const used = ({ headers }: WireAnswer) => headers.get("x-mbx-used-weight-1m");
export const orders = ({ headers }: WireAnswer) => [
  headers.get("x-mbx-order-count-10s"),
  headers.get("x-mbx-order-count-1m"),
];
export const retryAfter = ({ headers }: WireAnswer) => headers.get("retry-after");
