// What stands behind the market client: the reference exchange's own hosts, or an exchange of ours on a loopback port.
import { type Config, ConfigError } from "./config.ts";
import { liveHosts, type UpstreamHosts } from "./market/client/hosts.ts";
import { openSimulatedExchange } from "./market/simulated/open.ts";
import { openTape } from "./market/tape/open.ts";

export type Upstream = {
  readonly hosts: UpstreamHosts;
  /** Market time, Unix ms. */
  readonly clock: { now(): number };
  /**
   * Ours keep to their schedules, so that silence means dead, and count no weight. The real one may be quiet because
   * nothing changes, and bans whoever asks too much.
   */
  readonly feedOptions: { readonly asksAboutQuietSymbols: boolean; readonly isMetered: boolean };
  close(): Promise<void>;
};

const wallClock = { now: () => Date.now() };

/** Opens the market that the configuration names. */
export async function openUpstream(market: Config["market"]): Promise<Upstream> {
  const ours = { asksAboutQuietSymbols: false, isMetered: false };
  switch (market.kind) {
    case "live":
      return {
        hosts: market.upstream ?? liveHosts,
        clock: wallClock,
        feedOptions: { asksAboutQuietSymbols: true, isMetered: true },
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
