// What stands behind the market client: the reference exchange's own hosts, or an exchange of ours on a loopback port; and the
// leverage brackets, which the exchange does not tell in public.
import { readFileSync } from "node:fs";
import { type Config, ConfigError } from "./config.ts";
import { bundledBrackets } from "./market/brackets/bundled.ts";
import { BracketFault, readBrackets } from "./market/brackets/read.ts";
import type { BracketTable } from "./market/brackets/table.ts";
import { liveHosts, type UpstreamHosts } from "./market/client/hosts.ts";
import { openSimulatedExchange } from "./market/simulated/open.ts";
import { openTape } from "./market/tape/open.ts";

export type Upstream = {
  /** Of both families. */
  readonly hosts: UpstreamHosts;
  /** Market time, Unix ms. */
  readonly clock: { now(): number };
  /**
   * Ours keep to their schedules, so that silence means dead, and count no weight. The real one may be quiet because
   * nothing changes, and bans whoever asks too much.
   */
  readonly feedOptions: {
    readonly asksAboutQuietSymbols: boolean;
    readonly isMetered: boolean;
    readonly brackets: BracketTable;
  };
  close(): Promise<void>;
};

const wallClock = { now: () => Date.now() };

/** Opens the market that the configuration names. Throws ConfigError when a file of its cannot be used. */
export async function openUpstream({
  market,
  leverageBrackets,
}: Pick<Config, "market" | "leverageBrackets">): Promise<Upstream> {
  const brackets = leverageBrackets === null ? bundledBrackets : bracketsIn(leverageBrackets);
  const ours = { asksAboutQuietSymbols: false, isMetered: false, brackets };
  switch (market.kind) {
    case "live":
      return {
        hosts: market.upstream ?? liveHosts,
        clock: wallClock,
        feedOptions: { asksAboutQuietSymbols: true, isMetered: true, brackets },
        close: async () => {},
      };
    case "sim": {
      const exchange = await openSimulatedExchange({ seed: market.seed });
      return { hosts: exchange, clock: wallClock, feedOptions: ours, close: () => exchange.close() };
    }
    case "tape": {
      const tape = await openTape({ file: market.file, speed: market.speed, wallClock }).catch((error) => {
        throw new ConfigError(
          `TAPE_FILE cannot be played: ${error instanceof Error ? error.message : error}`,
        );
      });
      return { hosts: tape, clock: tape.clock, feedOptions: ours, close: () => tape.close() };
    }
  }
}

function bracketsIn(file: string): BracketTable {
  try {
    return readBrackets(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof BracketFault)
      throw new ConfigError(`LEVERAGE_BRACKETS cannot be used: ${error.message}`);
    throw new ConfigError(
      `LEVERAGE_BRACKETS cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
