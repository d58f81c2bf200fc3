// What the streams must not do, each kind counted, and the first few of them told in words.

export const FAULT_KINDS = [
  "ID_WENT_BACK",
  "BAD_BOOK",
  "BAD_CANDLE",
  "OLDER_CANDLE",
  "TICK_AFTER_FINAL",
  "FINAL_TWICE",
  "FINAL_MISSED",
  "SILENT",
  "UNASKED",
  "UNSAID",
  "REFUSED",
  "CUT_OFF",
  "NOT_BACK",
  "MEMORY",
  "GATEWAY",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];
export type Fault = { readonly kind: FaultKind; readonly what: string };

/** Of each kind so many are told in words; the rest is counted. */
const TOLD_MAX = 5;

export class Faults {
  readonly #counts = new Map<FaultKind, number>();
  readonly #told: Fault[] = [];

  add({ kind, what }: Fault): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= TOLD_MAX) this.#told.push({ kind, what });
  }

  count(kind: FaultKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  get told(): readonly Fault[] {
    return this.#told;
  }
}
