/** A reference exchange of our own on a loopback port: `--market sim`. */
import { type Clock, type Exchange, openExchange } from "../exchange/open.ts";
import { createSimulatedSources } from "./source.ts";

export type SimulatedExchangeOptions = {
  /** The same seed is the same market, at every time and on every machine. */
  readonly seed: string | number;
  /** Market time; the system's by default. */
  readonly clock?: Clock | undefined;
  /** 0, the default, takes any free port. */
  readonly port?: number | undefined;
  /** No timers: the caller moves its clock and pumps. */
  readonly manual?: boolean | undefined;
};

/** Opens the simulated exchange, spot and futures, and serves it over REST and WebSocket. */
export function openSimulatedExchange(options: SimulatedExchangeOptions): Promise<Exchange> {
  const { seed, clock = { now: () => Date.now() }, port, manual } = options;
  return openExchange({ markets: createSimulatedSources(String(seed)), clock, port, manual });
}
