// `npm run fire`: signals over connections that are cut, to a gateway that is killed, and what became of
// each.
import { campaign, JSON_REPORT, onEachStore, SEED, STORE, say } from "../harness/campaign.ts";
import { aSwitch, number } from "../harness/flags.ts";
import { faultLines, type Line, renderStores } from "../harness/report.ts";
import { FATES, type Fate } from "./cutting-proxy.ts";
import { type FireFaultKind, type FireReport, fire } from "./fire.ts";

/** A kill every few seconds, at the rate at which signals are sent. */
const SIGNALS_PER_KILL = 250;

export const CAMPAIGN = campaign({
  name: "fire",
  about: `
Sends signals to a gateway of its own over connections that are cut before, within and after a request,
sends many of them again under the same key, also twice at once, and kills the gateway all the while: kill
-9, and where the store is a server of its own also of that. In the end every signal is terminal, has one
order if it was executed and none if it was not, and all balances are what the trades make them.`,
  flags: {
    signals: number("signals per store", { usual: 10_000, most: 1_000_000 }),
    ...{ store: STORE, seed: SEED },
    plain: aSwitch(
      "only orders that can be taken, and no bot gives up: exactly as many executions as signals",
    ),
    noKills: aSwitch("nothing is killed"),
    noCuts: aSwitch("connections are left alone"),
    json: JSON_REPORT,
  },
  async run({ signals, store, seed, plain, noKills, noCuts }, { interrupted: signal }) {
    const reports = await onEachStore(store, signal, (name) =>
      fire({
        ...{ store: name, seed, signals, cuts: !noCuts, isPlain: plain, signal },
        kills: noKills ? 0 : Math.ceil(signals / SIGNALS_PER_KILL),
        onProgress({ begun, kills, left }) {
          const sent = `${begun} of ${signals} signals, ${kills} kills`;
          say(`${name}: ${left === null ? sent : `all is sent, ${left} signals are not over`}`);
        },
      }),
    );
    return {
      report: reports,
      text: renderFire(reports),
      isClean: reports.every(({ faults, audit }) => faults.length === 0 && audit.recorded > 0),
    };
  },
});

const FATE_LABELS: Readonly<Record<Fate, string>> = {
  PASSED: "left alone",
  DELAYED: "delayed",
  REFUSED: "hung up on at once",
  CUT_BEFORE: "cut before the request was forwarded",
  CUT_WITHIN: "cut within the request",
  CUT_AFTER: "cut after it, before the answer",
  CUT_ANSWER: "cut within the answer",
};

const LINES: readonly Line<FireReport>[] = [
  ["signals", ({ signals }) => signals],
  ["  sent twice at once", ({ twins }) => twins],
  ["  whose key was tried with another order", ({ mismatches }) => mismatches],
  ["requests", ({ requests }) => requests],
  ["  again under a key that was sent before", ({ retries }) => retries],
  ["  without an answer", ({ unanswered }) => unanswered],
  ["connections", ({ fates }) => FATES.reduce((sum, fate) => sum + fates[fate], 0)],
  ...FATES.map((fate): Line<FireReport> => [`  ${FATE_LABELS[fate]}`, ({ fates }) => fates[fate]]),
  ["gateway killed", ({ kills }) => kills.gateway + kills.both],
  ["database killed", ({ kills }) => kills.database + kills.both],
  null,
  ["signals that were recorded", ({ audit }) => audit.recorded],
  ["  executed", ({ audit }) => audit.executed],
  ["  rejected", ({ audit }) => audit.rejected],
  ["  not over in the end", ({ audit }) => audit.pending],
  ["signals whose end no bot received", ({ left }) => left],
  ["seconds from the last recovery to the last end", ({ settledMs }) => Math.round(settledMs / 1_000)],
  ["orders", ({ audit }) => audit.orders],
  ["accounts recomputed from their trades, and journals replayed", ({ audit }) => audit.accounts],
  ...faultLines<FireFaultKind>({
    LOST: "lost",
    DOUBLED: "doubled",
    LATE: "ended late, or not at all",
    CHANGED: "changed after the end, or shown otherwise than stored",
    UNASKED: "never asked for, and there",
    UNBALANCED: "accounts that are not what their trades make them",
    JOURNAL: "journals that do not make their account",
    DAMAGED: "damage in the database",
    GATEWAY: "other faults of the gateway",
  }),
];

export function renderFire(reports: readonly FireReport[]): string {
  return renderStores("fire", LINES, reports, ({ signals }) => ` --signals ${signals}`);
}
