// Stock clients of Python, unmodified, on the exchange's sockets: each lives a bot's life (`socket-life.ts`).
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { pythonWith, SCRIPTS } from "./client-programs.ts";
import {
  ACCOUNT_FACTS,
  expectLife,
  type LifeType,
  MARKET_FACTS,
  ORDER_FACTS,
  runLife,
} from "./socket-life.ts";
import { openStrictFixture, type StrictFixture } from "./strict-fixture.ts";

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

describe.skipIf(program === "")(`clients under strict${suffix}`, () => {
  let fixture: StrictFixture;
  beforeAll(async () => {
    fixture = await openStrictFixture();
  });
  afterAll(() => fixture?.close());

  /** What a client says of the orders that `trade_partly` places, in a program of its own. */
  async function lifeUnderStrict(script: (typeof CLIENTS)[number], type: LifeType) {
    const key = await fixture.seed(type === "spot" ? "SPOT" : "FUTURES");
    const command = [program, join(SCRIPTS, `${script}.py`)];
    const facts = await runLife(command, type, fixture.url, key, { LIFE: "strict" });
    expect(facts.has("closed")).toBe(true);
    return facts;
  }

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

  test.each([
    ["python_binance", "spot"],
    ["python_binance", "futures"],
    ["binance_sdk", "spot"],
    ["binance_sdk", "futures"],
  ] as const)("%s.py reads fills in part and a refusal on %s", async (client, type) => {
    const facts = await lifeUnderStrict(client, type);
    const reports = ["walked", "taken", "partly"].map((name) => [name, facts.get(name)?.reports.slice(1)]);
    expect(Object.fromEntries(reports)).toEqual(REPORTS[type]);
    // (0.004 × 60000.1 + 0.002 × 60001) / 0.006
    if (type === "futures") expect(facts.get("walked")).toMatchObject({ average: "60000.40" });
    expect(facts.get("refused")).toEqual({ code: type === "spot" ? -2010 : -5022 });
  });

  const ORDERS = {
    spot: {
      walked: {
        status: "closed",
        filled: 0.0007,
        fills: [
          [60_000, 0.0005],
          [60_001, 0.0002],
        ],
      },
      taken: { status: "expired", filled: 0.0003, fills: [[60_001, 0.0003]] },
      partly: { status: "open", filled: 0.001, fills: [[60_010, 0.001]] },
    },
    futures: {
      walked: {
        status: "closed",
        filled: 0.006,
        average: 60_000.4,
        fills: [
          [60_000.1, 0.004],
          [60_001, 0.002],
        ],
      },
      taken: { status: "expired", filled: 0.002, fills: [[60_001, 0.002]] },
      partly: { status: "open", filled: 0.008, fills: [[60_010, 0.008]] },
    },
  } as const;

  test.each(["spot", "futures"] as const)(
    "ccxt_pro.py reads the same in its own terms on %s",
    async (type) => {
      const facts = await lifeUnderStrict("ccxt_pro", type);
      for (const [name, { fills, ...order }] of Object.entries(ORDERS[type])) {
        const asTaker = [...fills].map((fill: readonly [number, number]) => [...fill, "taker"]);
        expect(facts.get(name)).toMatchObject({ ...order, fills: asTaker });
      }
      expect(facts.get("refused").text).toContain(type === "spot" ? "would immediately match" : "-5022");
    },
  );
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
