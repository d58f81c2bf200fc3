// One turn of a lane: what it is about to record of its copy. Everything a turn does is gathered here and written in one
// transaction; only then does the lane hold it for true. A turn that fails is dropped whole.
import type {
  Copy,
  CopyBook,
  CopyReason,
  CopyStatus,
  MirrorEntry,
  VenueSnapshot,
} from "../../domain/copying.ts";
import { type Amount, type Quantity, ZERO } from "../../money/decimal.ts";
import type { CopyProgress } from "../../store/copy-store.ts";
import { chargedTo, type Execution, executedIn, holdingOf } from "./book.ts";
import { carriedOn } from "./funds.ts";

/** A line of the mirror log before it has its number. */
export type NewEntry = Omit<MirrorEntry, "copyId" | "entryId">;

export class Turn {
  readonly copy: Copy;
  #book: CopyBook;
  #doneSeq: number;
  #moves: CopyProgress["moves"] = null;
  #finishes: CopyProgress["finishes"] = null;
  #hasChanged = false;
  /** By number: new ones, and those that changed. */
  readonly #entries = new Map<number, MirrorEntry>();
  readonly #restingBefore: ReadonlyMap<number, MirrorEntry>;

  constructor(copy: Copy, resting: ReadonlyMap<number, MirrorEntry>) {
    this.copy = copy;
    this.#book = copy.book;
    this.#doneSeq = copy.doneSeq;
    this.#restingBefore = resting;
  }

  get book(): CopyBook {
    return this.#book;
  }

  get moves(): CopyProgress["moves"] {
    return this.#moves;
  }

  /** Whether there is anything to record. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Whether a line of it is about an order that the venue has. */
  get hasSent(): boolean {
    return [...this.#entries.values()].some(({ venueOrderId }) => venueOrderId !== null);
  }

  /** Adds a line to the mirror log. */
  add(line: NewEntry): MirrorEntry {
    const entry = { ...line, copyId: this.copy.copyId, entryId: this.#book.nextEntryId };
    this.#book = { ...this.#book, nextEntryId: entry.entryId + 1 };
    this.replace(entry);
    return entry;
  }

  /** Changes a line. */
  replace(entry: MirrorEntry): void {
    this.#entries.set(entry.entryId, entry);
    this.#hasChanged = true;
  }

  /** Books what was executed, and what became of the funds by it. */
  execute(execution: Execution): void {
    const { family } = this.copy;
    const before = this.#book;
    const after = executedIn(before, family, execution);
    const gained = after.realized - before.realized;
    const { snapshot } = after;
    this.setBook({
      ...after,
      snapshot: snapshot && carriedOn(snapshot, family, { ...execution, gained }),
    });
  }

  /** Books what an execution that is booked has cost besides. */
  charge(of: Pick<Execution, "symbol" | "side" | "fee" | "feeInBase">): void {
    const { family } = this.copy;
    const { snapshot } = this.#book;
    const nothing = { quantity: ZERO as Quantity, quote: ZERO as Amount, gained: 0n };
    this.setBook({
      ...chargedTo(this.#book, of),
      snapshot: snapshot && carriedOn(snapshot, family, { ...of, ...nothing }),
    });
  }

  setBook(book: CopyBook): void {
    this.#book = book;
    this.#hasChanged = true;
  }

  setSnapshot(snapshot: VenueSnapshot): void {
    this.setBook({ ...this.#book, snapshot });
  }

  /** The action is dealt with. */
  finishAction(seq: number): void {
    this.#doneSeq = seq;
    this.#hasChanged = true;
  }

  finishRequest(requestId: string, at: number, failure: string | null): void {
    this.#finishes = { requestId, at, failure };
    this.#hasChanged = true;
  }

  move(status: CopyStatus, reason: CopyReason | null, at: number): void {
    this.#moves = { from: { status: this.copy.status, reason: this.copy.reason }, status, reason, at };
    this.#hasChanged = true;
  }

  /** A line as the turn leaves it so far. */
  latest(entry: MirrorEntry): MirrorEntry {
    return this.#entries.get(entry.entryId) ?? entry;
  }

  /** Lines of the log as the turn leaves them so far. */
  current(entries: readonly MirrorEntry[]): readonly MirrorEntry[] {
    const before = entries.map((entry) => this.latest(entry));
    const known = new Set(before.map(({ entryId }) => entryId));
    const added = [...this.#entries.values()].filter(({ entryId }) => !known.has(entryId));
    return [...added.reverse(), ...before];
  }

  /** What rests, as the turn leaves it so far: oldest first. */
  resting(symbol?: string): readonly MirrorEntry[] {
    const rest: MirrorEntry[] = [];
    for (const entry of this.#restingBefore.values()) {
      const now = this.latest(entry);
      if (now.status === "RESTING") rest.push(now);
    }
    for (const entry of this.#entries.values()) {
      if (entry.status === "RESTING" && !this.#restingBefore.has(entry.entryId)) rest.push(entry);
    }
    return symbol === undefined ? rest : rest.filter((entry) => entry.symbol === symbol);
  }

  /** What the copy holds of a symbol by its own orders. */
  holding(symbol: string) {
    return holdingOf(this.#book, symbol);
  }

  progress(): CopyProgress {
    return {
      copyId: this.copy.copyId,
      entries: [...this.#entries.values()],
      book: this.#book,
      doneSeq: this.#doneSeq,
      moves: this.#moves,
      finishes: this.#finishes,
    };
  }
}

/** Whether a move takes effect on a copy that people may have changed since the turn began: as the store has it. */
export function takesEffect(
  moves: CopyProgress["moves"],
  { status, reason }: Pick<Copy, "status" | "reason">,
): moves is NonNullable<CopyProgress["moves"]> {
  if (moves === null || status === "STOPPED") return false;
  const isAsItWas = status === moves.from.status && reason === moves.from.reason;
  return isAsItWas || (moves.status === "CLOSING" && (status === "FOLLOWING" || status === "PAUSED"));
}
