// How long a start takes: from the spawn to the first answered request, on a new data directory.
import { once } from "node:events";
import { request } from "node:http";
import { type Echo, startEcho, startGateway } from "./processes.ts";
import { type Spread, spreadOf } from "./statistics.ts";

const STARTS = 5;

export async function measureStartUp(
  newDirectory: () => string,
  core: number | null,
): Promise<{ readonly gateway: Spread; readonly echo: Spread }> {
  const gateway: number[] = [];
  const echo: number[] = [];
  while (gateway.length < STARTS) {
    const dataDir = newDirectory();
    const startedAt = performance.now();
    const started = await startGateway(dataDir, core);
    await answered(started.port, "/api/v3/ping", 200);
    gateway.push(performance.now() - startedAt);
    await started.stop();

    const echoStartedAt = performance.now();
    const bare: Echo = await startEcho([], core);
    await answered(bare.port, "/", 401);
    echo.push(performance.now() - echoStartedAt);
    bare.stop();
  }
  return { gateway: spreadOf(gateway), echo: spreadOf(echo) };
}

async function answered(port: number, path: string, status: number): Promise<void> {
  const asked = request({ host: "127.0.0.1", port, path, agent: false });
  asked.end();
  const [response] = await once(asked, "response");
  response.resume();
  if (response.statusCode !== status) throw new Error(`${path} answered ${response.statusCode} at the start`);
}
