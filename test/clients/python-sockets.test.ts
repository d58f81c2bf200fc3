// Stock clients of Python, unmodified, on the exchange's sockets: each lives a bot's life (`socket-life.ts`).
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededGateway } from "../support/seeded-gateway.ts";
import { pythonWith, SCRIPTS } from "./client-programs.ts";
import { ACCOUNT_FACTS, expectLife, MARKET_FACTS, ORDER_FACTS, runLife } from "./socket-life.ts";
import { openStrictStage, type StrictStage } from "./strict-stage.ts";

const NAMES = {
  spot: [...MARKET_FACTS, ...ORDER_FACTS, ...ACCOUNT_FACTS.spot, "balance over the WebSocket API", "closed"],
  futures: [
    ...MARKET_FACTS,
    ...ORDER_FACTS,
    ...ACCOUNT_FACTS.futures,
    "position over the WebSocket API",
    "closed",
  ],
} as const;

const CLIENTS = ["ccxt_pro", "python_binance", "binance_sdk", "unicorn"] as const;

const runner = await pythonWith("requirements.txt");
const program = "program" in runner ? runner.program : "";
const suffix = "missing" in runner ? ` (${runner.missing})` : "";

const newer = await pythonWith("requirements-nautilus.txt", { minor: 12 });
const newerProgram = "program" in newer ? newer.program : "";
const newerSuffix = "missing" in newer ? ` (${newer.missing})` : "";

const gateway = seededGateway(6, { futuresStrategyCount: 6 });

describe.skipIf(program === "").each(CLIENTS)(`%s.py${suffix}`, (script) => {
  test.each(["spot", "futures"] as const)("lives a bot's life on %s", async (type) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const facts = await runLife([program, join(SCRIPTS, `${script}.py`)], type, gateway.url, key);
    await expectLife(facts, NAMES[type], type, gateway.url, key);
  });
});

describe.skipIf(program === "")(`python_binance.py under strict${suffix}`, () => {
  let stage: StrictStage;
  beforeAll(async () => {
    stage = await openStrictStage();
  });
  afterAll(() => stage?.close());

  const REPORTS = {
    spot: {
      walked: ["TRADE PARTIALLY_FILLED 0.00050000 0.00050000", "TRADE FILLED 0.00020000 0.00070000"],
      taken: ["TRADE PARTIALLY_FILLED 0.00030000 0.00030000", "EXPIRED EXPIRED 0.00000000 0.00030000"],
      partly: ["TRADE PARTIALLY_FILLED 0.00100000 0.00100000", "CANCELED CANCELED 0.00000000 0.00100000"],
    },
    futures: {
      walked: ["TRADE PARTIALLY_FILLED 0.004 0.004", "TRADE FILLED 0.002 0.006"],
      taken: ["TRADE PARTIALLY_FILLED 0.002 0.002", "EXPIRED EXPIRED 0 0.002"],
      partly: ["TRADE PARTIALLY_FILLED 0.008 0.008", "CANCELED CANCELED 0 0.008"],
    },
  } as const;

  test.each(["spot", "futures"] as const)("reads fills in part and a refusal on %s", async (type) => {
    const key = await stage.seed(type === "spot" ? "SPOT" : "FUTURES");
    const script = join(SCRIPTS, "python_binance.py");
    const facts = await runLife([program, script], type, stage.url, key, { LIFE: "strict" });
    const reports = ["walked", "taken", "partly"].map((name) => [name, facts.get(name)?.reports.slice(1)]);
    expect(Object.fromEntries(reports)).toEqual(REPORTS[type]);
    // (0.004 × 60000.1 + 0.002 × 60001) / 0.006
    if (type === "futures") expect(facts.get("walked")).toMatchObject({ average: "60000.40" });
    expect(facts.get("refused")).toEqual({ code: type === "spot" ? -2010 : -5022 });
    expect(facts.has("closed")).toBe(true);
  });
});

describe.skipIf(newerProgram === "")(`nautilus.py${newerSuffix}`, () => {
  test.each(["spot", "futures"] as const)("lives a bot's life on %s", async (type) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const facts = await runLife([newerProgram, join(SCRIPTS, "nautilus.py")], type, gateway.url, key);
    // Its candles come when they are closed, which takes a minute.
    const market = MARKET_FACTS.filter((name) => name !== "candle");
    const names = [...market, ...ORDER_FACTS, ...ACCOUNT_FACTS[type], "closed"];
    await expectLife(facts, names, type, gateway.url, key);
  });
});
