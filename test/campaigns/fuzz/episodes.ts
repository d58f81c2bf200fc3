// Divides a run into episodes. An episode sends one request after another to one strategy, spot and futures
// alternating: the effects of a request must not mix with those of other episodes. Episodes run concurrently.
// They are so short that only those that mean to exhaust a budget do so.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Mood } from "./routes.ts";

export type Episode = {
  readonly index: number;
  readonly type: StrategyType;
  readonly mood: Mood;
  /** The number of its first request; a run's requests count from one. */
  readonly first: number;
  readonly length: number;
};

const TRADING_REQUESTS = 60;
/**
 * Enough for a budget of orders, of weight or of an address, for the ten refusals until a ban, and for some
 * beyond it.
 */
const FLOODING_REQUESTS = 110;
/** Of so many episodes six mean to run into a budget: one of each type into each. */
const EPISODES_PER_ROUND = 96;
const FLOODS: ReadonlyMap<number, Mood> = new Map([
  [8, "FLOODS_ORDERS"],
  [23, "FLOODS_ORDERS"],
  [40, "FLOODS_READS"],
  [55, "FLOODS_READS"],
  [72, "FLOODS_PUBLIC"],
  [87, "FLOODS_PUBLIC"],
]);

/** The episodes of a run of so many requests. */
export function episodesOf(requests: number): Episode[] {
  const episodes: Episode[] = [];
  for (let first = 1; first <= requests; ) {
    const index = episodes.length;
    const mood = FLOODS.get(index % EPISODES_PER_ROUND) ?? "TRADES";
    const wanted = mood === "TRADES" ? TRADING_REQUESTS : FLOODING_REQUESTS;
    const length = Math.min(wanted, requests - first + 1);
    const type = index % 2 === 0 ? "SPOT" : "FUTURES";
    episodes.push({ index, type, mood, first, length });
    first += length;
  }
  return episodes;
}
