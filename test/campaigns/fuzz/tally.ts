// What a run counts: answers by route and by code, and faults by kind.
import type { Fault, FaultKind } from "./catalogue.ts";

/** A fault with all that is needed to look into it. */
export type Finding = Fault & {
  /** Null if it was found when all requests had been answered. */
  readonly requestNumber: number | null;
  readonly strategyId: string;
  /** The request, as a command for a shell, and its answer; empty if it was found later. */
  readonly exchange: string;
};

/** Findings that are kept; of others only how many there were. */
const FINDINGS_MAX = 20;

export class Tally {
  readonly faults: { [K in FaultKind]: number } = { SERVER_ERROR: 0, OUTSIDE_CATALOGUE: 0, STATE_CHANGED: 0 };
  readonly findings: Finding[] = [];
  /** How many answers there were, by route and then by what they were: `200`, or status and code. */
  readonly answers = new Map<string, Map<string, number>>();
  answered = 0;

  /** Counts an answer; answers with how many there are by now. */
  count(route: string, answer: string): number {
    const counts = this.answers.get(route) ?? new Map<string, number>();
    this.answers.set(route, counts);
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
    this.answered += 1;
    return this.answered;
  }

  add(finding: Finding): void {
    this.faults[finding.kind] += 1;
    if (this.findings.length < FINDINGS_MAX) this.findings.push(finding);
  }

  /** How many faults there are, of any kind. */
  faultCount(): number {
    return Object.values(this.faults).reduce((sum, count) => sum + count, 0);
  }

  /** How many answers of each kind there were, over all routes. */
  byAnswer(): Map<string, number> {
    const totals = new Map<string, number>();
    for (const counts of this.answers.values()) {
      for (const [answer, count] of counts) totals.set(answer, (totals.get(answer) ?? 0) + count);
    }
    return totals;
  }
}
