// A market feed on a test's upstream, with a time that the test moves.
import { afterEach } from "vitest";
import { createMarketFeed, type MarketFeed, type MarketFeedOptions } from "../feed.ts";
import type { Log } from "../log.ts";
import { createManualTime, type ManualTime } from "./manual-time.ts";
import { openUpstream, symbolRow, type Upstream, until } from "./upstream.ts";

export type Stage = {
  readonly upstream: Upstream;
  readonly time: ManualTime;
  readonly feed: MarketFeed;
  /** The rows that upstream lists; change them at will. */
  readonly rows: Map<string, Record<string, unknown>>;
  /** Best bid and ask by symbol, as REST gives them; a symbol without is answered as unknown. */
  readonly tickers: Map<string, readonly [bid: string, ask: string]>;
  readonly logged: string[];
};

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const unknownSymbol = { status: 400, body: { code: -1121, msg: "Invalid symbol." } };

/** Not started. Closed after the test. */
export async function setStage(
  symbols: readonly string[],
  options: Partial<MarketFeedOptions> & { readonly autoPong?: boolean } = {},
): Promise<Stage> {
  const { autoPong = true, ...feedOptions } = options;
  const upstream = await openUpstream({ autoPong });
  open.push(upstream.close);
  const time = createManualTime();
  const logged: string[] = [];
  const rows = new Map(symbols.map((symbol) => [symbol, symbolRow(symbol)]));
  const tickers = new Map<string, readonly [string, string]>();
  const feed = createMarketFeed({
    ...upstream.hosts,
    clock: time,
    wallClock: time,
    timers: time,
    random: () => 0.5,
    log: logInto(logged),
    ...feedOptions,
  });
  open.push(feed.close);
  upstream.reply("/api/v3/exchangeInfo", (search) =>
    answerRows(search, (symbol) => rows.get(symbol), [...rows.keys()]),
  );
  upstream.reply("/fapi/v1/exchangeInfo", () => ({
    body: { timezone: "UTC", symbols: [symbolRow("BTCUSDT")] },
  }));
  upstream.reply("/api/v3/ticker/bookTicker", (search) => {
    const ticker = (symbol: string) => {
      const prices = tickers.get(symbol);
      return prices && { symbol, bidPrice: prices[0], bidQty: "1", askPrice: prices[1], askQty: "1" };
    };
    const asked = namesIn(search);
    const found = (asked ?? [...tickers.keys()]).map(ticker);
    if (found.includes(undefined)) return unknownSymbol;
    return { body: search.has("symbol") ? found[0] : found };
  });
  return { upstream, time, feed, rows, tickers, logged };
}

/** Lets time pass on a connection that carries something all along; leaping over ten seconds would look like its death. */
export async function pass({ feed, time, upstream }: Stage, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 4_000) {
    time.advance(Math.min(left, 4_000));
    upstream.sendRaw('{"result":null,"id":0}');
    await until(() => feed.status().lastMessageAt === time.now());
  }
}

/** Gives whatever is on its way between client and upstream the time to arrive: a few round trips of something else. */
export async function settle({ feed }: Stage): Promise<void> {
  for (let trip = 0; trip < 3; trip += 1) {
    settled += 1;
    await feed.query("/api/v3/ping", `trip=${settled}`);
  }
}

let settled = 0;

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
