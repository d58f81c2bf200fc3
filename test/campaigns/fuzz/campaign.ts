// `npm run fuzz`: random requests over all routes to the real program, and what must never happen counted.
import { campaign, SEED, say } from "../harness/campaign.ts";
import { number } from "../harness/flags.ts";
import { columns, count, cut } from "../harness/report.ts";
import { CATALOGUE_SIZE, type FaultKind } from "./catalogue.ts";
import { type RunReport, run } from "./run.ts";
import type { Finding } from "./tally.ts";

export const CAMPAIGN = campaign({
  name: "fuzz",
  about: `
Sends random requests over all routes to a gateway of its own on the simulated market, and checks that no
answer is a 5xx, that every answer is of the catalogue, and that a refused request changes nothing.`,
  flags: { requests: number("how many", { usual: 200_000, most: 10_000_000 }), seed: SEED },
  endsAtOnce: true,
  async run({ requests, seed }, { directory }) {
    const report = await run({ requests, seed, dataDir: directory, say });
    return { report, text: renderFuzz(report), isClean: report.tally.faultCount() === 0 };
  },
});

const FAULT_LABELS: { readonly [K in FaultKind]: string } = {
  SERVER_ERROR: "answers of 5xx",
  OUTSIDE_CATALOGUE: "answers outside the catalogue",
  STATE_CHANGED: "changes of state that no request was granted",
};
/** Characters of a request or an answer that are shown; bodies of many kilobytes say nothing more. */
const SHOWN_MAX = 3_000;

export function renderFuzz(report: RunReport): string {
  const { seed, tally, seconds, strategies, orders, legs, marketMoves } = report;
  const totals = [...tally.byAnswer()].sort(([one], [other]) => (one < other ? -1 : 1));
  const refusals = totals.filter(([answer]) => /^[345].* -/.test(answer)).length;
  const hint =
    tally.faultCount() === 0 ? [] : ["", `The same requests again: npm run fuzz -- --seed ${seed}`];
  return [
    `seed ${seed}: ${count(tally.answered)} requests in ${seconds.toFixed(1)} s, ${count(Math.round(tally.answered / seconds))} a second`,
    `${count(strategies)} strategies, ${count(orders)} orders, ${count(legs)} legs; the market filled or triggered ${count(marketMoves)}`,
    "",
    ...columns(
      [
        ["route", "answers", "of them"],
        ...[...tally.answers].map(([route, answers]) => {
          const sum = [...answers.values()].reduce((total, each) => total + each, 0);
          const most = [...answers].sort(([, one], [, other]) => other - one);
          return [route, count(sum), most.map(([answer, each]) => `${answer}: ${count(each)}`).join(", ")];
        }),
      ],
      2,
    ),
    "",
    ...columns([["answer", "count"], ...totals.map(([answer, each]) => [answer, count(each)])]),
    `${refusals} of the catalogue's ${CATALOGUE_SIZE} statuses and codes were met`,
    "",
    ...Object.entries(FAULT_LABELS).map(([kind, label]) => `${tally.faults[kind as FaultKind]} ${label}`),
    ...tally.findings.flatMap(linesOf),
    ...hint,
    "",
  ].join("\n");
}

function linesOf({ kind, what, requestNumber, strategyId, exchange }: Finding): string[] {
  const where = requestNumber === null ? "when all was answered" : `request ${requestNumber}`;
  const text = `${FAULT_LABELS[kind]}: ${where}, strategy ${strategyId}`;
  return ["", text, cut(what, SHOWN_MAX), cut(exchange, SHOWN_MAX)];
}
