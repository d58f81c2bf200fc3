import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { perpetualListings } from "../simulated/listing.ts";
import { openSimulatedExchange } from "../simulated/open.ts";
import type { Exchange } from "./open.ts";
import { StreamClient } from "./testing/stream-client.ts";

const startAt = Date.UTC(2026, 9, 10, 12);
const hourMs = 3_600_000;
const minuteMs = 60_000;

let now = startAt;
let exchange: Exchange;

beforeAll(async () => {
  exchange = await openSimulatedExchange({ seed: 1, clock: { now: () => now }, manual: true });
  // The instant of opening is behind us, so that what follows can be counted.
  exchange.pump();
});
afterAll(() => exchange.close());

function advance(byMs: number): void {
  now += byMs;
  exchange.pump();
}

async function body<Shape>(path: string): Promise<Shape> {
  return (await fetch(`${exchange.futuresRestUrl}${path}`)).json() as Promise<Shape>;
}

const eightDigits = expect.stringMatching(/^-?\d+\.\d{8}$/);

describe("streams of futures", () => {
  const open = (path: string) => StreamClient.open(`${exchange.futuresWsUrl}${path}`);

  test("have the payloads of the reference", async () => {
    now = Math.ceil(now / minuteMs) * minuteMs;
    exchange.pump();
    const names = [
      ...["bookTicker", "depth5", "depth10@500ms", "depth20@100ms", "aggTrade", "kline_1m"],
      ...["markPrice", "markPrice@1s"],
    ].map((name) => `btcusdt@${name}`);
    const others = ["btcusdt_perpetual@continuousKline_1m", "!markPrice@arr", "!markPrice@arr@1s"];
    const client = await open(`/stream?streams=${[...names, ...others].join("/")}`);
    advance(6_000);
    const messages = await client.received();
    const of = (stream: string) => messages.filter((message) => message.stream === stream);
    const keysOf = (stream: string) => Object.keys(of(stream)[0]?.data ?? {}).join(" ");
    const depthKeys = "e E T s U u pu b a ps st";

    expect(keysOf("btcusdt@bookTicker")).toBe("e u E T s ps b B a A st");
    expect(keysOf("btcusdt@aggTrade")).toBe("e E s a p q nq f l T m st");
    const depths = ["depth5", "depth10@500ms", "depth20@100ms"].map((name) => `btcusdt@${name}`);
    expect(depths.map(keysOf)).toEqual([depthKeys, depthKeys, depthKeys]);
    expect(depths.map((stream) => of(stream)[0]?.data.b?.length)).toEqual([5, 10, 20]);
    expect(depths.map((stream) => of(stream).length)).toEqual([24, 12, 60]);
    expect(keysOf("btcusdt@kline_1m")).toBe("e E s k");
    expect(of("btcusdt@kline_1m").length).toBe(24);
    const [continuous] = of("btcusdt_perpetual@continuousKline_1m");
    expect(continuous?.data).toMatchObject({ e: "continuous_kline", ps: "BTCUSDT", ct: "PERPETUAL" });
    expect(Object.keys(continuous?.data ?? {}).join(" ")).toBe("e E ps ct k");
    expect(Object.keys(continuous?.data.k ?? {}).join("")).toBe("tTifLochlvnxqVQB");

    const [mark] = of("btcusdt@markPrice@1s");
    expect(mark?.data).toEqual({
      e: "markPriceUpdate",
      E: now - 5_000,
      s: "BTCUSDT",
      p: eightDigits,
      ap: mark?.data.p,
      i: eightDigits,
      P: eightDigits,
      r: eightDigits,
      T: Date.UTC(2026, 9, 10, 16),
      st: 1,
    });
    expect(of("btcusdt@markPrice@1s").length).toBe(6);
    expect(of("btcusdt@markPrice").map(({ data }) => data.E)).toEqual([now - 3_000, now]);
    const arrays = of("!markPrice@arr@1s");
    expect(arrays.length).toBe(6);
    expect(of("!markPrice@arr").length).toBe(2);
    const all = (arrays[0]?.data ?? []) as unknown as unknown[];
    expect(all.length).toBe(perpetualListings.length);
    expect(all).toContainEqual(mark?.data);
    client.close();
  });

  test("a minute's marks on the stream are its candle, and a settlement's mark is the one of its second", async () => {
    const settlesAt = Date.UTC(2026, 9, 10, 16);
    now = settlesAt - minuteMs - 1;
    exchange.pump();
    const client = await open("/market/ws/btcusdt@markPrice@1s");
    advance(minuteMs);
    const marks = (await client.received()).map(({ data }) => data.p ?? "");
    const ascending = marks.toSorted((a, b) => (decimal(a) < decimal(b) ? -1 : 1));
    const query = `symbol=BTCUSDT&interval=1m&startTime=${settlesAt - minuteMs}&limit=1`;
    const [candle] = await body<string[][]>(`/fapi/v1/markPriceKlines?${query}`);
    expect(candle?.slice(1, 5)).toEqual([marks[0], ascending.at(-1), ascending[0], marks.at(-1)]);
    expect(candle?.[8]).toBe(60);

    client.forget();
    advance(1_000);
    const [due] = await client.received();
    expect(due?.data).toMatchObject({ E: settlesAt, T: settlesAt + 8 * hourMs });
    const [row] = await body<{ fundingTime: number; markPrice: string }[]>(
      `/fapi/v1/fundingRate?symbol=BTCUSDT&startTime=${settlesAt}`,
    );
    expect(row?.fundingTime).toBeLessThan(settlesAt + 10);
    expect(row?.markPrice).toBe(due?.data.p);
    client.close();
  });

  test("come by route, all of them on a plain connection, and never mix with spot's", async () => {
    const names = ["btcusdt@bookTicker", "btcusdt@depth5@100ms", "btcusdt@markPrice@1s", "btcusdt@aggTrade"];
    const path = `/stream?streams=${names.join("/")}`;
    const clients = await Promise.all([open(`/public${path}`), open(`/market${path}`), open(path)]);
    advance(2_000);
    const heard = await Promise.all(
      clients.map(async (client) => new Set((await client.received()).map(({ data }) => data.e))),
    );
    const ofPublic = ["bookTicker", "depthUpdate"];
    const ofMarket = ["markPriceUpdate", "aggTrade"];
    expect(heard).toEqual([new Set(ofPublic), new Set(ofMarket), new Set([...ofPublic, ...ofMarket])]);
    for (const client of clients) client.close();
  });

  test("another route's stream is acknowledged and silent, and so is a name that means nothing", async () => {
    const client = await open("/public/ws");
    const names = ["btcusdt@markPrice@1s", "!markPrice@arr@1s", "btcusdt@kline_1m"];
    const meaningless = ["btcusdt@depth5@1000ms", "btcusdt@markPrice@constructor", "constructor"];
    const unheard = ["btcusdt@kline_1s", "btcusdt@avgPrice", "nope@bookTicker", ...meaningless];
    expect(await client.ask("SUBSCRIBE", [...names, ...unheard])).toMatchObject({ result: null });
    expect(await client.ask("LIST_SUBSCRIPTIONS")).toMatchObject({ result: [...names, ...unheard] });
    advance(4_000);
    expect(await client.received()).toEqual([]);
    expect(await client.ask("UNSUBSCRIBE", names)).toMatchObject({ result: null });
    client.close();
  });

  test("books never cross and their update ids ascend", async () => {
    const names = perpetualListings.map(({ symbol }) => `${symbol.toLowerCase()}@depth20@100ms`);
    const client = await open(`/public/stream?streams=${names.join("/")}`);
    advance(3_000);
    const messages = await client.received();
    expect(messages.length).toBe(30 * names.length);
    const lastOf = new Map<string, number>();
    for (const { stream, data } of messages) {
      const [bid, ask] = [data.b, data.a].map((side) => (side as unknown as string[][])[0]?.[0] ?? "");
      expect(decimal(bid ?? "")).toBeLessThan(decimal(ask ?? ""));
      expect(data.u).toBeGreaterThanOrEqual(lastOf.get(stream) ?? 0);
      lastOf.set(stream, data.u ?? 0);
    }
    client.close();
  });

  test("a silenced symbol is left out of the marks of all", async () => {
    const client = await open("/market/ws/!markPrice@arr@1s");
    exchange.silence("ETHUSDT");
    advance(1_000);
    const [message] = await client.received();
    const symbols = ((message?.data ?? []) as unknown as { s: string }[]).map(({ s }) => s);
    expect(symbols.length).toBe(perpetualListings.length - 1);
    expect(symbols).not.toContain("ETHUSDT");
    exchange.silence("FUTURES");
    client.forget();
    advance(1_000);
    expect(await client.received()).toEqual([]);
    exchange.resume();
    client.close();
  });
});
