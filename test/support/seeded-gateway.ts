// What most tests on the wire stand on: one gateway for the whole file, and strategies that no test has touched.
import { afterAll, beforeAll } from "vitest";
import { type Credentials, type GatewayProcess, startGateway } from "./gateway.ts";
import { seedMany, supplyOf } from "./strategies.ts";

export type SeededGateway = {
  readonly url: string;
  takeStrategy(): Credentials;
};

/** Starts a gateway before the tests of the file that calls this and stops it after them; read it only inside tests. */
export function seededGateway(strategyCount: number): SeededGateway {
  let gateway: GatewayProcess;
  let takeStrategy: () => Credentials;

  beforeAll(async () => {
    gateway = await startGateway();
    takeStrategy = supplyOf(await seedMany(gateway.dataDir, strategyCount));
  });

  afterAll(async () => {
    await gateway.stop();
  });

  return {
    get url() {
      return gateway.url;
    },
    takeStrategy: () => takeStrategy(),
  };
}
