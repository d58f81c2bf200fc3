// A strategy's performance in its owner's browser and in files, and refused to everyone else.
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPORTS_QUEUED_MAX } from "../../../src/dashboard-api/report-queue.ts";
import { buy, executed } from "../../../src/desk/testing/fixture.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { signedUnits } from "../../support/exact.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";

stayOnLoopback();

let fixture: DashboardFixture;
let owner: Browser;
let strategyId: string;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  owner = await fixture.somebody({});
  const { key } = await owner.send("POST", "/keys", { label: "mine", code: owner.code() });
  const made = { name: '=Spot, "mine"', type: "SPOT", keyId: key.keyId };
  strategyId = (await owner.send("POST", "/strategies", made)).strategyId;
  const order = { ...buy("market", "one"), size: { quoteQuantity: 5_000_000_000n as never } };
  executed(await fixture.gateway.desk.execute(strategyId, order));
});
afterAll(() => fixture.close());

test("a report equals the engine's books, to the last digit", async () => {
  const { points, statistics, ...report } = await owner.get(
    `/strategies/${strategyId}/performance?range=all`,
  );
  const [trade] = await fixture.gateway.store.listTrades(strategyId, { symbol: "BTCUSDT", limit: 1 });
  if (trade === undefined) throw new Error("the order was filled");
  expect(report).toMatchObject({ range: "all", stepMs: 1_000, unpriced: [], isWhole: true });
  expect(points.at(0).equity).toBe("200");
  expect(points.at(-1)).toMatchObject({ at: report.to, equity: statistics.endEquity });
  expect(statistics).toMatchObject({ startEquity: "200", trades: 1, closingTrades: 0, winRate: null });
  const units = signedUnits;
  const { realised, unrealised, fees, funding, profit } = statistics;
  expect(units(realised) + units(unrealised) - units(fees) + units(funding)).toBe(units(profit));
});

test("a range is one of four, the last day unless said", async () => {
  expect((await owner.get(`/strategies/${strategyId}/performance`)).range).toBe("24h");
  for (const range of ["1y", "ALL", "", "24h&range=7d"]) {
    const answer = await owner.call("GET", `/strategies/${strategyId}/performance?range=${range}`);
    expect(answer.status, range).toBe(400);
  }
});

test("files have names that are safe, and a line a row", async () => {
  const curve = await owner.call("GET", `/strategies/${strategyId}/performance.csv?range=all`);
  expect(curve.status).toBe(200);
  expect(curve.headers["content-type"]).toContain("text/csv");
  expect(curve.headers["content-disposition"]).toBe('attachment; filename="spot-mine-equity-all.csv"');
  expect(curve.text.split("\r\n")[0]).toBe("time,equity,drawdown,drawdown rate");
  const trades = await owner.call("GET", `/strategies/${strategyId}/trades.csv`);
  expect(trades.headers["content-disposition"]).toBe('attachment; filename="spot-mine-trades.csv"');
  expect(trades.text.split("\r\n")[1]).toMatch(/Z,1,1,BTCUSDT,BUY,/);
});

test("another's strategy is not found, and is in no list but its owner's", async () => {
  const stranger = await fixture.somebody({});
  for (const path of ["performance", "performance.csv", "trades.csv"]) {
    const answer = await stranger.call("GET", `/strategies/${strategyId}/${path}`);
    const none = await stranger.call("GET", `/strategies/none/${path}`);
    expect([answer.status, answer.body]).toEqual([404, none.body]);
  }
  expect(await stranger.get("/strategies/sparklines")).toEqual({ rows: [] });
  const { rows } = await owner.get("/strategies/sparklines");
  expect(rows).toEqual([{ strategyId, equity: expect.arrayContaining(["200"]) }]);
});

test("so many reports of one owner wait; one more is refused with how long to wait, and others have theirs", async () => {
  const other = await fixture.somebody({});
  const { store } = fixture.gateway;
  const { loadAccount } = store;
  const isHeld = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  store.loadAccount = async (id) => {
    isHeld.resolve();
    await release.promise;
    return await loadAccount.call(store, id);
  };
  const paths = [
    "sparklines",
    ...["performance", "performance.csv", "trades.csv"].map((each) => `${strategyId}/${each}`),
  ];
  const ask = (index: number) => owner.call("GET", `/strategies/${paths[index % paths.length]}`);
  try {
    const answers = [ask(0)];
    await isHeld.promise;
    // One more than may wait: whichever comes last.
    for (let index = 1; index <= REPORTS_QUEUED_MAX + 1; index += 1) answers.push(ask(index));
    const refused = await Promise.race(answers);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "TOO_MANY_REQUESTS" } } });
    expect(refused.headers["retry-after"]).toBe("5");
    expect(refused.body.error.message).toContain("reports of your strategies");
    expect(await other.get("/strategies/sparklines")).toEqual({ rows: [] });
    release.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(REPORTS_QUEUED_MAX + 1);
  } finally {
    release.resolve();
    store.loadAccount = loadAccount;
  }
});
