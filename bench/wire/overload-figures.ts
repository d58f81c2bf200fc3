// The figures of an overload, each against what the same gateway did just before it.
import type { Figure, Section } from "../figures.ts";
import { median, spreadOf } from "../statistics.ts";
import { STORE_TITLES, type StoreName } from "../stores.ts";
import { OVERLOAD_CONNECTIONS } from "../trial.ts";
import { IN_TIME_MS, type Overloaded } from "./overload.ts";
import { OVERLOADS, type OverloadRound } from "./overload-rounds.ts";

type Of = (round: OverloadRound) => number;

const PEAK = "the most it could do just before";
const HALF_BEFORE = "the same at half load just before";

export function overloadSection(rounds: readonly OverloadRound[], store: StoreName): Section {
  const figures = OVERLOADS.flatMap((times) => {
    const at = (round: OverloadRound) => round.overloaded[times];
    return [
      figure(rounds, {
        name: `orders acknowledged in time at ${times} × capacity`,
        unit: "/s",
        of: (round) => at(round).goodPerSecond,
        aim: times === 4 ? "0.9 of the peak" : "no collapse",
        ceiling: { name: PEAK, of: ({ peak }) => peak.perSecond },
      }),
      figure(rounds, {
        name: "  p99 of the acknowledged",
        unit: "ms",
        of: (round) => at(round).p99Ms,
        ceiling: { name: HALF_BEFORE, of: ({ before }) => before.p99Ms },
      }),
      figure(rounds, {
        name: "  shed, of those that were due",
        unit: "%",
        of: (round) => (100 * sum(Object.values(at(round).shed))) / at(round).due,
        aim: "429 or 503 with Retry-After",
      }),
      figure(rounds, {
        name: "  not answered in time",
        unit: "%",
        of: (round) => (100 * (at(round).late + at(round).unsent)) / at(round).due,
        aim: "none",
      }),
    ];
  });
  const recovered = figure(rounds, {
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

/** The outcomes of the orders, one line for each overload. */
export function overloadNotes(rounds: readonly OverloadRound[], store: StoreName): string[] {
  return OVERLOADS.map((times) => {
    const overloaded = rounds.map((round) => round.overloaded[times]);
    const total = (of: (one: Overloaded) => number) => sum(overloaded.map(of));
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

function senderText(overloaded: readonly Overloaded[]): string {
  const busy = medianOf(overloaded, (one) => one.senderBusy);
  const late = medianOf(overloaded, (one) => one.senderLateP99Ms);
  const isLimit = busy > SENDER_BUSY_MAX || late > SENDER_LATE_MS_MAX;
  return (
    `The sender used ${percent(busy)} of its core and was ${ms(late)} late at p99` +
    (isLimit ? ". THE SENDER was saturated, or kept from its core: these figures are its own too" : "")
  );
}

function shedText(overloaded: readonly Overloaded[], share: (count: number) => string): string {
  const statuses = [...new Set(overloaded.flatMap(({ shed }) => Object.keys(shed)))].sort();
  if (statuses.length === 0) return "none shed";
  const each = statuses.map(
    (status) => `${share(sum(overloaded.map(({ shed }) => shed[status] ?? 0)))} with ${status}`,
  );
  return `shed ${each.join(", ")} (p99 ${ms(medianOf(overloaded, (one) => one.shedP99Ms))})`;
}

function figure(
  rounds: readonly OverloadRound[],
  row: Pick<Figure, "name" | "unit"> & {
    readonly of: Of;
    readonly aim?: string;
    readonly ceiling?: { readonly name: string; readonly of: Of };
  },
): Figure {
  const { name, unit, of, aim = null, ceiling } = row;
  const value = spreadOf(rounds.map(of));
  if (ceiling === undefined) return { name, unit, value, aim, against: null };
  return {
    name,
    unit,
    value,
    aim,
    against: {
      name: ceiling.name,
      value: spreadOf(rounds.map(ceiling.of)),
      ratio: spreadOf(rounds.map((round) => of(round) / ceiling.of(round))),
    },
  };
}

function medianOf(overloaded: readonly Overloaded[], of: (one: Overloaded) => number): number {
  return median(overloaded.map(of));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function ms(value: number): string {
  return Number.isNaN(value) ? "of none" : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
