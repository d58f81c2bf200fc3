// A client's own copy of a book, kept by the rules of the exchange and by nothing else: a snapshot, then
// every change in sequence. Source: reference sockets, sections 4.4 and 5.1.
import type { StrategyType } from "../../src/domain/account.ts";

export type Level = readonly [price: string, quantity: string];
export type Snapshot = {
  readonly lastUpdateId: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
};
export type Change = {
  readonly U: number;
  readonly u: number;
  readonly pu?: number;
  readonly b: readonly Level[];
  readonly a: readonly Level[];
};

export class FollowedBook {
  /** Changes that were applied. */
  applied = 0;
  /** What broke the sequence; null while the book is in step. */
  fault: string | null = null;
  readonly #isSpot: boolean;
  #waiting: Change[] = [];
  /** Id of the snapshot or of the last change; null before the snapshot. */
  #id: number | null = null;
  #isFirst = true;
  #bids = new Map<string, string>();
  #asks = new Map<string, string>();

  constructor(type: StrategyType) {
    this.#isSpot = type === "SPOT";
  }

  get lastId(): number | null {
    return this.#id;
  }

  hear(change: Change): void {
    if (this.#id === null) this.#waiting.push(change);
    else this.#apply(change);
  }

  /** Begins from a snapshot; changes that came before it are applied where they are newer. */
  load({ lastUpdateId, bids, asks }: Snapshot): void {
    this.#id = lastUpdateId;
    this.#isFirst = true;
    this.fault = null;
    this.#bids = new Map(bids);
    this.#asks = new Map(asks);
    for (const change of this.#waiting.splice(0)) this.#apply(change);
  }

  /** Best first. */
  sides(): { readonly bids: readonly Level[]; readonly asks: readonly Level[] } {
    const sorted = (side: ReadonlyMap<string, string>, direction: 1 | -1) =>
      [...side].sort(([one], [other]) => (Number(one) - Number(other)) * direction);
    return { bids: sorted(this.#bids, -1), asks: sorted(this.#asks, 1) };
  }

  #apply(change: Change): void {
    const id = this.#id as number;
    if (this.fault !== null) return;
    if (this.#isFirst && (this.#isSpot ? change.u <= id : change.u < id)) return;
    if (!this.#follows(change, id)) {
      this.fault = `${this.#isFirst ? "the snapshot" : "the change"} ${id} is followed by ${change.U}-${change.u}`;
      return;
    }
    this.#isFirst = false;
    this.#id = change.u;
    this.applied += 1;
    for (const [side, levels] of [
      [this.#bids, change.b],
      [this.#asks, change.a],
    ] as const) {
      for (const [price, quantity] of levels) {
        if (Number(quantity) === 0) side.delete(price);
        else side.set(price, quantity);
      }
    }
  }

  #follows({ U, u, pu }: Change, id: number): boolean {
    if (this.#isSpot) return this.#isFirst ? U <= id + 1 && id + 1 <= u : U === id + 1;
    return this.#isFirst ? (U <= id && id <= u) || pu === id : pu === id;
  }
}
