// Stock clients of Python, unmodified, on the exchange's sockets: each lives a bot's life (`socket-life.ts`).
import { join } from "node:path";
import { describe, test } from "vitest";
import { seededGateway } from "../support/seeded-gateway.ts";
import { pythonWith, SCRIPTS } from "./client-programs.ts";
import { ACCOUNT_FACTS, expectLife, MARKET_FACTS, ORDER_FACTS, runLife } from "./socket-life.ts";

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

const newer = await pythonWith("requirements-nautilus.txt", 12);
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
