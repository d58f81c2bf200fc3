// How long a start takes: from the spawn to the first answered request, on a new data directory with a new
// database.
import { once } from "node:events";
import { request } from "node:http";
import { type Spread, spreadOf } from "../statistics.ts";
import type { BenchStore, StoreName } from "../stores.ts";
import { startEcho, startGateway } from "./processes.ts";

export type StartUp = {
  readonly gateways: readonly { readonly store: StoreName; readonly times: Spread }[];
  readonly echo: Spread;
};

/** This many starts of each, interleaved; times in ms. */
export async function measureStartUp(
  stores: readonly BenchStore[],
  starts: number,
  core: number | null,
): Promise<StartUp> {
  const echo: number[] = [];
  const gateways = stores.map((store) => ({ store, times: [] as number[] }));
  while (echo.length < starts) {
    echo.push(
      await timed("/", 401, async () => {
        const bare = await startEcho([], core);
        return { port: bare.port, stop: async () => bare.stop() };
      }),
    );
    for (const { store, times } of gateways) {
      const place = await store.newPlace();
      times.push(await timed("/api/v3/ping", 200, () => startGateway(place, core)));
    }
  }
  return {
    gateways: gateways.map(({ store, times }) => ({ store: store.name, times: spreadOf(times) })),
    echo: spreadOf(echo),
  };
}

async function timed(
  path: string,
  status: number,
  start: () => Promise<{ readonly port: number; stop(): Promise<void> }>,
): Promise<number> {
  const startedAt = performance.now();
  const { port, stop } = await start();
  await answered(port, path, status);
  const tookMs = performance.now() - startedAt;
  await stop();
  return tookMs;
}

async function answered(port: number, path: string, status: number): Promise<void> {
  const asked = request({ host: "127.0.0.1", port, path, agent: false });
  asked.end();
  const [response] = await once(asked, "response");
  response.resume();
  if (response.statusCode !== status) throw new Error(`${path} answered ${response.statusCode} at the start`);
}
