// A quote or a mark price far from everything that confirms it is not used, and a market that really moves is
// not held up.
import { expect, test } from "vitest";
import { decimal, type Price } from "../../../money/decimal.ts";
import { createFixture, type Fixture, settle } from "../testing/feed.ts";
import {
  sendContractTicker,
  sendMark,
  sendTicker,
  sendTrade,
  subscribedContractFixture,
  subscribedFixture,
} from "../testing/messages.ts";
import { contractRow, symbolRow, until } from "../testing/upstream.ts";
import { tradePriceIntervalMs } from "./subscribed-symbol.ts";

const BTC = "BTCUSDT";
const price = (text: string) => decimal<Price>(text);
const quote = (bid: string, ask: string) => ({ bid: price(bid), ask: price(ask) });

/** The events that a watcher receives, as text. */
function listen({ feed }: Awaited<ReturnType<typeof subscribedFixture>>): string[] {
  const heard: string[] = [];
  feed.watch(BTC, {
    quote: ({ bid, ask }) => heard.push(`quote ${bid} ${ask}`),
    trade: (at) => heard.push(`trade ${at}`),
    markPrice: (mark) => heard.push(`mark ${mark}`),
    gap() {},
  });
  return heard;
}

/** Starts a feed whose rules the test has changed, and waits for the streams of its symbol. */
async function start(fixture: Fixture, streams: number): Promise<void> {
  fixture.tickers.set(BTC, ["99", "101"]);
  fixture.marks.set(BTC, "100");
  await fixture.feed.start();
  await fixture.feed.prepare(BTC);
  await until(() => fixture.upstream.subscribed().length === streams);
}

const words = (bid: string, ask: string) => `quote ${price(bid)} ${price(ask)}`;

test("a bid of nearly nothing is not published, for as long as it lasts, and leaves no extreme", async () => {
  const fixture = await subscribedFixture();
  const { feed } = fixture;
  sendTrade(fixture, 1, "100");
  await until(() => feed.lastPrice(BTC) !== null);
  const heard = listen(fixture);
  const sequence = feed.sequence();
  for (let id = 1; id <= 3; id += 1) {
    const { accepted } = feed.status().quotes;
    sendTicker(fixture, id, "0.00000001", "0.00000002");
    await until(() => feed.status().quotes.accepted > accepted);
    expect(feed.quote(BTC)).toBeNull();
    fixture.time.advance(1_000);
  }
  expect(heard).toEqual([]);
  expect(feed.extremesSince(BTC, sequence)).toBeNull();
  expect(feed.status().silentSymbols).toEqual([BTC]);
  sendTicker(fixture, 4, "99.5", "100.5");
  await until(() => feed.quote(BTC) !== null);
  expect(heard).toEqual([words("99.5", "100.5")]);
});

test("a trade at the new level confirms the quote before the trade itself is published", async () => {
  const fixture = await subscribedFixture();
  sendTrade(fixture, 1, "100");
  await until(() => fixture.feed.lastPrice(BTC) !== null);
  const heard = listen(fixture);
  const { accepted } = fixture.feed.status().quotes;
  sendTicker(fixture, 1, "9", "10");
  await until(() => fixture.feed.status().quotes.accepted > accepted);
  expect(heard).toEqual([]);
  sendTrade(fixture, 2, "10");
  await until(() => heard.length > 1);
  expect(heard).toEqual([words("9", "10"), `trade ${price("10")}`]);
  expect(fixture.feed.quote(BTC)).toEqual(quote("9", "10"));
});

test("the pair's own filter decides what is far, a side each", async () => {
  const fixture = await createFixture([BTC]);
  fixture.rows.set(
    BTC,
    symbolRow(BTC, {
      filters: [
        {
          filterType: "PERCENT_PRICE_BY_SIDE",
          bidMultiplierUp: "1.2",
          bidMultiplierDown: "0.8",
          askMultiplierUp: "1.5",
          askMultiplierDown: "0.9",
          avgPriceMins: 5,
        },
      ],
    }),
  );
  await start(fixture, 4);
  let id = 100;
  for (const [bid, ask, isUsed] of [
    ["80", "150", true],
    ["79.99", "150", false],
    ["80", "150.01", false],
    ["120", "130", true],
    ["121", "130", false],
    ["80", "89.99", false],
    ["80", "90", true],
  ] as const) {
    id += 1;
    sendTrade(fixture, id, "100");
    const { accepted } = fixture.feed.status().quotes;
    sendTicker(fixture, id, bid, ask);
    await until(() => fixture.feed.status().quotes.accepted > accepted);
    expect([bid, ask, fixture.feed.quote(BTC) !== null]).toEqual([bid, ask, isUsed]);
  }
});

test("a contract's quote far from its mark price causes a request for the last trade, at most once a second", async () => {
  const fixture = await subscribedContractFixture();
  const { feed, upstream, time } = fixture;
  let traded = "100";
  upstream.reply("/fapi/v1/ticker/price", () => ({ body: { symbol: BTC, price: traded, time: 1 } }));
  const asked = () => upstream.requests.filter((each) => each.startsWith("/fapi/v1/ticker/price")).length;
  const heard = listen(fixture);
  for (let id = 1; id <= 20; id += 1) sendContractTicker(fixture, id, "0.00000001", "0.00000002");
  await until(() => feed.status().quotes.accepted > 20);
  await settle(fixture);
  expect(asked()).toBe(1);
  expect(feed.quote(BTC)).toBeNull();
  expect(heard).toEqual([]);
  // It crashes indeed: the contract alone, while its mark price follows an index of many exchanges.
  traded = "70";
  sendContractTicker(fixture, 21, "69", "70");
  await until(() => feed.status().quotes.accepted > 21);
  time.advance(tradePriceIntervalMs);
  await until(() => feed.quote(BTC) !== null);
  expect(heard).toEqual([words("69", "70")]);
  expect(asked()).toBe(2);
});

test("a contract's crash that its mark price follows is announced at once", async () => {
  const fixture = await subscribedContractFixture();
  const heard = listen(fixture);
  const { accepted } = fixture.feed.status().quotes;
  sendContractTicker(fixture, 1, "69", "70");
  await until(() => fixture.feed.status().quotes.accepted > accepted);
  sendMark(fixture, 2, "70");
  await until(() => heard.length === 2);
  expect(heard).toEqual([words("69", "70"), `mark ${price("70")}`]);
});

test("a mark price that falls before the quote does is believed when it is received again", async () => {
  const fixture = await subscribedContractFixture();
  const heard = listen(fixture);
  sendMark(fixture, 2, "70");
  await until(() => fixture.feed.status().marks.doubtful === 1);
  const { accepted } = fixture.feed.status().quotes;
  sendContractTicker(fixture, 1, "69", "70");
  await until(() => fixture.feed.status().quotes.accepted > accepted);
  sendMark(fixture, 3, "70");
  await until(() => heard.length === 2);
  expect(heard).toEqual([words("69", "70"), `mark ${price("70")}`]);
});

test("a mark price of nearly nothing is not published: no leg fires and no position is liquidated by it", async () => {
  const fixture = await subscribedContractFixture();
  fixture.upstream.reply("/fapi/v1/ticker/price", () => ({ body: { symbol: BTC, price: "100", time: 1 } }));
  const heard = listen(fixture);
  for (let E = 2; E <= 4; E += 1) sendMark(fixture, E, "0.00000001");
  await until(() => fixture.feed.status().marks.doubtful === 3);
  await settle(fixture);
  expect(heard).toEqual([]);
  expect(fixture.feed.markPrice(BTC)).toEqual(price("100"));
  sendMark(fixture, 5, "99");
  await until(() => heard.length === 1);
  expect(heard).toEqual([`mark ${price("99")}`]);
});

test("a contract's filter bounds its quotes on both sides", async () => {
  const fixture = await createFixture([BTC], { type: "FUTURES" });
  fixture.rows.set(
    BTC,
    contractRow(BTC, {
      filters: [
        { filterType: "PERCENT_PRICE", multiplierUp: "1.05", multiplierDown: "0.95", multiplierDecimal: "4" },
      ],
    }),
  );
  await start(fixture, 3);
  let id = 100;
  for (const [bid, ask, isUsed] of [
    ["95", "105", true],
    ["94.99", "105", false],
    ["95", "105.01", false],
  ] as const) {
    id += 1;
    const { accepted } = fixture.feed.status().quotes;
    const { accepted: marked } = fixture.feed.status().marks;
    sendMark(fixture, id, "100");
    await until(() => fixture.feed.status().marks.accepted > marked);
    sendContractTicker(fixture, id, bid, ask);
    await until(() => fixture.feed.status().quotes.accepted > accepted);
    expect([bid, ask, fixture.feed.quote(BTC) !== null]).toEqual([bid, ask, isUsed]);
  }
});
