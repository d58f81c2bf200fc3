// Reports of strategies whose every trade can be reckoned with pen and paper.
import { describe, expect, test } from "vitest";
import { cleanFixtures } from "../desk/testing/fixture.ts";
import { decimal, formatBriefly } from "../money/decimal.ts";
import { createPerformanceReports } from "./reports.ts";
import { createFixture, curveOf, inWords } from "./testing/fixture.ts";

cleanFixtures();

describe("a spot strategy", () => {
  test("that has not traded stays where it was", async () => {
    const { price, report } = await createFixture();
    price(2, "BTCUSDT", "100");
    const found = await report("SPOT");
    expect(curveOf(found)).toEqual(["0: 200", "1: 200", "2: 200", "2: 200"]);
    expect(inWords(found)).toEqual({
      startEquity: "200",
      endEquity: "200",
      profit: "0",
      profitRate: "0",
      realised: "0",
      unrealised: "0",
      fees: "0",
      funding: "0",
      trades: 0,
      closingTrades: 0,
      wins: 0,
      losses: 0,
      winRate: null,
      profitFactor: null,
      maximumDrawdown: "0",
      maximumDrawdownRate: "0",
    });
    expect(found).toMatchObject({ from: 1_000, to: 121_000, stepMs: 1_000, unpriced: [], isWhole: true });
  });

  // Bought: 1 BTC for 100 USDT, of which 0.001 BTC go as the fee (0.1 USDT): 0.999 BTC that have cost 99.9
  // USDT. Sold: 0.5 BTC for 60 USDT, less a fee of 0.06; they had cost 50. Left: 0.499 BTC that have cost
  // 49.9 USDT.
  test("realizes by average cost, and reports fees separately", async () => {
    const { price, trade, report } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "90");
    price(3, "BTCUSDT", "120");
    await trade("SPOT", "SELL", "0.5", "BTCUSDT");
    price(4, "BTCUSDT", "110");
    const found = await report("SPOT");
    // The candle of a minute ends with it.
    expect(curveOf(found)).toEqual(["0: 200", "1: 200", "2: 199.9", "3: 189.91", "4: 219.82", "4: 214.83"]);
    expect(inWords(found)).toEqual({
      startEquity: "200",
      endEquity: "214.83",
      profit: "14.83",
      profitRate: "0.07415",
      realised: "10",
      unrealised: "4.99",
      fees: "0.16",
      funding: "0",
      trades: 2,
      closingTrades: 1,
      wins: 1,
      losses: 0,
      winRate: "1",
      profitFactor: null,
      maximumDrawdown: "10.09",
      maximumDrawdownRate: "0.05045",
    });
  });

  test("keeps the cost of dust that it does not sell, and the fractions of a unit nowhere", async () => {
    const { price, trade, report } = await createFixture();
    price(1, "BTCUSDT", "3");
    await trade("SPOT", "BUY", "0.00000007", "BTCUSDT");
    price(2, "BTCUSDT", "7");
    await trade("SPOT", "SELL", "0.00000004", "BTCUSDT");
    price(3, "BTCUSDT", "5");
    const { realised, unrealised, fees, profit, ...counts } = inWords(await report("SPOT"));
    // Bought 7 units for 21, of which 1 went as the fee, worth 3: 6 units that have cost 18. Sold 4 of them
    // for 28, less 1.
    expect([realised, unrealised, fees, profit]).toEqual([
      "0.00000016",
      "0.00000004",
      "0.00000004",
      "0.00000016",
    ]);
    expect(counts).toMatchObject({ trades: 2, wins: 1, losses: 0 });
  });

  // 1 BTC for 100 USDT, less 0.001: 0.999 BTC, cost 99.9. BTC rises to 110, and 0.5 BTC (worth 55, cost 50)
  // buy 5 ETH at 0.1, less 0.005 ETH (worth 0.055): 4.995 ETH that have cost 54.945. Then BTC is at 100 and
  // ETH at 12.
  test("that trades one coin for another realises at what the quoted coin was worth", async () => {
    const { price, trade, report } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "110");
    price(3, "ETHBTC", "0.1");
    price(3, "ETHUSDT", "11");
    await trade("SPOT", "BUY", "5", "ETHBTC");
    price(4, "BTCUSDT", "100");
    price(4, "ETHUSDT", "12");
    expect(inWords(await report("SPOT"))).toMatchObject({
      // 100 USDT, 0.499 BTC and 4.995 ETH
      endEquity: "209.84",
      realised: "5",
      // 49.9 − 49.9 and 59.94 − 54.945
      unrealised: "4.995",
      fees: "0.155",
      profit: "9.84",
      trades: 2,
      closingTrades: 1,
      wins: 1,
    });
  });

  test("that is closed ends when it was closed", async () => {
    const { price, trade, carryOut, report } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(3, "BTCUSDT", "50");
    await carryOut("SPOT", { type: "CloseStrategy" });
    price(90, "BTCUSDT", "500");
    const found = await report("SPOT");
    expect(found.to).toBe(181_000);
    expect(curveOf(found).at(-1)).toBe("3: 149.90005");
    expect(inWords(found)).toMatchObject({
      realised: "-49.95",
      unrealised: "0",
      losses: 1,
      profitFactor: "0",
    });
  });

  // 1 BTC for 100 USDT, of which 0.998 are sold at 50; 0.001 BTC stay, which the market does not take.
  test("that is closed keeps its dust at what was last paid for it, whatever becomes of the price", async () => {
    const { price, trade, carryOut, report, pairs } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "50");
    await trade("SPOT", "SELL", "0.998", "BTCUSDT");
    price(3, "BTCUSDT", "70");
    pairs.step = "0.01";
    await carryOut("SPOT", { type: "CloseStrategy" });
    price(90, "BTCUSDT", "500");
    // 100 + 49.9 − 0.0499 + 0.001 × 50
    expect(curveOf(await report("SPOT")).at(-1)).toBe("3: 149.9001");
    expect(curveOf(await report("SPOT", "24h")).at(-1)).toBe("3: 149.9001");
  });

  test("is valued at its own trades while the market has no prices, and says so", async () => {
    const { price, trade, report, pairs, wall } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "150");
    pairs.silence("BTCUSDT");
    pairs.told.isOutOfReach = true;
    const silent = await report("SPOT");
    expect(silent.unpriced).toEqual(["BTCUSDT"]);
    expect(curveOf(silent).at(-1)).toBe("2: 199.9");
    pairs.told.isOutOfReach = false;
    wall.now += 5_000;
    const heard = await report("SPOT");
    expect(heard.unpriced).toEqual([]);
    expect(curveOf(heard).at(-1)).toBe("2: 249.85");
  });

  test("with more trades than a report reads begins with the first of them", async () => {
    const { price, trade, report } = await createFixture({ tradesMax: 2 });
    for (const [minute, cost] of [
      [1, "100"],
      [3, "110"],
      [5, "120"],
    ] as const) {
      price(minute, "BTCUSDT", cost);
      await trade("SPOT", "BUY", "0.5", "BTCUSDT");
      price(minute + 1, "BTCUSDT", cost);
    }
    price(6, "BTCUSDT", "130");
    const found = await report("SPOT");
    expect(found).toMatchObject({ from: 181_000, isWhole: false });
    // 95 USDT and twice 0.4995 BTC at 110.
    expect(curveOf(found)).toEqual(["3: 204.89", "4: 204.89", "5: 204.89", "6: 214.82", "6: 229.805"]);
    expect(inWords(found)).toMatchObject({ trades: 1, profit: "24.915" });
  });
});

describe("a futures strategy", () => {
  // Long 1 at 100 (fee 0.05), 3 sold at 110 (fee 0.165): 10 realised, short 2 at 110. At 105 these have
  // gained 10.
  test("that turns from long to short realizes what it closed", async () => {
    const { price, trade, report } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("FUTURES", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "110");
    await trade("FUTURES", "SELL", "3", "BTCUSDT");
    price(3, "BTCUSDT", "105");
    const found = await report("FUTURES");
    expect(curveOf(found)).toEqual(["0: 1000", "1: 1000", "2: 999.95", "3: 1009.785", "3: 1019.785"]);
    expect(inWords(found)).toMatchObject({
      realised: "10",
      unrealised: "10",
      fees: "0.215",
      funding: "0",
      profit: "19.785",
      trades: 2,
      closingTrades: 1,
      wins: 1,
      winRate: "1",
    });
  });

  // Long 1 at 100 with 20 times leverage: 5 of margin, less the fee of 0.05. The mark leaps to 90: the whole
  // wallet is lost.
  test("that is liquidated has lost its wallet, and what the insurance fund takes is a fee", async () => {
    const { price, trade, carryOut, report } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("FUTURES", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "90");
    await carryOut("FUTURES", { type: "LiquidatePosition", symbol: "BTCUSDT", seen: decimal("90") });
    const found = await report("FUTURES");
    expect(inWords(found)).toMatchObject({
      endEquity: "995",
      realised: "-4.95",
      unrealised: "0",
      fees: "0.05",
      profit: "-5",
      losses: 1,
      wins: 0,
      maximumDrawdown: "5",
    });
  });

  test("whose loss the insurance fund bears in part has realised only what it lost itself", async () => {
    const { price, trade, report, contracts } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("FUTURES", "BUY", "1", "BTCUSDT");
    // The book has left the mark behind, and the position is sold into it: 20 lost, 4.95 in the wallet.
    price(2, "BTCUSDT", "80");
    contracts.setMark("BTCUSDT", "100");
    await trade("FUTURES", "SELL", "1", "BTCUSDT");
    expect(inWords(await report("FUTURES"))).toMatchObject({
      realised: "-4.95",
      // 0.05, and 0.0005 of 80
      fees: "0.09",
      profit: "-5.04",
      losses: 1,
    });
  });

  // Long 1 at 100: at a rate of 0.001 and a mark of 100 a settlement costs 0.1.
  test("that was opened by a clock ahead of the market's has a report as one opened before it", async () => {
    const on = await createFixture();
    on.price(1, "BTCUSDT", "100");
    await on.trade("FUTURES", "BUY", "1", "BTCUSDT");
    on.price(3, "BTCUSDT", "110");
    await on.trade("FUTURES", "SELL", "1", "BTCUSDT");
    on.price(4, "BTCUSDT", "110");
    const expected = inWords(await on.report("FUTURES"));
    const reports = createPerformanceReports({
      store: { ...on.store, findOpeningTime: async () => Date.UTC(2026, 0, 1) },
      markets: { SPOT: on.pairs, FUTURES: on.contracts },
      wallNow: () => 0,
    });
    const found = await reports.report("futures", "all");
    if (found === null) throw new Error("there is a report of a strategy that is there");
    expect(inWords(found)).toEqual(expected);
    // From the first trade on.
    expect(found).toMatchObject({ from: 61_000, to: 241_000 });
  });

  test("pays funding when it is settled, however late it is applied", async () => {
    const { price, trade, carryOut, report } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("FUTURES", "BUY", "1", "BTCUSDT");
    price(5, "BTCUSDT", "100");
    const settlement = {
      symbol: "BTCUSDT",
      fundingTime: 180_002,
      rate: decimal<never>("0.001"),
      markPrice: decimal<never>("100"),
    };
    await carryOut("FUTURES", { type: "SettleFunding", settlement });
    const found = await report("FUTURES");
    expect(curveOf(found).slice(2)).toEqual([
      "2: 999.95",
      "3: 999.95",
      "4: 999.85",
      "5: 999.85",
      "5: 999.85",
    ]);
    expect(inWords(found)).toMatchObject({ funding: "-0.1", fees: "0.05", profit: "-0.15" });
  });
});

describe("a report", () => {
  test("is of the requested range", async () => {
    const { price, trade, report, wall } = await createFixture();
    const day = 24 * 60;
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(2 * day - 1, "BTCUSDT", "120");
    price(3 * day, "BTCUSDT", "110");
    await trade("SPOT", "SELL", "0.999", "BTCUSDT");
    const found = await report("SPOT", "24h");
    expect(found).toMatchObject({ from: 2 * day * 60_000, to: 3 * day * 60_000 + 1_000, stepMs: 300_000 });
    expect(found.points.length).toBe(290);
    // 0.999 BTC that had cost 99.9 bring 109.89; a day ago they were worth 119.88.
    expect(inWords(found)).toMatchObject({
      startEquity: "219.88",
      endEquity: "209.78011",
      realised: "9.99",
      unrealised: "0",
      trades: 1,
    });
    expect((await report("SPOT", "7d")).stepMs).toBe(900_000);
    price(200 * day, "BTCUSDT", "110");
    wall.now += 5_000;
    expect((await report("SPOT", "24h")).stepMs).toBe(300_000);
    expect((await report("SPOT", "7d")).stepMs).toBe(1_800_000);
    expect((await report("SPOT", "30d")).stepMs).toBe(7_200_000);
    expect((await report("SPOT", "all")).stepMs).toBe(86_400_000);
  });

  test("is made once while the account does not change and prices are not old", async () => {
    const { price, trade, report, pairs, wall } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "100");
    const [first, beside] = await Promise.all([report("SPOT"), report("SPOT")]);
    expect(beside).toBe(first);
    const asked = pairs.told.asked.length;
    wall.now += 4_999;
    expect(await report("SPOT")).toBe(first);
    expect(pairs.told.asked.length).toBe(asked);
    wall.now += 1;
    expect(await report("SPOT")).not.toBe(first);
    await trade("SPOT", "SELL", "0.5", "BTCUSDT");
    expect(inWords(await report("SPOT")).trades).toBe(2);
  });

  test("of a strategy of a few minutes follows every move of its market", async () => {
    const { price, trade, report } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    price(2, "BTCUSDT", "90");
    price(3, "BTCUSDT", "120");
    price(14, "BTCUSDT", "110");
    for (const range of ["24h", "7d", "30d", "all"] as const) {
      const { points, stepMs } = await report("SPOT", range);
      expect(stepMs).toBe(3_000);
      // From the first second of 1970: what ends after 3, 6 … seconds, and the present, a second after the
      // 14th minute.
      expect(points.map(({ at }) => at).slice(0, 3)).toEqual([1_000, 3_000, 6_000]);
      expect(points).toHaveLength(282);
      const equityAfter = (seconds: number) => points.findLast(({ at }) => at <= seconds * 1_000)?.equity;
      expect(
        [60, 63, 120, 123, 180, 183].map((seconds) => formatBriefly(equityAfter(seconds) ?? 0n)),
      ).toEqual(["200", "199.9", "199.9", "189.91", "189.91", "219.88"]);
    }
  });

  test("uses the candles of its range, whenever others were requested", async () => {
    const { price, trade, report, wall } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    const day = 24 * 60;
    const later = async (minute: number, cost: string) => {
      for (let before = minute - day; before < minute; before += 5) price(before, "BTCUSDT", cost);
      price(minute, "BTCUSDT", cost);
      wall.now += 5_000;
      const { points } = await report("SPOT", "24h");
      // The first point is at what was paid before the day.
      return new Set(points.slice(1).map(({ equity }) => formatBriefly(equity)));
    };
    expect(await later(2 * day, "120")).toEqual(new Set(["219.88"]));
    for (let minute = 3 * day; minute < 20 * day; minute += 5) price(minute, "BTCUSDT", "130");
    expect(await later(21 * day, "140")).toEqual(new Set(["239.86"]));
  });

  test("asks for candles that it knows no second time", async () => {
    const { price, trade, report, pairs, wall } = await createFixture();
    price(1, "BTCUSDT", "100");
    await trade("SPOT", "BUY", "1", "BTCUSDT");
    for (let minute = 2; minute <= 10; minute += 1) price(minute, "BTCUSDT", "100");
    await report("SPOT");
    price(12, "BTCUSDT", "100");
    wall.now += 5_000;
    await report("SPOT");
    const starts = pairs.told.asked.map((each) => new URLSearchParams(each.split("?")[1]).get("startTime"));
    expect(starts).toEqual(["0", "596000"]);
  });

  test("of a strategy that there is not is none", async () => {
    const { reports } = await createFixture();
    expect(await reports.report("nobody", "all")).toBeNull();
    expect(await reports.trades("nobody")).toEqual({ trades: [], isWhole: true });
    expect(await reports.sparklines(["nobody"])).toEqual([{ strategyId: "nobody", equity: [] }]);
  });
});

test("sparklines are of the last day, an hour apart, in the requested order", async () => {
  const { price, trade, reports } = await createFixture();
  price(1, "BTCUSDT", "100");
  await trade("SPOT", "BUY", "1", "BTCUSDT");
  price(40 * 60, "BTCUSDT", "110");
  const [futures, spot] = await reports.sparklines(["futures", "spot"]);
  expect(futures).toEqual({ strategyId: "futures", equity: Array(24).fill(decimal("1000")) });
  expect(spot?.equity).toHaveLength(24);
  expect(spot?.equity.at(-1)).toBe(decimal("209.89"));
});

test("the sparkline of a strategy of a few minutes bends as its market does", async () => {
  const { price, trade, reports } = await createFixture();
  price(1, "BTCUSDT", "100");
  await trade("SPOT", "BUY", "1", "BTCUSDT");
  price(2, "BTCUSDT", "90");
  price(3, "BTCUSDT", "120");
  price(4, "BTCUSDT", "120");
  const [spot] = await reports.sparklines(["spot"]);
  // A quarter of a minute apart, from the first second of 1970.
  expect(spot?.equity.map(formatBriefly)).toEqual([
    ...Array(5).fill("200"),
    ...Array(4).fill("199.9"),
    ...Array(4).fill("189.91"),
    ...Array(5).fill("219.88"),
  ]);
});
