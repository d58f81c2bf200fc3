// What a symbol costs, as steps in time, and the trades that are printed of it: at each step, and on a grid of time. Trades are
// numbered without gaps, and what was printed once never changes: a step lies after everything that was ever asked for.
import type { ShownPrice } from "./steered-market.ts";

export type Step = { readonly at: number; readonly shown: ShownPrice };
export type Print = { readonly id: number; readonly at: number; readonly price: string };

const GRID_MS = 250;

export class Steps {
  readonly #steps: Step[];
  readonly #prints: Print[] = [];
  #printedUntil: number;

  constructor(at: number, shown: ShownPrice) {
    this.#steps = [{ at, shown }];
    this.#printedUntil = at - 1;
  }

  /** From now on, Unix ms, or the first ms that nobody has asked about. */
  add(now: number, shown: ShownPrice): void {
    this.#steps.push({ at: Math.max(now, this.#printedUntil + 1), shown });
  }

  /** What holds at a time; the first step before all of them. */
  at(time: number): Step {
    const found = this.#steps.findLast(({ at }) => at <= time) ?? this.#steps[0];
    if (found === undefined) throw new Error("there is a first price");
    return found;
  }

  /** The steps that hold at some time with `from <= time < until`. */
  between(from: number, until: number): readonly Step[] {
    return this.#steps.filter(
      ({ at }, index) => at < until && (this.#steps[index + 1]?.at ?? Number.POSITIVE_INFINITY) > from,
    );
  }

  /** What was printed with `from <= time <= until`, ascending. */
  prints(from: number, until: number): readonly Print[] {
    this.#printUntil(until);
    let first = this.#prints.length;
    while (first > 0 && (this.#prints[first - 1]?.at ?? 0) >= from) first -= 1;
    return this.#prints.slice(first).filter(({ at }) => at <= until);
  }

  lastPrint(until: number): Print | undefined {
    this.#printUntil(until);
    return this.#prints.findLast(({ at }) => at <= until);
  }

  #printUntil(until: number): void {
    const from = this.#printedUntil;
    if (until <= from) return;
    const times = this.#steps.map(({ at }) => at).filter((at) => at > from && at <= until);
    for (let at = (Math.floor(from / GRID_MS) + 1) * GRID_MS; at <= until; at += GRID_MS) times.push(at);
    for (const at of [...new Set(times)].sort((one, other) => one - other)) {
      this.#prints.push({ id: this.#prints.length + 1, at, price: this.at(at).shown.bid });
    }
    this.#printedUntil = until;
  }
}
