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

const gateway = seededGateway(6, { futuresStrategyCount: 6 });

describe.skipIf(program === "").each(CLIENTS)(`%s.py${suffix}`, (script) => {
  test.each(["spot", "futures"] as const)("lives a bot's life on %s", async (type) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const facts = await runLife([program, join(SCRIPTS, `${script}.py`)], type, gateway.url, key);
    await expectLife(facts, NAMES[type], type, gateway.url, key);
  });
});
