// Stock clients of Python, unmodified, on the exchange's sockets: each lives a bot's life (`socket-life.ts`).
import { join } from "node:path";
import { describe, test } from "vitest";
import { seededGateway } from "../support/seeded-gateway.ts";
import { pythonWith, SCRIPTS } from "./client-programs.ts";
import { ACCOUNT_FACTS, expectLife, MARKET_FACTS, ORDER_FACTS, runLife } from "./socket-life.ts";

const SPOT = [
  ...MARKET_FACTS,
  ...ORDER_FACTS,
  ...ACCOUNT_FACTS.spot,
  "balance over the WebSocket API",
  "closed",
];

/** Script → what it tells in each type, in this order. */
const LIVES = {
  ccxt_pro: { spot: SPOT },
  python_binance: { spot: SPOT },
  binance_sdk: { spot: SPOT },
  unicorn: { spot: SPOT },
} as const;

const runner = await pythonWith("requirements.txt");
const program = "program" in runner ? runner.program : "";
const suffix = "missing" in runner ? ` (${runner.missing})` : "";

const gateway = seededGateway(6, { futuresStrategyCount: 6 });

describe.skipIf(program === "").each(Object.entries(LIVES))(`%s.py${suffix}`, (script, types) => {
  test.each(Object.entries(types))("lives a bot's life on %s", async (type, names) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const command = [program, join(SCRIPTS, `${script}.py`)];
    const facts = await runLife(command, type as "spot", gateway.url, key);
    await expectLife(facts, names, type as "spot", gateway.url, key);
  });
});
