// The report on standard output.
import type { DeskWalkReport } from "./desk-walk.ts";
import type { WalkReport } from "./walk.ts";

type Timed<Report> = Report & { readonly seconds: number };

export function renderReport({
  seed,
  inMemory,
  atDesks,
}: {
  readonly seed: number;
  readonly inMemory: Timed<WalkReport>;
  readonly atDesks: Timed<DeskWalkReport>;
}): string {
  const { events, refusals } = inMemory;
  return [
    `seed ${seed}`,
    `in memory: ${number(inMemory.commands)} commands in ${inMemory.seconds.toFixed(1)} s`,
    "",
    ...table("event", events),
    "",
    ...table("refusal", refusals),
    "",
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
