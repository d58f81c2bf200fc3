// The futures account routes, number by number: the worked examples of the reference exchange under our
// margin rule, on a market that the test controls. Source: specification 2.4 and 4.2; design, section 6;
// reference exchange, sections 11 and 15.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { futuresTrader } from "../../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../../support/own-contracts.ts";
import { type Call, type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import { refusalOf } from "../../support/spot-trader.ts";

const symbol = "BTCUSDT";
const market = new OwnContracts([contractRow(symbol), contractRow("ETHUSDT"), contractRow("GONEUSDT")]);
let gateway: InProcessGateway;
let call: Call;
let ask: ReturnType<typeof futuresTrader>;

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
});

afterAll(async () => {
  await gateway.close();
});

beforeEach(async () => {
  market.show(symbol, "59999.9", "60000");
  market.show("ETHUSDT", "3000", "3000.1");
  market.show("GONEUSDT", "1000", "1000.1");
  call = gateway.callsOf(await gateway.seed("FUTURES"));
  ask = futuresTrader(call);
});

/** Example A: 0.02 at 60,000, ten times. */
async function openExample(): Promise<void> {
  await ask.setLeverage({ symbol, leverage: 10 });
  const { status } = await ask.place({ symbol, side: "BUY", type: "MARKET", quantity: "0.02" });
  expect(status).toBe(200);
}

describe("an account without positions", () => {
  test("has its seed, and nothing else", async () => {
    const { body } = await ask.account();
    expect(body).toMatchObject({
      totalWalletBalance: "1000.00000000",
      totalMarginBalance: "1000.00000000",
      availableBalance: "1000.00000000",
      totalInitialMargin: "0.00000000",
      canTrade: true,
      positions: [],
    });
    expect(body.assets).toHaveLength(1);
    expect(body.assets[0].updateTime).toBe(market.time);
    expect((await ask.positionRisk()).body).toEqual([]);
    expect((await ask.balance()).body).toMatchObject([{ asset: "USDT", balance: "1000.00000000" }]);
  });

  test("shows a flat row of a symbol that is named, with its mark price and the leverage that was chosen", async () => {
    const flat = { symbol: "ETHUSDT", positionAmt: "0.000", entryPrice: "0", liquidationPrice: "0" };
    const { body } = await ask.positionRisk({ symbol: "ETHUSDT" });
    expect(body).toMatchObject([
      { ...flat, markPrice: "3000.10000000", notional: "0.00000000", leverage: "20", updateTime: 0 },
    ]);
    await ask.setLeverage({ symbol: "ETHUSDT", leverage: 3 });
    expect((await ask.positionRisk({ symbol: "ETHUSDT" })).body).toMatchObject([{ ...flat, leverage: "3" }]);
  });
});

describe("example A", () => {
  test("right after its opening", async () => {
    await openExample();
    const { body } = await ask.positionRisk();
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({
      symbol,
      positionSide: "BOTH",
      positionAmt: "0.020",
      entryPrice: "60000",
      breakEvenPrice: "60030",
      markPrice: "60000.00000000",
      unRealizedProfit: "0.00000000",
      liquidationPrice: "54246.9879518",
      leverage: "10",
      marginType: "isolated",
      isAutoAddMargin: "false",
      isolatedWallet: "119.40000000",
      isolatedMargin: "119.40000000",
      notional: "1200.00000000",
      positionInitialMargin: "120.00000000",
      maintMargin: "4.80000000",
      maxNotionalValue: "12000000",
      marginAsset: "USDT",
      updateTime: market.time,
    });
    expect((await ask.account()).body).toMatchObject({
      totalWalletBalance: "999.40000000",
      totalCrossWalletBalance: "880.00000000",
      availableBalance: "880.00000000",
      totalPositionInitialMargin: "120.00000000",
      positions: [{ symbol, isolated: true, unrealizedProfit: "0.00000000", positionAmt: "0.020" }],
    });
  });

  test("at a mark of 61,000, with an open entry", async () => {
    await openExample();
    const entry = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.01" };
    await ask.place({ ...entry, price: "58000" });
    market.show(symbol, "60999.9", "61000");
    const { body } = await ask.account();
    expect(body).toMatchObject({
      totalWalletBalance: "999.40000000",
      totalUnrealizedProfit: "20.00000000",
      totalMarginBalance: "1019.40000000",
      totalMaintMargin: "4.88000000",
      totalPositionInitialMargin: "122.00000000",
      totalOpenOrderInitialMargin: "58.00000000",
      totalInitialMargin: "180.00000000",
      totalCrossWalletBalance: "880.00000000",
      availableBalance: "822.00000000",
      maxWithdrawAmount: "822.00000000",
    });
    expect(body.assets).toMatchObject([
      {
        walletBalance: "999.40000000",
        unrealizedProfit: "20.00000000",
        marginBalance: "1019.40000000",
        initialMargin: "180.00000000",
        availableBalance: "822.00000000",
        crossUnPnl: "0.00000000",
      },
    ]);
    expect((await ask.positionRisk({ symbol })).body).toMatchObject([
      {
        unRealizedProfit: "20.00000000",
        notional: "1220.00000000",
        isolatedMargin: "139.40000000",
        isolatedWallet: "119.40000000",
        openOrderInitialMargin: "58.00000000",
        initialMargin: "180.00000000",
        bidNotional: "580.00000000",
        askNotional: "0.00000000",
      },
    ]);
    expect((await ask.balance()).body).toMatchObject([
      {
        balance: "999.40000000",
        crossWalletBalance: "880.00000000",
        availableBalance: "822.00000000",
      },
    ]);
  });

  test("as a short", async () => {
    await ask.setLeverage({ symbol, leverage: 10 });
    market.show(symbol, "60000", "60000.1", "60000");
    await ask.place({ symbol, side: "SELL", type: "MARKET", quantity: "0.02" });
    market.show(symbol, "60999.9", "61000");
    expect((await ask.positionRisk()).body).toMatchObject([
      {
        positionAmt: "-0.020",
        notional: "-1220.00000000",
        unRealizedProfit: "-20.00000000",
        breakEvenPrice: "59970",
        // (119.40 + 1,200) / (0.02 × 1.004), and never later than that.
        liquidationPrice: "65707.17131475",
      },
    ]);
  });

  test("when its contract is not listed any more, as far as it is known", async () => {
    const gone = "GONEUSDT";
    await ask.place({ symbol: gone, side: "BUY", type: "MARKET", quantity: "0.1" });
    market.delist(gone);
    const [row] = (await ask.positionRisk()).body;
    expect(row).toMatchObject({
      symbol: gone,
      positionAmt: "0.1",
      liquidationPrice: "0",
      notional: "100.01000000",
    });
    expect((await ask.account()).status).toBe(200);
    expect((await ask.positionRisk({ symbol: gone })).status).toBe(200);
    expect((await ask.userTrades({ symbol: gone })).body).toMatchObject([{ qty: "0.1", price: "1000.1" }]);
  });
});

test("a market that is silent hinders no reading: a position is shown at the last mark price that was known", async () => {
  await openExample();
  market.show(symbol, "60999.9", "61000");
  market.silence(symbol);
  const risk = await ask.positionRisk();
  expect(risk.status).toBe(200);
  expect(risk.body).toMatchObject([{ markPrice: "61000.00000000", unRealizedProfit: "20.00000000" }]);
  expect((await ask.account()).body).toMatchObject({ totalUnrealizedProfit: "20.00000000" });
});

describe("aliases", () => {
  test.each([
    ["account", "/fapi/v2/account", "/fapi/v3/account"],
    ["balance", "/fapi/v2/balance", "/fapi/v3/balance"],
    ["positionRisk", "/fapi/v2/positionRisk", "/fapi/v3/positionRisk"],
  ])("%s is one body under both versions", async (_name, older, newer) => {
    await openExample();
    const [one, other] = [await call("GET", older), await call("GET", newer)];
    expect(one.status).toBe(200);
    expect(one.body).toEqual(other.body);
  });
});

describe("incomes", () => {
  test("are what moved the wallet, and their sum is its balance", async () => {
    await openExample();
    market.time += 3_600_000;
    const settlement = market.settlement(symbol, "0.0001");
    const { strategyId } = await strategyOf();
    await gateway.desk.execute(strategyId, { type: "SettleFunding", settlement }, { key: "funding:one" });
    market.time += 1_000;
    market.show(symbol, "61000", "61000.1");
    await ask.place({ symbol, side: "SELL", type: "MARKET", quantity: "0.02" });
    const { body } = await ask.income();
    expect(
      body.map(({ incomeType, income, tradeId }: Record<string, string>) => [incomeType, income, tradeId]),
    ).toEqual([
      ["TRANSFER", "1000.00000000", ""],
      ["COMMISSION", "-0.60000000", "1"],
      ["FUNDING_FEE", "-0.12000000", ""],
      ["REALIZED_PNL", "20.00000000", "2"],
      ["COMMISSION", "-0.61000000", "2"],
    ]);
    const sum = body.reduce((total: number, { income }: { income: string }) => total + Number(income), 0);
    expect((await ask.account()).body.totalWalletBalance).toBe(sum.toFixed(8));
    expect(body[2]).toMatchObject({
      symbol,
      asset: "USDT",
      info: "FUNDING_FEE",
      time: settlement.fundingTime,
    });
    expect(body[0].symbol).toBe("");
    expect((await ask.income({ incomeType: "FUNDING_FEE", symbol })).body).toEqual([body[2]]);
    expect((await ask.income({ incomeType: "REFERRAL_KICKBACK" })).body).toEqual([]);
    expect((await ask.income({ symbol: "ETHUSDT" })).body).toEqual([]);
    expect((await ask.income({ limit: 2, page: 2 })).body).toEqual(body.slice(2, 4));
    expect((await ask.income({ startTime: settlement.fundingTime })).body).toEqual(body.slice(2));
    expect((await ask.income({ endTime: settlement.fundingTime - 1 })).body).toEqual(body.slice(0, 2));
    // Without times it is the last seven days.
    market.time += 7 * 86_400_000;
    expect((await ask.income()).body).toEqual(body.slice(3));
    expect((await ask.income({ startTime: 1 })).body).toEqual(body);
    // What is older than three months is not listed.
    market.time = settlement.fundingTime + 92 * 86_400_000;
    expect((await ask.income({ startTime: 1 })).body).toEqual(body.slice(2));
    market.time += 1;
    expect((await ask.income({ startTime: 1 })).body).toEqual(body.slice(3));
    expect((await ask.income({ endTime: settlement.fundingTime })).body).toEqual([]);
  });

  test.each([
    [{ limit: 0 }, -1130],
    [{ limit: 1_001 }, -1130],
    [{ limit: "x" }, -1100],
    [{ page: 0 }, -1130],
    [{ startTime: "then" }, -1100],
    [{ startTime: 2, endTime: 1 }, -1023],
  ])("asked for with %j are refused with %i", async (parameters, code) => {
    expect(refusalOf(await ask.income(parameters))).toMatchObject({ status: 400, code });
  });

  async function strategyOf() {
    const { body } = await ask.balance();
    return { strategyId: String(body[0].accountAlias) };
  }
});

describe("what holds for contracts", () => {
  test("leverageBracket is a list of numbers, of one contract as of all", async () => {
    const { body } = await call("GET", "/fapi/v1/leverageBracket", { symbol });
    expect(body).toHaveLength(1);
    expect(body[0].brackets[1]).toEqual({
      bracket: 2,
      initialLeverage: 100,
      notionalCap: 600_000,
      notionalFloor: 50_000,
      maintMarginRatio: 0.005,
      cum: 50,
    });
    const all = (await call("GET", "/fapi/v1/leverageBracket")).body;
    expect(all).toContainEqual(body[0]);
    expect(all.length).toBeGreaterThan(1);
  });

  test("symbolConfig has the leverage, the largest position with it and isolated margin", async () => {
    await ask.setLeverage({ symbol, leverage: 75 });
    const { body } = await call("GET", "/fapi/v1/symbolConfig", { symbol });
    expect(body).toEqual([
      { symbol, marginType: "ISOLATED", isAutoAddMargin: false, leverage: 75, maxNotionalValue: "3000000" },
    ]);
  });

  test.each([
    ["GET", "/fapi/v3/positionRisk", { symbol: "NOSUCH" }, -1121],
    ["GET", "/fapi/v1/leverageBracket", { symbol: "NOSUCH" }, -1121],
    ["GET", "/fapi/v1/symbolConfig", { symbol: "NOSUCH" }, -1121],
    ["GET", "/fapi/v1/commissionRate", { symbol: "NOSUCH" }, -1121],
    ["GET", "/fapi/v1/commissionRate", {}, -1102],
  ] as const)("%s %s %j is refused with %i", async (method, path, parameters, code) => {
    expect(refusalOf(await call(method, path, parameters))).toMatchObject({ status: 400, code });
  });
});

describe("settings", () => {
  test("leverage above the highest of the contract sets the highest, and the answer has it", async () => {
    expect((await ask.setLeverage({ symbol, leverage: 126 })).body).toEqual({
      leverage: 125,
      maxNotionalValue: "50000",
      symbol,
    });
    expect((await ask.setLeverage({ symbol, leverage: 125 })).body).toMatchObject({ leverage: 125 });
    const digits = "9".repeat(20);
    expect((await ask.setLeverage({ symbol, leverage: digits })).body).toMatchObject({ leverage: 125 });
    expect((await ask.setLeverage({ symbol, leverage: "1" })).body).toMatchObject({ leverage: 1 });
  });

  test("leverage may be raised under a position, and not lowered", async () => {
    await openExample();
    expect(refusalOf(await ask.setLeverage({ symbol, leverage: 9 }))).toEqual({
      status: 400,
      code: -4161,
      msg: "Leverage reduction is not supported in Isolated Margin Mode with open positions",
    });
    expect((await ask.setLeverage({ symbol, leverage: 11 })).body).toMatchObject({ leverage: 11 });
  });

  test.each([
    ["leverage", {}, -1102],
    ["leverage", { symbol }, -1102],
    ["leverage", { symbol, leverage: 0 }, -4028],
    ["leverage", { symbol, leverage: "1.5" }, -1100],
    ["leverage", { symbol, leverage: -1 }, -1100],
    ["leverage", { symbol, leverage: "ten" }, -1100],
    ["leverage", { symbol: "NOSUCH", leverage: 10 }, -1121],
    ["marginType", { marginType: "ISOLATED" }, -1102],
    ["marginType", { symbol }, -1102],
    ["marginType", { symbol, marginType: "CROSSED" }, -2010],
    ["marginType", { symbol, marginType: "isolated" }, -1130],
    ["marginType", { symbol: "NOSUCH", marginType: "ISOLATED" }, -1121],
    ["positionSide/dual", {}, -1102],
    ["positionSide/dual", { dualSidePosition: "false" }, -4059],
    ["positionSide/dual", { dualSidePosition: "true" }, -2010],
    ["positionSide/dual", { dualSidePosition: "perhaps" }, -1130],
    ["multiAssetsMargin", {}, -1102],
    ["multiAssetsMargin", { multiAssetsMargin: "False" }, -4171],
    ["multiAssetsMargin", { multiAssetsMargin: "true" }, -2010],
  ] as const)("POST %s %j is refused with %i", async (path, parameters, code) => {
    expect(refusalOf(await call("POST", `/fapi/v1/${path}`, parameters))).toMatchObject({
      status: 400,
      code,
    });
  });

  test("are writes: a strategy that is closed keeps what it has", async () => {
    await ask.close();
    const changes = [
      ["leverage", { symbol, leverage: 5 }],
      ["marginType", { symbol, marginType: "ISOLATED" }],
      ["positionSide/dual", { dualSidePosition: "false" }],
    ] as const;
    for (const [path, parameters] of changes) {
      const answer = await call("POST", `/fapi/v1/${path}`, parameters);
      expect(refusalOf(answer)).toEqual({ status: 400, code: -2010, msg: "Strategy not live" });
    }
    expect((await call("GET", "/fapi/v1/accountConfig")).body).toMatchObject({ canTrade: false });
  });
});
