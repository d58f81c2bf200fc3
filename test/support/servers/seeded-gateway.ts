// What most tests on the wire stand on: one gateway for the whole file, and strategies that no test has
// touched.
import { afterAll, beforeAll } from "vitest";
import { seedMany, supplyOf } from "../strategies.ts";
import { type Credentials, type GatewayOptions, type GatewayProcess, startGateway } from "./gateway.ts";

export type SeededGateway = ReturnType<typeof seededGateway>;

export type SeededGatewayOptions = Omit<GatewayOptions, "dataDir"> & {
  readonly futuresStrategyCount?: number;
};

/**
 * Starts a gateway before the tests of the file that calls this and stops it after them; read it only inside
 * tests.
 */
export function seededGateway(
  strategyCount: number,
  { futuresStrategyCount = 0, ...options }: SeededGatewayOptions = {},
) {
  let gateway: GatewayProcess;
  let takeStrategy: () => Credentials;
  let takeFuturesStrategy: () => Credentials;

  beforeAll(async () => {
    gateway = await startGateway(options);
    takeStrategy = supplyOf(await seedMany(gateway.dataDir, strategyCount));
    takeFuturesStrategy = supplyOf(await seedMany(gateway.dataDir, futuresStrategyCount, "FUTURES"));
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
      gateway = await startGateway({ ...options, dataDir });
    },
  };
}
