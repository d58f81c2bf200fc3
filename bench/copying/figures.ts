// The figures of copying: the time from an order to its copies, compared with a bare sender, and its cost for
// other traders.

import {
  against,
  countText,
  type Figure,
  plain as figure,
  kilobytesEach,
  type Section,
  sum,
} from "../figures.ts";
import { median, quantile, spreadOf } from "../statistics.ts";
import type { CopiesMeasured, CopiesWeighed, CopyingMeasured, CopyRound, Mirroring } from "./copying.ts";

/** Of which the aim speaks. */
const AIMED_AT = 1_000;
const AIM = "below 1,000 ms";

const TITLE = "Copying: one order to many copies at a simulated venue";

/** `measured`: why it could not be, if it is a text. */
export function copySection(measured: CopyingMeasured | string): Section {
  if (typeof measured === "string") return { title: TITLE, figures: [], missing: measured };
  const { many } = measured;
  return {
    title: TITLE,
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
    plain(bare.name, bare.value),
    against(
      {
        name: `commit to the venue's last answer, ${count} copies`,
        unit: "ms",
        value: of(({ lastMs }) => lastMs),
        ...(copies === AIMED_AT ? { aim: AIM } : {}),
      },
      bare,
    ),
    ...ofACopy(rounds),
    plain("  of the first order after a start, which asks about every account", spreadOf([firstMs])),
  ];
}

/** An entry, and the exit soon after it, at a venue that counts weight. */
function weighedFigures({ type, copies, exitAfterMs, polledMs, rounds }: CopiesWeighed): Figure[] {
  const where = `${countText(copies)} ${type.toLowerCase()} copies, weight counted by address`;
  const after = `${exitAfterMs / 1_000} s after it`;
  return [
    ...mirroring(
      `entry to the venue's last answer, ${where}`,
      rounds.map(({ entry }) => entry),
    ),
    ...mirroring(
      `exit to the venue's last answer, ${after}, ${type.toLowerCase()}`,
      rounds.map(({ exit }) => exit),
    ),
    plain("  after a start, until each account was polled once", spreadOf([polledMs])),
  ];
}

/** Until the last copy was answered, and the middle and the slowest but one in a hundred of them. */
function mirroring(name: string, rounds: readonly Mirroring[]): Figure[] {
  return [plain(name, spreadOf(rounds.map(({ lastMs }) => lastMs))), ...ofACopy(rounds)];
}

function ofACopy(rounds: readonly Mirroring[]): Figure[] {
  return [
    plain("  of a copy, p50", spreadOf(rounds.map(({ p50Ms }) => p50Ms))),
    plain("  of a copy, p99", spreadOf(rounds.map(({ p99Ms }) => p99Ms))),
  ];
}

/**
 * What a trader's order takes: with nothing under way, beside as much traffic of anybody's, and while
 * another's is copied.
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
  const each = (name: string, state: keyof CopiesMeasured["residentBytes"]) => {
    const of = ({ copies, residentBytes }: CopiesMeasured) => ({
      count: copies,
      bytes: residentBytes[state],
    });
    return kilobytesEach(name, [of(few), of(many)]);
  };
  return [
    ...each(`resident memory per idle copy, ${countText(many.copies)}`, "started"),
    ...each("  after an order was mirrored to each", "copied"),
  ];
}

/** The real and the simulated parts. */
export function copyNotes({ many, weighed }: CopyingMeasured): string[] {
  const limited = sum(weighed.map((each) => each.limited));
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
  return figure(name, "ms", value);
}
