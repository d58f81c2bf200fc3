// The figures of copying: the time from an order to its copies, compared with a bare sender, and its cost for
// other traders.

import { against, type Figure, type Section } from "../figures.ts";
import { median, quantile, spreadOf } from "../statistics.ts";
import type { CopiesMeasured, CopiesWeighed, CopyingMeasured, CopyRound } from "./copying.ts";

const KILOBYTE = 1_024;
/** The number of copies that the aim is about. */
const AIMED_AT = 1_000;
const AIM = "below 1,000 ms";

export function copySection(measured: CopyingMeasured): Section {
  const { many } = measured;
  return {
    title: "Copying: one order to many copies at a simulated venue",
    figures: [
      ...many.flatMap(copiesFigures),
      ...many.slice(0, 1).flatMap(traderFigures),
      ...measured.weighed.flatMap(weighedFigures),
      ...many.slice(-1).flatMap((most) => memoryFigures(measured.few, most)),
    ],
    missing: null,
  };
}

function copiesFigures({ copies, rounds, firstMs }: CopiesMeasured): Figure[] {
  const of = (what: (round: CopyRound) => number) => spreadOf(rounds.map(what));
  const count = countText(copies);
  const bare = { name: `bare signed placements, ${count}`, value: of(({ bareMs }) => bareMs) };
  return [
    { name: bare.name, unit: "ms", value: bare.value, aim: null, against: null },
    against(
      {
        name: `commit to the venue's last answer, ${count} copies`,
        unit: "ms",
        value: of(({ lastMs }) => lastMs),
        ...(copies === AIMED_AT ? { aim: AIM } : {}),
      },
      bare,
    ),
    plain(
      "  of a copy, p50",
      of(({ p50Ms }) => p50Ms),
    ),
    plain(
      "  of a copy, p99",
      of(({ p99Ms }) => p99Ms),
    ),
    plain("  of the first order after a start, which asks about every account", spreadOf([firstMs])),
  ];
}

/** An entry, and the exit soon after it, at a venue that counts weight. */
function weighedFigures({ family, copies, exitAfterMs, polledMs, rounds }: CopiesWeighed): Figure[] {
  const where = `${countText(copies)} ${family.toLowerCase()} copies, weight counted by address`;
  const after = `${exitAfterMs / 1_000} s after it`;
  const of = (what: (round: CopiesWeighed["rounds"][number]) => number) => spreadOf(rounds.map(what));
  return [
    plain(
      `entry to the venue's last answer, ${where}`,
      of(({ entry }) => entry.lastMs),
    ),
    plain(
      "  of a copy, p50",
      of(({ entry }) => entry.p50Ms),
    ),
    plain(
      "  of a copy, p99",
      of(({ entry }) => entry.p99Ms),
    ),
    plain(
      `exit to the venue's last answer, ${after}, ${family.toLowerCase()}`,
      of(({ exit }) => exit.lastMs),
    ),
    plain(
      "  of a copy, p50",
      of(({ exit }) => exit.p50Ms),
    ),
    plain(
      "  of a copy, p99",
      of(({ exit }) => exit.p99Ms),
    ),
    plain("  after a start, until each account was polled once", spreadOf([polledMs])),
  ];
}

/**
 * Latency of a trader's order: while idle, beside as much other traffic, and while another order is copied.
 */
function traderFigures({ copies, rounds }: CopiesMeasured): Figure[] {
  const of = (what: (round: CopyRound) => readonly number[], share: number) =>
    spreadOf(rounds.map((round) => quantile(what(round), share)));
  const count = countText(copies);
  const quiet = (share: number) => ({
    name: "with nothing copied",
    value: of((round) => round.quiet, share),
  });
  const beside = (share: number) => ({
    name: `while ${count} bare placements are sent`,
    value: of((round) => round.beside, share),
  });
  const during = (share: number, name: string) => ({
    name: `  while ${count} copies of another's are sent, ${name}`,
    unit: "ms" as const,
    value: of((round) => round.during, share),
  });
  return [
    plain("a trader's order with nothing copied, p50", quiet(0.5).value),
    plain("  p99", quiet(0.99).value),
    plain(`  ${beside(0.5).name}, p50`, beside(0.5).value),
    plain("  p99", beside(0.99).value),
    against(during(0.5, "p50"), beside(0.5)),
    against(during(0.99, "p99"), beside(0.99)),
    against(
      {
        name: `  of a strategy that ${count} follow`,
        unit: "ms",
        value: spreadOf(rounds.map(({ followedMs }) => followedMs)),
      },
      quiet(0.5),
    ),
  ];
}

/** Memory of each copy: a gateway with many against one with few. */
function memoryFigures(few: CopiesMeasured, many: CopiesMeasured): Figure[] {
  const figure = (name: string, state: keyof CopiesMeasured["residentBytes"]): Figure[] => {
    const [more, less] = [many.residentBytes[state], few.residentBytes[state]];
    if (more === null || less === null) return [];
    const each = (more - less) / (many.copies - few.copies) / KILOBYTE;
    return [{ name, unit: "KB", value: spreadOf([each]), aim: null, against: null }];
  };
  return [
    ...figure(`resident memory per idle copy, ${countText(many.copies)}`, "started"),
    ...figure("  after an order was mirrored to each", "copied"),
  ];
}

/** The real and the simulated parts. */
export function copyNotes({ many, weighed }: CopyingMeasured): string[] {
  const limited = weighed.reduce((sum, each) => sum + each.limited, 0);
  const requests = median(many.map(({ requestsPerOrder }) => requestsPerOrder));
  return [
    "copying: the gateway on SQLite with its copier thread, unpinned, beside a venue that is simulated in a process of its own, which " +
      "checks every signature and fills whole at one price: no gateway of ours could fill ten thousand orders as fast as that. " +
      "The bare sender signs as many placements and sends them over as many connections to the same venue, and does nothing else. " +
      `Measured is from the time that the strategy's order has until the venue has written its answer; ${requests.toFixed(2)} signed ` +
      "requests for each order that was mirrored",
    "copying, weight counted by address: the same venue with the exchange's own limits of 6,000 (spot) and 2,400 (futures) a minute, " +
      `for all copies together; it refused ${limited} requests because they were used up`,
    "resident memory per idle copy: the gateway with many against the same with few, the garbage of its main thread collected",
  ];
}

function plain(name: string, value: Figure["value"]): Figure {
  return { name, unit: "ms", value, aim: null, against: null };
}

function countText(count: number): string {
  return count.toLocaleString("en-US");
}
