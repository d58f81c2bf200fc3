// What most tests on the wire stand on: one gateway for the whole file, and strategies that no test has touched.
import { afterAll, beforeAll } from "vitest";
import { type Credentials, type GatewayOptions, type GatewayProcess, startGateway } from "./gateway.ts";
import { seedMany, supplyOf } from "./strategies.ts";

export type SeededGateway = {
  readonly url: string;
  readonly dataDir: string;
  /** The process that serves now. */
  readonly process: GatewayProcess["process"];
  /** Everything that the process has written so far. */
  output(): string;
  takeStrategy(): Credentials;
  takeFuturesStrategy(): Credentials;
  /** Ends the gateway, in order or by kill -9, and starts another on the same data. */
  restart(ending: "stop" | "kill"): Promise<void>;
};

export type SeededGatewayOptions = Omit<GatewayOptions, "dataDir"> & {
  readonly futuresStrategyCount?: number;
};

/** Starts a gateway before the tests of the file that calls this and stops it after them; read it only inside tests. */
export function seededGateway(
  strategyCount: number,
  { futuresStrategyCount = 0, ...options }: SeededGatewayOptions = {},
): SeededGateway {
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
    get url() {
      return gateway.url;
    },
    get dataDir() {
      return gateway.dataDir;
    },
    get process() {
      return gateway.process;
    },
    output: () => gateway.output(),
    takeStrategy: () => takeStrategy(),
    takeFuturesStrategy: () => takeFuturesStrategy(),
    async restart(ending) {
      const { dataDir } = gateway;
      await gateway[ending]();
      gateway = await startGateway({ ...options, dataDir });
    },
  };
}
