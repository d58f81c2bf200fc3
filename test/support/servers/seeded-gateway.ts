// What most tests on the wire stand on: one gateway for the whole file, and strategies that no test has
// touched.
import { afterAll, beforeAll } from "vitest";
import type { StrategyType } from "../../../src/domain/account.ts";
import { untilPriced } from "../prices.ts";
import { seedMany, supplyOf } from "../strategies.ts";
import { type Credentials, type GatewayOptions, type GatewayProcess, startGateway } from "./gateway.ts";

export type SeededGateway = ReturnType<typeof seededGateway>;

export type SeededGatewayOptions = Omit<GatewayOptions, "dataDir"> & {
  readonly futuresStrategyCount?: number;
};

/**
 * Starts a gateway before the tests of the file that calls this and stops it after them; read it only inside
 * tests. It has prices of BTCUSDT, of the types that have strategies.
 */
export function seededGateway(
  strategyCount: number,
  { futuresStrategyCount = 0, ...options }: SeededGatewayOptions = {},
) {
  let gateway: GatewayProcess;
  let takeStrategy: () => Credentials;
  let takeFuturesStrategy: () => Credentials;

  const pricedWith: (readonly [StrategyType, Credentials])[] = [];

  async function start(dataDir?: string): Promise<void> {
    gateway = await startGateway({ ...options, ...(dataDir !== undefined && { dataDir }) });
    for (const [type, key] of pricedWith) await untilPriced(gateway.url, key, type);
  }

  /** Strategies for tests, and one more, with which the prices are awaited. */
  async function seed(type: StrategyType, count: number): Promise<readonly Credentials[]> {
    if (count === 0) return [];
    const [first, ...others] = await seedMany(gateway.dataDir, 1 + count, type);
    if (first === undefined) throw new Error("strategies were made");
    pricedWith.push([type, first]);
    await untilPriced(gateway.url, first, type);
    return others;
  }

  beforeAll(async () => {
    await start();
    takeStrategy = supplyOf(await seed("SPOT", strategyCount));
    takeFuturesStrategy = supplyOf(await seed("FUTURES", futuresStrategyCount));
  });

  afterAll(async () => {
    await gateway.stop();
  });

  return {
    get url(): string {
      return gateway.url;
    },
    get dataDir(): string {
      return gateway.dataDir;
    },
    /** The process that serves now. */
    get process(): GatewayProcess["process"] {
      return gateway.process;
    },
    /** Everything that the process has written so far. */
    output: () => gateway.output(),
    takeStrategy: () => takeStrategy(),
    takeFuturesStrategy: () => takeFuturesStrategy(),
    /** Ends the gateway, in order or by kill -9, and starts another on the same data. */
    async restart(ending: "stop" | "kill"): Promise<void> {
      const { dataDir } = gateway;
      await gateway[ending]();
      await start(dataDir);
    },
  };
}
