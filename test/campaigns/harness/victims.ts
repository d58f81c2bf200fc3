// What is killed: a gateway, the server of its database, or both; and what a gateway whose database was
// killed must do.

import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StrategyType } from "../../../src/domain/account.ts";
import { eventually } from "../../support/eventually.ts";
import { type Credentials, type GatewayProcess, runNode } from "../../support/servers/gateway.ts";
import { signed } from "../../support/signed-client.ts";
import { GatewayFault } from "./faults.ts";
import { PATHS } from "./routes.ts";
import type { CrashedStore } from "./stores.ts";

export type Victim = "gateway" | "database" | "both";

const ASK_AGAIN_MS = 20;
const EXIT_OF_FAILURE = 1;
/** The level of the log's last words. */
const FATAL = 60;

/** What is killed: half of the time the gateway alone, where there is a choice. */
export function drawVictim({ server }: Pick<CrashedStore, "server">, draw: () => number): Victim {
  if (server === null) return "gateway";
  const drawn = draw();
  return drawn < 0.5 ? "gateway" : drawn < 0.8 ? "database" : "both";
}

/** Whether the gateway serves again with its database back; false if it has ended by itself. */
export async function isBack(
  gateway: GatewayProcess,
  [trader]: readonly { readonly credentials: Credentials; readonly type: StrategyType }[],
): Promise<boolean> {
  if (trader === undefined) throw new Error("somebody is at work when the database is killed");
  let isServing = false;
  await eventually(
    "the gateway serves again, or has ended",
    async () => {
      if (hasEnded(gateway)) return true;
      try {
        const { status } = await signed(gateway.url, trader.credentials, "GET", PATHS[trader.type].account);
        if (status !== 200 && status !== 503) throw new GatewayFault(`answered ${status} without a database`);
        isServing = status === 200;
        return isServing;
      } catch (error) {
        if (error instanceof GatewayFault) throw error;
        return false;
      }
    },
    { askAgainMs: ASK_AGAIN_MS },
  );
  return isServing;
}

/**
 * Rejects unless a gateway that has ended by itself did so with the exit code, and the last words, of a
 * failed store.
 */
export async function saidWhy(gateway: GatewayProcess): Promise<void> {
  await eventually("the log says that the store failed, and why", () => saysWhy(gateway.output()));
  const { exitCode } = gateway.process;
  if (exitCode !== EXIT_OF_FAILURE) {
    throw new GatewayFault(
      `ended with ${exitCode} when its database was killed, not with ${EXIT_OF_FAILURE}`,
    );
  }
}

function saysWhy(output: string): boolean {
  // An incomplete last line is checked at the next poll. A line whose write was in flight may follow the last
  // words.
  const lines = output.slice(0, output.lastIndexOf("\n")).split("\n");
  return lines.some((line) => {
    if (!line.startsWith("{")) return false;
    const { level, msg, reason } = JSON.parse(line);
    return level === FATAL && /store failed/.test(msg) && typeof reason === "string" && reason !== "";
  });
}

export function hasEnded({ process }: GatewayProcess): boolean {
  return process.exitCode !== null || process.signalCode !== null;
}

/**
 * The environment of gateways that start often: their code is compiled once. A process that is killed leaves
 * nothing in the cache, so one that ends by itself fills it first.
 */
export function compileCache(): Readonly<Record<string, string>> {
  const env = { NODE_COMPILE_CACHE: join(tmpdir(), "compile-cache") };
  runNode(["src/main.ts", "--help"], env);
  return env;
}

/** Kills a gateway, and answers all that it has said. */
export async function lastWords(gateway: GatewayProcess): Promise<string> {
  await gateway.kill();
  return gateway.output();
}
