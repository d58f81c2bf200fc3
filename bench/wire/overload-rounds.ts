// A gateway under more orders than its capacity, and after that. Each round measures the capacity again: the
// overload is a multiple of what it was a moment ago.
import type { Options } from "../options.ts";
import { alone, type Subject } from "../rounds.ts";
import type { Loaded } from "../run.ts";
import { MeasurementFailed, type Trial } from "../trial.ts";
import type { Overloaded } from "./overload.ts";

/** How many times its capacity a gateway is sent. */
export const OVERLOADS = [2, 4] as const;
export type Times = (typeof OVERLOADS)[number];

export type OverloadRound = {
  /** The most it could do just before: the capacity. */
  readonly peak: Loaded;
  /** At half of that, just before and just after. */
  readonly before: Loaded;
  readonly after: Loaded;
  readonly overloaded: { readonly [T in Times]: Overloaded };
};

export async function measureOverloads(
  subject: Subject,
  subjects: readonly Subject[],
  { seconds, overload }: Options,
  say: (text: string) => void,
): Promise<readonly OverloadRound[]> {
  const measured: OverloadRound[] = [];
  while (measured.length < overload.rounds) {
    const round = await alone(subject, subjects, () => measureOverload(subject.trial, { seconds, overload }));
    measured.push(round);
    const { peak, overloaded } = round;
    const good = OVERLOADS.map((times) => `${Math.round(overloaded[times].goodPerSecond)}/s at ${times} ×`);
    say(
      `overload ${measured.length} of ${overload.rounds}, ${subject.store}: ${Math.round(peak.perSecond)}/s, ` +
        `in time ${good.join(", ")}`,
    );
  }
  return measured;
}

/**
 * How often a load is tried that nothing of was answered, because the machine was busy with something else.
 */
const TRIES_MAX = 5;

async function untilAnswered(load: () => Promise<Loaded>): Promise<Loaded> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const loaded = await load();
    if (loaded.perSecond > 0) return loaded;
  }
  throw new MeasurementFailed(`overload: nothing was answered in ${TRIES_MAX} loads`);
}

async function measureOverload(
  trial: Trial,
  { seconds, overload }: Pick<Options, "seconds" | "overload">,
): Promise<OverloadRound> {
  const peak = await untilAnswered(() => trial.saturate("orders", seconds));
  const half = () => untilAnswered(() => trial.schedule("orders", seconds, peak.perSecond / 2));
  const before = await half();
  const overloaded = {
    2: await trial.overload(overload, 2 * peak.perSecond),
    4: await trial.overload(overload, 4 * peak.perSecond),
  };
  return { peak, before, overloaded, after: await half() };
}
