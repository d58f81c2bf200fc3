// `npm run copy-faults`: strategies that are copied over a way with faults, by a copier that is killed, and
// what became of each order.
import { SKIP_REASONS } from "../../../src/domain/copying.ts";
import { campaign, JSON_REPORT, onEachStore, SEED, STORE, say } from "../harness/campaign.ts";
import { aSwitch, number, oneOf } from "../harness/flags.ts";
import { faultLines, type Line, renderStores } from "../harness/report.ts";
import { BEHAVIORS, type Behavior } from "./exchange-behavior.ts";
import { type CopyFaultKind, clusterLines } from "./faults.ts";
import { FATES, type Fate } from "./faulty-way.ts";
import { MUTATIONS, type MutationName, mutation } from "./mutations.ts";
import { copyUnderFire, type RunReport } from "./run.ts";

const MS_PER_SECOND = 1_000;
const PLANT_NAMES = Object.keys(MUTATIONS) as MutationName[];

export const CAMPAIGN = campaign({
  name: "copy-faults",
  about: `
Has strategies copied to accounts at a venue, another gateway, over a way that cuts, delays, answers 5xx
after executing, 429 and 418, and kills what copies again and again: kill -9, on SQLite of the whole
program, on PostgreSQL of one of two copier processes. The exchange at the other end refuses exits once,
executes orders that it does not show for minutes, accepts client ids again, counts weight by address, has
prices of its own and liquidates positions by itself. User data streams are cut, and leave out what is
hidden.

In the end the venue's own books are held against the mirror logs: nothing doubled, nothing lost, nothing
out of order, and whatever was not copied says why. They are held against the strategies, too: every
position is on target or accounted for, none lacked its strategy's stop for more than 10 s, and every size
was computed from what the account had.`,
  flags: {
    orders: number("mirrored orders per store", { usual: 20_000, most: 10_000_000 }),
    leads: number("strategies of each type", { usual: 4, most: 100 }),
    copiers: number("copiers of each strategy", { usual: 25, least: 2, most: 1_000 }),
    ...{ store: STORE, seed: SEED },
    // A new start asks for each account, which takes of the weight that all accounts at an address share.
    killEvery: number("seconds between two kills on average", { usual: 30, most: 3_600 }),
    noKills: aSwitch("nothing is killed"),
    noCuts: aSwitch("the way to the venue is left alone"),
    noExchange: aSwitch("the venue is another gateway, at the prices of the strategies"),
    hideMax: number("seconds for which an order is hidden at most", { usual: 600, most: 3_600 }),
    mutation: oneOf(
      PLANT_NAMES,
      `runs a copy of the program with a fault in it, which has to be found:\n${PLANT_NAMES.join(",\n")}`,
    ),
    json: JSON_REPORT,
  },
  async run({ store, orders, seed, leads, copiers, ...flags }, { interrupted: signal }) {
    const root = flags.mutation === null ? undefined : mutation(flags.mutation);
    const reports = await onEachStore(store, signal, (name) =>
      copyUnderFire({
        ...{ store: name, seed, orders, leads, copiers, cuts: !flags.noCuts, root, signal },
        killEveryMs: flags.noKills ? null : flags.killEvery * MS_PER_SECOND,
        exchange: flags.noExchange ? null : { hideMsMax: flags.hideMax * MS_PER_SECOND },
        onProgress({ orders: placed, kills, left }) {
          const traded = `${placed} of ${orders} orders, ${kills} kills`;
          say(`${name}: ${left === null ? traded : `all is traded, ${left} copies are not done`}`);
        },
      }),
    );
    return {
      report: reports,
      text: renderCopies(reports),
      isClean: reports.every(({ faults, verdict }) => faults.length === 0 && verdict.sent > 0),
    };
  },
});

const FATE_LABELS: Readonly<Record<Fate, string>> = {
  PASSED: "left alone",
  HELD: "held back for a moment",
  LATE: "held back until they may be too old",
  CUT_BEFORE: "cut before they were forwarded",
  CUT_AFTER: "cut when the venue had carried them out",
  CUT_LATE: "cut, and forwarded later",
  SILENT: "answered when nobody waits any more",
  FAULT_BEFORE: "answered 503 without being forwarded",
  FAULT_AFTER: "answered 503 when the venue had carried them out",
  LIMITED: "answered 429",
  BANNED: "answered 418",
};

const BEHAVIOR_LABELS: Readonly<Record<Behavior, string>> = {
  REFUSE_EXIT: "exits that the exchange refused once",
  HIDE: "orders that it executed and did not show",
  REUSE_IDS: "client ids that it accepted again",
  WEIGHT_BY_ADDRESS: "requests beyond the weight of the address",
  CUT_STREAM: "sockets of user data streams that were cut",
};

const LINES: readonly Line<RunReport>[] = [
  ["copies", ({ copies }) => copies],
  ["  that began when their strategy had a history", ({ lateCopies }) => lateCopies],
  ["orders and legs of the strategies", ({ placed }) => placed],
  ["  taken back", ({ canceled }) => canceled],
  ["kill -9 of what copies", ({ kills }) => kills],
  ["claims that were not renewed in time", ({ stalls }) => stalls.count],
  ["  the longest, ms", ({ stalls }) => stalls.msMax],
  ["signed requests to the venue", ({ fates }) => FATES.reduce((sum, fate) => sum + fates[fate], 0)],
  ...FATES.map((fate): Line<RunReport> => [`  ${FATE_LABELS[fate]}`, ({ fates }) => fates[fate]]),
  ...BEHAVIORS.map((each): Line<RunReport> => [BEHAVIOR_LABELS[each], ({ behaviors }) => behaviors[each]]),
  ["positions that the venue liquidated", ({ verdict }) => verdict.liquidations],
  null,
  ["mirrored orders and legs", ({ verdict }) => verdict.mirrored],
  ["  copied", ({ verdict }) => verdict.sent],
  ["  skipped, and why", ({ verdict }) => verdict.skipped],
  ...SKIP_REASONS.map(
    (reason): Line<RunReport> => [`    ${reason}`, ({ verdict }) => verdict.byReason[reason] ?? 0],
  ),
  ["  refused by the venue for another reason", ({ verdict }) => verdict.failed],
  ["  sent more than once", ({ verdict }) => verdict.sentAgain],
  ["  that the venue was asked about", ({ verdict }) => verdict.asked],
  ["  sent after the last kill", ({ verdict }) => verdict.afterKills],
  ["orders and legs in the venue's books", ({ verdict }) => verdict.atVenue],
  ["sizes recomputed from the venue's books", ({ verdict }) => verdict.sized],
  ["positions compared with the strategy's", ({ verdict }) => verdict.positions],
  ["  that lacked the strategy's stop for a moment", ({ verdict }) => verdict.naked],
  ["    the longest, ms", ({ verdict }) => verdict.nakedMsMax],
  ["    for more than 10 s", ({ verdict }) => verdict.nakedLong],
  ["    for more than 30 s, which a busy machine may need", ({ verdict }) => verdict.nakedLongOnBusy],
  ["  that were on the other side than the strategy's for a moment", ({ verdict }) => verdict.otherSide],
  ["    the longest, ms", ({ verdict }) => verdict.otherSideMsMax],
  ["seconds from the last order until all was done", ({ settledMs }) => Math.round(settledMs / 1_000)],
  ...faultLines<CopyFaultKind>({
    LOST: "lost",
    DOUBLED: "doubled",
    DISORDERED: "out of order",
    UNEXPLAINED: "not copied, and not explained",
    CHANGED: "recorded otherwise than the venue has it",
    UNBALANCED: "holdings that are not the account's",
    OFF_TARGET: "positions off target",
    NAKED: "positions without their stop for more than 10 s",
    MISSIZED: "sized by what the account never had",
    LATE: "not done in time",
    DAMAGED: "damage in a database",
    GATEWAY: "other faults of the processes",
  }),
];

export function renderCopies(reports: readonly RunReport[]): string {
  const clusters = reports.flatMap(({ store, faults, disturbances }) =>
    clusterLines(faults, disturbances).map((line) => `${store}, ${line}\n`),
  );
  return [renderStores("copy-faults", LINES, reports), ...clusters].join("");
}
