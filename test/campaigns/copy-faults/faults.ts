// What must never be found of a copy, by kind, and how what was found lies in the run.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Scale } from "../../../src/domain/copying.ts";
import type { Found } from "../harness/report.ts";

export type CopyFaultKind =
  /**
   * The strategy did something, and no entry of the mirror log says what became of it; or an order that it
   * tells of is not there.
   */
  | "LOST"
  /**
   * The venue has an order that no entry tells of, or one was accepted there twice, or two entries answer one
   * action.
   */
  | "DOUBLED"
  /**
   * Orders of one symbol stand at the venue in another order than the strategy's; or a cancel has come to
   * nothing.
   */
  | "DISORDERED"
  /** It was not copied, and nothing says why; or it is said not to have been copied, and is there. */
  | "UNEXPLAINED"
  /** An entry tells of an order otherwise than the venue has it. */
  | "CHANGED"
  /** What the copy says that it holds is not what its orders have brought, or not what its account has. */
  | "UNBALANCED"
  /**
   * At the end it holds more or less at the venue than its strategy's history entitles it to, and nothing
   * accounts for it.
   */
  | "OFF_TARGET"
  /** It had a position without a stop for too long while its strategy had a stop, or had one when it left. */
  | "NAKED"
  /** An order was sized by what the account never had. */
  | "MISSIZED"
  /** It did not come to an end in time. */
  | "LATE"
  /** The venue's own books, or the leads', are damaged. */
  | "DAMAGED"
  /** A process does not start, ends by itself, or answers what it must not. */
  | "GATEWAY";

/** When a fault began and ended, Unix ms, and of what it is. */
export type FaultPlace = {
  readonly from: number;
  readonly until: number;
  readonly type: StrategyType;
  /** Of a size: by what it was scaled. */
  readonly by?: Scale["by"];
};

export type CopyFault = Found<CopyFaultKind> & { readonly place?: FaultPlace };

/** What happened in a run, Unix ms. `crashedAt`: of the venue's mark prices; null: not at all. */
export type Disturbances = { readonly killedAt: readonly number[]; readonly crashedAt: number | null };

const CLUSTERED: readonly CopyFaultKind[] = ["NAKED", "MISSIZED"];
const SOON_MS = 10_000;
const LATER_MS = 60_000;

/** A line for each kind of which times say something: what its faults are of, and how long after what. */
export function clusterLines(faults: readonly CopyFault[], disturbances: Disturbances): readonly string[] {
  return CLUSTERED.flatMap((kind) => {
    const places = faults.flatMap((fault) => (fault.kind === kind ? (fault.place ?? []) : []));
    if (places.length === 0) return [];
    const of = tally(places, ({ type, by }) => [type, ...(by === undefined ? [] : [by])].join(" "));
    const kills = tally(places, (place) => afterKill(place, disturbances));
    const crash = tally(places, (place) => afterCrash(place, disturbances));
    return [`${kind}: ${of}; kills: ${kills}; crash of prices: ${crash}`];
  });
}

function tally(places: readonly FaultPlace[], labelOf: (place: FaultPlace) => string): string {
  return [...Map.groupBy(places, labelOf)]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([label, { length }]) => `${length} ${label}`)
    .join(", ");
}

function afterKill({ from, until }: FaultPlace, { killedAt }: Disturbances): string {
  if (killedAt.some((at) => at > from && at < until)) return "with one in them";
  const last = killedAt.findLast((at) => at <= from);
  return last === undefined ? "before any" : afterText(from - last);
}

function afterCrash({ from, until }: FaultPlace, { crashedAt }: Disturbances): string {
  if (crashedAt === null) return "without one";
  if (from < crashedAt) return until > crashedAt ? "with it in them" : "before it";
  return afterText(from - crashedAt);
}

function afterText(ms: number): string {
  const bound = [SOON_MS, LATER_MS].find((each) => ms <= each);
  return bound === undefined ? "later" : `within ${bound / 1_000} s after`;
}
