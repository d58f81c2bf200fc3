// What a walk counts, and its report on standard output.
import type { StrategyType } from "../../src/domain/account.ts";
import type { Refusal } from "../../src/domain/refusal.ts";
import type { DeskWalkReport } from "./desk-walk.ts";
import type { WalkReport } from "./walk.ts";

export type Counts = Record<string, number>;

export function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** How the walks count a refusal: a failed filter by its own name. */
export function nameOf(refusal: Refusal): string {
  return "filter" in refusal ? `${refusal.refusal} ${refusal.filter}` : refusal.refusal;
}

type Timed<Report> = Report & { readonly seconds: number };

export function renderReport({
  seed,
  inMemory,
  atDesks,
}: {
  readonly seed: number;
  readonly inMemory: { readonly [Type in StrategyType]: Timed<WalkReport> };
  readonly atDesks: Timed<DeskWalkReport>;
}): string {
  return [
    `seed ${seed}`,
    ...Object.entries(inMemory).flatMap(([type, { commands, seconds, events, refusals }]) => [
      `${type} in memory: ${number(commands)} commands in ${seconds.toFixed(1)} s`,
      "",
      ...table("event", events),
      "",
      ...table("refusal", refusals),
      "",
    ]),
    `through two desks on one database: ${number(atDesks.commands)} commands in ${atDesks.seconds.toFixed(1)} s`,
    "",
    ...table("outcome", atDesks.outcomes),
    "",
    "every invariant held after every step",
    "",
  ].join("\n");
}

function table(title: string, counts: Readonly<Record<string, number>>): string[] {
  const rows = Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => [name, number(count)] as const);
  const width = Math.max(title.length, ...rows.map(([name]) => name.length));
  const numbers = Math.max("count".length, ...rows.map(([, count]) => count.length));
  return [[title, "count"] as const, ...rows].map(
    ([name, count]) => `${name.padEnd(width)}  ${count.padStart(numbers)}`,
  );
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
