// A market feed on a test's upstream, with a time that the test moves.
import { afterEach } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { createMarketFeed, type MarketFeedOptions } from "../feed.ts";
import type { Log } from "../log.ts";
import { contractRow, openUpstream, symbolRow, until } from "./upstream.ts";

export type Fixture = Awaited<ReturnType<typeof createFixture>>;

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Time of the next settlement of funding as REST returns it, Unix ms. */
export const nextFundingAt = 1_700_006_400_000;

const unknownSymbol = { status: 400, body: { code: -1121, msg: "Invalid symbol." } };

/** Spot by default. Not started. Closed after the test. */
export async function createFixture(
  symbols: readonly string[],
  options: Partial<MarketFeedOptions> & { readonly autoPong?: boolean } = {},
) {
  const { autoPong = true, type = "SPOT", ...feedOptions } = options;
  const isSpot = type === "SPOT";
  const upstream = await openUpstream({ autoPong });
  open.push(upstream.close);
  const time = createManualTime();
  const logged: string[] = [];
  const rows = new Map(symbols.map((symbol) => [symbol, isSpot ? symbolRow(symbol) : contractRow(symbol)]));
  const tickers = new Map<string, readonly [string, string]>();
  const marks = new Map<string, string>();
  const feed = createMarketFeed({
    type,
    ...upstream.hosts,
    clock: time,
    wallClock: time,
    timers: time,
    random: () => 0.5,
    // Messages that a test sends are current by default.
    measuresAge: false,
    log: logInto(logged),
    ...feedOptions,
  });
  open.push(feed.close);
  upstream.reply(isSpot ? "/api/v3/exchangeInfo" : "/fapi/v1/exchangeInfo", (search) =>
    // For contracts all rows are returned, whatever is requested.
    answerRows(isSpot ? search : new URLSearchParams(), (symbol) => rows.get(symbol), [...rows.keys()]),
  );
  upstream.reply(isSpot ? "/api/v3/ticker/bookTicker" : "/fapi/v1/ticker/bookTicker", (search) =>
    answerTickers(search, [...tickers.keys()], (symbol) => {
      const prices = tickers.get(symbol);
      return prices && { symbol, bidPrice: prices[0], bidQty: "1", askPrice: prices[1], askQty: "1" };
    }),
  );
  upstream.reply("/fapi/v1/premiumIndex", (search) =>
    answerTickers(search, [...marks.keys()], (symbol) => {
      const markPrice = marks.get(symbol);
      return markPrice === undefined
        ? undefined
        : { symbol, markPrice, nextFundingTime: nextFundingAt, time: time.now() };
    }),
  );
  return {
    ...{ upstream, time, feed },
    /** The rows that upstream lists; change them at will. */
    rows: rows as Map<string, Record<string, unknown>>,
    /** Best bid and ask by symbol, as REST returns them; other symbols are unknown. */
    tickers,
    /** Mark prices by contract, as REST returns them. */
    marks,
    logged,
  };
}

/**
 * Advances time on a connection with regular messages; a jump of ten seconds would look like a dead
 * connection.
 */
export async function pass({ feed, time, upstream }: Fixture, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 4_000) {
    time.advance(Math.min(left, 4_000));
    upstream.sendRaw('{"result":null,"id":0}');
    await until(() => feed.status().lastMessageAt === time.now());
  }
}

/**
 * Gives whatever is on its way between client and upstream the time to arrive: a few round trips of something
 * else.
 */
export async function settle({ feed }: Fixture): Promise<void> {
  for (let trip = 0; trip < 3; trip += 1) {
    settled += 1;
    await feed.query(feed.type === "SPOT" ? "/api/v3/ping" : "/fapi/v1/ping", `trip=${settled}`);
  }
}

let settled = 0;

function answerTickers(
  search: URLSearchParams,
  all: readonly string[],
  ticker: (symbol: string) => object | undefined,
) {
  const found = (namesIn(search) ?? all).map(ticker);
  if (found.includes(undefined)) return unknownSymbol;
  return { body: search.has("symbol") ? found[0] : found };
}

function answerRows(
  search: URLSearchParams,
  row: (symbol: string) => Record<string, unknown> | undefined,
  all: readonly string[],
) {
  const found = (namesIn(search) ?? all).map(row);
  return found.includes(undefined) ? unknownSymbol : { body: { timezone: "UTC", symbols: found } };
}

function namesIn(search: URLSearchParams): readonly string[] | null {
  const one = search.get("symbol");
  if (one !== null) return [one];
  const many = search.get("symbols");
  return many === null ? null : (JSON.parse(many) as string[]);
}

function logInto(logged: string[]): Log {
  const write = (_fields: object, message: string) => {
    logged.push(message);
  };
  return { info: write, warn: write, error: write };
}
