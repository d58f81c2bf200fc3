// The actions of one strategy, held once for all copies: from the first that some copy has yet to deal with to the last. A
// copy that lags so far behind that its action was let go has it loaded again, in chunks.
import type { LeadAction } from "../../domain/copying.ts";
import type { CopyStore } from "../../store/copy-store.ts";

/** Actions that are held; beyond it the oldest are let go, and loaded when a copy asks for them. */
const HELD_MAX = 5_000;
/** Actions that are loaded at a time. */
const CHUNK_MAX = 500;

export class ActionLog {
  readonly #store: Pick<CopyStore, "listActions">;
  readonly #strategyId: string;
  /** By seq, ascending but for what was loaded again. */
  readonly #held = new Map<number, LeadAction>();
  #lastSeq: number;

  /** `lastSeq`: what is known to be there without having been handed over. */
  constructor(store: Pick<CopyStore, "listActions">, strategyId: string, lastSeq: number) {
    this.#store = store;
    this.#strategyId = strategyId;
    this.#lastSeq = lastSeq;
  }

  /** The last action; 0 if there is none. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Adds actions; those that are known already do no harm. */
  add(actions: readonly LeadAction[]): void {
    for (const action of actions) {
      this.#held.set(action.seq, action);
      if (action.seq > this.#lastSeq) this.#lastSeq = action.seq;
    }
    this.#bound();
  }

  /** Null if the strategy has done nothing of that number yet. */
  async at(seq: number): Promise<LeadAction | null> {
    if (seq > this.#lastSeq) return null;
    const held = this.#held.get(seq);
    if (held !== undefined) return held;
    const loaded = await this.#store.listActions(this.#strategyId, { afterSeq: seq - 1, limit: CHUNK_MAX });
    this.add(loaded);
    return loaded[0]?.seq === seq ? loaded[0] : null;
  }

  /** Lets go of what every copy has dealt with. */
  forgetUpTo(seq: number): void {
    for (const held of this.#held.keys()) {
      if (held <= seq) this.#held.delete(held);
    }
  }

  #bound(): void {
    for (const seq of this.#held.keys()) {
      if (this.#held.size <= HELD_MAX) return;
      this.#held.delete(seq);
    }
  }
}
