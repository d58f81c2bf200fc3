// The upstream of the market client: the reference exchange's own hosts, or an exchange of ours on a loopback
// port; and the leverage brackets, which the exchange does not publish.
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import { systemClock } from "../concurrency/time.ts";
import type { StrategyType } from "../domain/account.ts";
import type { Untradable } from "../domain/market.ts";
import { bundledBrackets } from "../market/brackets/bundled.ts";
import { BracketFault, readBrackets } from "../market/brackets/read.ts";
import type { BracketTable } from "../market/brackets/table.ts";
import { liveHosts, type UpstreamHosts } from "../market/client/rest/hosts.ts";
import { openSimulatedExchange } from "../market/simulated/open.ts";
import { openTape, type Tape } from "../market/tape/open.ts";
import { type Config, ConfigError } from "./config.ts";

export type Upstream = {
  /** Of both types. */
  readonly hosts: UpstreamHosts;
  /** Market time, Unix ms. */
  readonly clock: { now(): number };
  /**
   * Ours keep to their schedules, so that silence means dead, are in this process, so that nothing lags, and
   * count no weight. The real one may be quiet because nothing changes, may be late, and bans clients that
   * ask too much.
   */
  readonly feedOptions: {
    readonly asksAboutQuietSymbols: boolean;
    readonly measuresAge: boolean;
    readonly isMetered: boolean;
    readonly brackets: BracketTable;
  };
  /** The types whose orders can be taken at the start. */
  readonly tradable: readonly StrategyType[];
  /**
   * Why no order of a type can be taken until another market is chosen; null where prices may be expected.
   */
  untradable(type: StrategyType): Untradable | null;
  /** The contents of a recording, in sentences for its operator; none for another market. */
  readonly contents: readonly string[];
  close(): Promise<void>;
};

const wallClock = { now: () => Date.now() };
/** How often a tape is checked for its end. */
const END_CHECK_MS = 1_000;
const ALWAYS_TRADABLE = {
  tradable: ["SPOT", "FUTURES"],
  untradable: () => null,
  contents: [],
} as const satisfies Partial<Upstream>;

/** Opens the market that the configuration names. Throws ConfigError when a file of its cannot be used. */
export async function openUpstream(
  { market, leverageBrackets }: Pick<Config, "market" | "leverageBrackets">,
  log: Pick<Logger, "warn">,
): Promise<Upstream> {
  const brackets = leverageBrackets === null ? bundledBrackets : bracketsIn(leverageBrackets);
  const ours = { asksAboutQuietSymbols: false, measuresAge: false, isMetered: false, brackets };
  switch (market.kind) {
    case "live":
      return {
        hosts: market.upstream ?? liveHosts,
        clock: wallClock,
        feedOptions: { asksAboutQuietSymbols: true, measuresAge: true, isMetered: true, brackets },
        ...ALWAYS_TRADABLE,
        close: async () => {},
      };
    case "sim": {
      const exchange = await openSimulatedExchange({ seed: market.seed });
      return {
        hosts: exchange,
        clock: wallClock,
        feedOptions: ours,
        ...ALWAYS_TRADABLE,
        close: () => exchange.close(),
      };
    }
    case "tape": {
      // A recording goes on whatever happens to the system's clock.
      const played = { file: market.file, speed: market.speed, wallClock: systemClock };
      const tape = await openTape(played).catch((error) => {
        throw new ConfigError(
          `TAPE_FILE cannot be played: ${error instanceof Error ? error.message : error}`,
        );
      });
      return upstreamOf(tape, ours, log);
    }
  }
}

function upstreamOf(tape: Tape, feedOptions: Upstream["feedOptions"], log: Pick<Logger, "warn">): Upstream {
  const { types, hasMarkPrices, symbol, clock, endsAt } = tape;
  const hasEnded = () => clock.now() > endsAt;
  const lacksMarkPrices = types.includes("FUTURES") && !hasMarkPrices;
  const until = new Date(endsAt).toISOString();
  const contents = [
    `The recording holds ${symbol} (${types.map((type) => type.toLowerCase()).join(" and ")}) until ${until} of its own time.`,
  ];
  if (lacksMarkPrices) contents.push("It has no mark prices, so no futures order can be taken.");
  if (lacksMarkPrices) log.warn(contents.join(" "));
  const endCheck = setInterval(() => {
    if (!hasEnded()) return;
    clearInterval(endCheck);
    log.warn("the recording that serves as the market has ended: orders are rejected from now on");
  }, END_CHECK_MS);
  endCheck.unref();
  return {
    hosts: tape,
    clock,
    feedOptions,
    tradable: (["SPOT", "FUTURES"] as const).filter((type) =>
      type === "SPOT" ? types.includes("SPOT") : types.includes("FUTURES") && hasMarkPrices,
    ),
    untradable(type) {
      if (type === "FUTURES" && types.includes("FUTURES") && !hasMarkPrices) return "MARK_PRICES_MISSING";
      return hasEnded() ? "RECORDING_ENDED" : null;
    },
    contents,
    close() {
      clearInterval(endCheck);
      return tape.close();
    },
  };
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
