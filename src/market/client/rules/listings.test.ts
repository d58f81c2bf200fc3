import { expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { createMarketFeed } from "../feed.ts";
import { createFixture, type Fixture, settle } from "../testing/feed.ts";
import { symbolRow, until } from "../testing/upstream.ts";
import { rulesAgeMsMax } from "./listings.ts";

const halt = ({ rows }: Fixture, symbol: string) => rows.set(symbol, symbolRow(symbol, { status: "HALT" }));
const asked = ({ upstream }: Fixture) =>
  upstream.requests.filter((line) => line.startsWith("/api/v3/exchangeInfo"));

test("the rules of every listed symbol and the body are there after the start", async () => {
  const { feed } = await createFixture(["BTCUSDT", "ETHUSDT"]);
  expect(feed.rules("BTCUSDT")).toBeNull();
  await feed.start();
  expect(feed.rules("BTCUSDT")).toMatchObject({ symbol: "BTCUSDT", status: "TRADING" });
  expect(feed.rules("XYZUSDT")).toBeNull();
  expect([...feed.exchangeInfo().symbols.keys()]).toEqual(["BTCUSDT", "ETHUSDT"]);
  expect(feed.exchangeInfo().head).toEqual({ timezone: "UTC" });
});

test("a row that cannot be understood is left out and reported once", async () => {
  const { feed, rows, time, logged } = await createFixture(["BTCUSDT", "ETHUSDT"]);
  rows.set("ETHUSDT", symbolRow("ETHUSDT", { filters: "none" }));
  await feed.start();
  expect(feed.rules("ETHUSDT")).toBeNull();
  expect(feed.exchangeInfo().symbols.has("ETHUSDT")).toBe(true);
  const { version } = feed.exchangeInfo();
  rows.set("BTCUSDT", symbolRow("BTCUSDT", { status: "HALT" }));
  time.advance(30 * 60_000);
  await until(() => feed.exchangeInfo().version > version);
  expect(logged.filter((line) => line.includes("left out"))).toHaveLength(1);
});

test("a start without upstream fails with words about what to do", async () => {
  const time = createManualTime();
  const nowhere = "http://127.0.0.1:1";
  const feed = createMarketFeed({
    type: "SPOT",
    spotRestUrl: nowhere,
    spotWsUrl: "ws://127.0.0.1:1",
    futuresRestUrl: nowhere,
    futuresWsUrl: "ws://127.0.0.1:1",
    clock: time,
    wallClock: time,
    timers: time,
    log: { info() {}, warn() {}, error() {} },
  });
  await expect(feed.start()).rejects.toThrow(/api\/v3\/exchangeInfo.*Check the network.*--market sim/);
  await feed.close();
});

test("rules older than a minute are requested again before an order is checked", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, time, tickers } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]);
  await feed.start();
  halt(fixture, "BTCUSDT");
  time.advance(rulesAgeMsMax - 1);
  const fresh = feed.prepare("BTCUSDT");
  expect(feed.rules("BTCUSDT")?.status).toBe("TRADING");
  expect(asked(fixture)).toHaveLength(1);
  time.advance(1);
  await Promise.all([fresh, feed.prepare("BTCUSDT"), feed.prepare("BTCUSDT")]);
  expect(feed.rules("BTCUSDT")?.status).toBe("HALT");
  expect(asked(fixture)).toEqual(["/api/v3/exchangeInfo", "/api/v3/exchangeInfo?symbol=BTCUSDT"]);
});

test("symbols in use are refreshed together before anyone has to wait", async () => {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT", "BNBUSDT"]);
  const { feed, time, tickers } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]).set("ETHUSDT", ["9", "10"]);
  await feed.start();
  await Promise.all([feed.prepare("BTCUSDT"), feed.prepare("ETHUSDT")]);
  halt(fixture, "ETHUSDT");
  time.advance(30_000);
  await until(() => feed.rules("ETHUSDT")?.status === "HALT");
  expect(asked(fixture).slice(1)).toEqual([
    `/api/v3/exchangeInfo?symbols=${encodeURIComponent('["BTCUSDT","ETHUSDT"]')}`,
  ]);
  time.advance(rulesAgeMsMax - 1_000);
  expect(feed.prepare("BTCUSDT")).toBeUndefined();
});

test("the last known rules stay valid when upstream does not answer, and no caller waits twice for it", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, time, upstream, tickers } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]);
  await feed.start();
  await feed.prepare("BTCUSDT");
  upstream.reply("/api/v3/exchangeInfo", () => ({ status: 503, body: "down" }));
  time.advance(29_000);
  time.advance(rulesAgeMsMax);
  await feed.prepare("BTCUSDT");
  expect(feed.rules("BTCUSDT")?.status).toBe("TRADING");
  expect(feed.prepare("BTCUSDT")).toBeUndefined();
});

test("rules in use that become too old are reported once a minute, however many they are", async () => {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"]);
  const { feed, time, upstream, tickers, logged } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]).set("ETHUSDT", ["9", "10"]);
  await feed.start();
  await Promise.all([feed.prepare("BTCUSDT"), feed.prepare("ETHUSDT")]);
  upstream.reply("/api/v3/exchangeInfo", () => ({ status: 503, body: "down" }));
  const reports = () => logged.filter((line) => line.startsWith("rules could not be refreshed")).length;
  const passSeconds = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      time.advance(1_000);
      await settle(fixture);
    }
  };
  await passSeconds(rulesAgeMsMax / 1_000);
  expect(reports()).toBe(0);
  await passSeconds(1);
  expect(reports()).toBe(1);
  await passSeconds(59);
  expect(reports()).toBe(1);
  await passSeconds(1);
  expect(reports()).toBe(2);
});

test("an answer that does not come is waited for no longer than a second", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, time, upstream } = fixture;
  await feed.start();
  upstream.reply("/api/v3/exchangeInfo", () => new Promise(() => {}));
  time.advance(rulesAgeMsMax);
  const prepared = feed.prepare("BTCUSDT");
  await until(() => asked(fixture).length === 2);
  time.advance(1_000);
  await prepared;
  expect(feed.rules("BTCUSDT")?.status).toBe("TRADING");
});

test("a symbol that is no longer listed loses its rules, and the others are refreshed all the same", async () => {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"]);
  const { feed, time, rows, tickers } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]).set("ETHUSDT", ["9", "10"]);
  await feed.start();
  rows.delete("ETHUSDT");
  halt(fixture, "BTCUSDT");
  time.advance(rulesAgeMsMax);
  await Promise.all([feed.prepare("BTCUSDT"), feed.prepare("ETHUSDT")]);
  expect(feed.rules("ETHUSDT")).toBeNull();
  expect(feed.rules("BTCUSDT")?.status).toBe("HALT");
  expect(feed.exchangeInfo().symbols.has("ETHUSDT")).toBe(false);
});

test("the whole is refreshed every half hour, and sooner after a failure", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, time, rows, upstream, logged } = fixture;
  await feed.start();
  rows.set("NEWUSDT", symbolRow("NEWUSDT"));
  time.advance(30 * 60_000);
  await until(() => feed.rules("NEWUSDT") !== null);
  upstream.reply("/api/v3/exchangeInfo", () => ({ status: 500, body: "down" }));
  time.advance(30 * 60_000);
  await until(() => logged.some((line) => line.includes("last known rules stand")));
  upstream.reply("/api/v3/exchangeInfo", () => ({ body: { symbols: [symbolRow("ETHUSDT")] } }));
  time.advance(60_000);
  await until(() => feed.exchangeInfo().symbols.has("ETHUSDT"));
});

test("a list that is empty all of a sudden is not believed", async () => {
  const { feed, time, rows, logged } = await createFixture(["BTCUSDT"]);
  await feed.start();
  rows.clear();
  time.advance(30 * 60_000);
  await until(() => logged.some((line) => line.includes("last known rules stand")));
  expect(feed.rules("BTCUSDT")).not.toBeNull();
});

test("the version of a body rises when a row changes, comes, moves or goes, and not at every refresh", async () => {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"]);
  const { feed, time, upstream, rows, tickers } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]).set("ETHUSDT", ["9", "10"]);
  await feed.start();
  let refreshes = 0;
  const version = async () => {
    refreshes += 1;
    upstream.reply("/api/v3/exchangeInfo", () => ({ body: { refreshes, symbols: [...rows.values()] } }));
    time.advance(30 * 60_000);
    await until(() => feed.exchangeInfo().head.refreshes === refreshes);
    await settle(fixture);
    return feed.exchangeInfo().version;
  };
  const first = await version();
  expect(await version()).toBe(first);
  await feed.prepare("BTCUSDT");
  expect(feed.exchangeInfo().version).toBe(first);
  halt(fixture, "BTCUSDT");
  expect(await version()).toBe(first + 1);
  rows.set("NEWUSDT", symbolRow("NEWUSDT"));
  expect(await version()).toBe(first + 2);
  const moved = [...rows].reverse();
  rows.clear();
  for (const [symbol, row] of moved) rows.set(symbol, row);
  expect(await version()).toBe(first + 3);
  rows.delete("NEWUSDT");
  expect(await version()).toBe(first + 4);

  halt(fixture, "ETHUSDT");
  time.advance(rulesAgeMsMax);
  await feed.prepare("ETHUSDT");
  expect(feed.exchangeInfo().version).toBe(first + 5);
});
