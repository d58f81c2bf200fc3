// The report on standard output.
import { CATALOGUE_SIZE, type FaultKind } from "./catalogue.ts";
import type { RunReport } from "./run.ts";
import type { Finding, Tally } from "./tally.ts";

const FAULT_NAMES: { readonly [K in FaultKind]: string } = {
  SERVER_ERROR: "answers of 5xx",
  OUTSIDE_CATALOGUE: "answers outside the catalogue",
  STATE_CHANGED: "changes of state that no request was granted",
};

/** Characters of a request or an answer that are shown; bodies of many kilobytes say nothing more. */
const SHOWN_MAX = 3_000;

export function renderReport({
  seed,
  tally,
  seconds,
  strategies,
  orders,
  legs,
  marketMoves,
}: RunReport): string {
  const rate = Math.round(tally.answered / seconds);
  const totals = [...tally.byAnswer()].sort(([one], [other]) => (one < other ? -1 : 1));
  const refusals = totals.filter(([answer]) => /^[345].* -/.test(answer)).length;
  return [
    `seed ${seed}: ${number(tally.answered)} requests in ${seconds.toFixed(1)} s, ${number(rate)} a second`,
    `${number(strategies)} strategies, ${number(orders)} orders, ${number(legs)} legs; the market filled or triggered ${number(marketMoves)}`,
    "",
    ...columns([
      ["route", "answers", "of them"],
      ...[...tally.answers].map(([route, counts]) => [route, number(sum(counts)), byCount(counts)]),
    ]),
    "",
    ...columns([["answer", "count"], ...totals.map(([answer, count]) => [answer, number(count)])]),
    `${refusals} of the catalogue's ${CATALOGUE_SIZE} statuses and codes were met`,
    "",
    ...Object.entries(FAULT_NAMES).map(([kind, name]) => `${tally.faults[kind as FaultKind]} ${name}`),
    ...tally.findings.flatMap(linesOf),
    ...hint(seed, tally),
    "",
  ].join("\n");
}

function linesOf({ kind, what, requestNumber, strategyId, exchange }: Finding): string[] {
  const where = requestNumber === null ? "when all was answered" : `request ${requestNumber}`;
  return ["", `${FAULT_NAMES[kind]}: ${where}, strategy ${strategyId}`, cut(what), cut(exchange)];
}

function hint(seed: number, tally: Tally): string[] {
  return tally.faultCount() === 0 ? [] : ["", `The same requests again: npm run fuzz -- --seed ${seed}`];
}

function cut(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)`;
}

function byCount(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([answer, count]) => `${answer}: ${number(count)}`)
    .join(", ");
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const last = widths.length - 1;
  return rows.map((row) =>
    row.map((cell, column) => (column === last ? cell : cell.padEnd(widths[column] ?? 0))).join("  "),
  );
}
