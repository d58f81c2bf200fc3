// Sends a gateway more orders than it can carry. Each round finds the capacity first: the overload is a
// multiple of it. The figures compare each overload with what the same gateway did just before.
import { figureOf, percent, type Section, sum } from "../figures.ts";
import type { Options } from "../options.ts";
import { alone, type Subject } from "../rounds.ts";
import { median } from "../statistics.ts";
import { STORE_TITLES, type StoreName } from "../stores.ts";
import { MeasurementFailed, OVERLOAD_CONNECTIONS, type Trial } from "../trial.ts";
import { IN_TIME_MS, type Loaded } from "./load.ts";

/** How many times its capacity a gateway is sent. */
export const OVERLOADS = [2, 4] as const;
export type Times = (typeof OVERLOADS)[number];

export type OverloadRound = {
  /** The most it could do just before: the capacity. */
  readonly peak: Loaded;
  /** At half of that, just before and just after. */
  readonly before: Loaded;
  readonly after: Loaded;
  readonly overloaded: { readonly [T in Times]: Loaded };
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

const PEAK = "the most it could do just before";
const HALF_BEFORE = "the same at half load just before";

export function overloadSection(rounds: readonly OverloadRound[], store: StoreName): Section {
  const figures = OVERLOADS.flatMap((times) => {
    const at = (round: OverloadRound) => round.overloaded[times];
    return [
      figureOf(rounds, {
        name: `orders acknowledged in time at ${times} × capacity`,
        unit: "/s",
        of: (round) => at(round).goodPerSecond,
        aim: times === 4 ? "0.9 of the peak" : "no collapse",
        ceiling: { name: PEAK, of: ({ peak }) => peak.perSecond },
      }),
      figureOf(rounds, {
        name: "  p99 of the acknowledged",
        unit: "ms",
        of: (round) => at(round).p99Ms,
        ceiling: { name: HALF_BEFORE, of: ({ before }) => before.p99Ms },
      }),
      figureOf(rounds, {
        name: "  shed, of those that were due",
        unit: "%",
        of: (round) => (100 * sum(Object.values(at(round).shed))) / at(round).due,
        aim: "429 or 503 with Retry-After",
      }),
      figureOf(rounds, {
        name: "  not answered in time",
        unit: "%",
        of: (round) => (100 * (at(round).late + at(round).unsent)) / at(round).due,
        aim: "none",
      }),
    ];
  });
  const recovered = figureOf(rounds, {
    name: "p99 at half load right after",
    unit: "ms",
    of: ({ after }) => after.p99Ms,
    aim: "as before",
    ceiling: { name: HALF_BEFORE, of: ({ before }) => before.p99Ms },
  });
  return {
    title: `Too many orders for the gateway on ${STORE_TITLES[store]}`,
    figures: [...figures, recovered],
    missing: null,
  };
}

/** What became of the orders, one line for each overload. */
export function overloadNotes(rounds: readonly OverloadRound[], store: StoreName): string[] {
  return OVERLOADS.map((times) => {
    const overloaded = rounds.map((round) => round.overloaded[times]);
    const total = (of: (one: Loaded) => number) => sum(overloaded.map(of));
    const share = (count: number) => percent(count / total(({ due }) => due));
    return (
      `${STORE_TITLES[store]} at ${times} × capacity, open loop over ${OVERLOAD_CONNECTIONS} connections by clients that take no ` +
      `notice of Retry-After: ${Math.round(medianOf(overloaded, (one) => one.offeredPerSecond))}/s were due; ` +
      `${share(total((one) => one.inTime))} acknowledged within ${IN_TIME_MS} ms of being due` +
      ` (p50 ${ms(medianOf(overloaded, (one) => one.p50Ms))}), ${shedText(overloaded, share)}, ` +
      `${share(total((one) => one.late))} acknowledged later, ${share(total((one) => one.unsent))} never sent for want of a ` +
      `connection. ${senderText(overloaded)}`
    );
  });
}

/** Above this share of its core the sender may not have sent what was due. */
const SENDER_BUSY_MAX = 0.95;
/** Above this its own lateness shows, ms: it is a twentieth of what is in time. */
const SENDER_LATE_MS_MAX = 50;

function senderText(overloaded: readonly Loaded[]): string {
  const busy = medianOf(overloaded, (one) => one.senderBusy);
  const late = medianOf(overloaded, (one) => one.senderLateP99Ms);
  const isLimit = busy > SENDER_BUSY_MAX || late > SENDER_LATE_MS_MAX;
  return (
    `The sender used ${percent(busy)} of its core and was ${ms(late)} late at p99` +
    (isLimit ? ". THE SENDER was saturated, or kept from its core: these figures are its own too" : "")
  );
}

function shedText(overloaded: readonly Loaded[], share: (count: number) => string): string {
  const statuses = [...new Set(overloaded.flatMap(({ shed }) => Object.keys(shed)))].sort();
  if (statuses.length === 0) return "none shed";
  const each = statuses.map(
    (status) => `${share(sum(overloaded.map(({ shed }) => shed[status] ?? 0)))} with ${status}`,
  );
  return `shed ${each.join(", ")} (p99 ${ms(medianOf(overloaded, (one) => one.shedP99Ms))})`;
}

function medianOf(overloaded: readonly Loaded[], of: (one: Loaded) => number): number {
  return median(overloaded.map(of));
}

function ms(value: number): string {
  return Number.isNaN(value) ? "of none" : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
