// Which row of a copy's outbox a symbol's worker executes next. A symbol's rows go in order, but what closes
// or protects the position that the copy has does not wait for an opening that was not sent, or that the
// venue lets wait. An opening waits for the earlier rows of all symbols, and for all reductions and
// protection, since it may need the money that they free; openings are sized one at a time. It waits for no
// symbol whose work has failed, whose order's outcome is being found out, or whose row the venue lets wait.
import { orderIdOf } from "../../domain/collective-id.ts";
import { type LeadAction, type MirrorEntry, skipOf } from "../../domain/copying.ts";
import { magnitude } from "../../money/decimal.ts";
import { closesPosition, isLeg, isOwnOrder, skipped } from "../orders/copy-state.ts";
import { leadOpening } from "../sizing/proportion.ts";
import type { CopyContext } from "./context.ts";

/** Kinds of rows, beside orders that open something, which a leg need not wait for. */
const OVERTAKEN_BY_LEGS: readonly MirrorEntry["kind"][] = ["SET_LEVERAGE", "CANCEL", "FILL"];

export class RowOrder {
  readonly #context: Pick<CopyContext, "state" | "gate" | "now" | "leadAccount">;
  readonly #onGivenUp: (row: MirrorEntry) => void;
  /** Rows of the strategy's that open something, by number; PART: that close something first. */
  readonly #openings = new Map<number, "WHOLE" | "PART">();
  /** Until when rows wait that the venue has no room or no answer for, by number; wall time, Unix ms. */
  readonly #postponed = new Map<number, number>();
  /** The number of the row that a symbol's worker executes. */
  readonly #executing = new Map<string, number>();
  /** By symbol, how many outcomes of its orders are being found out; others do not wait for these. */
  readonly #inDoubt = new Map<string, number>();
  /** Symbols where work failed, and that others do not wait for either. */
  readonly #failed = new Set<string>();

  /** `onGivenUp`: a row was ended of which nothing was sent, because an exit has gone past it. */
  constructor(
    context: Pick<CopyContext, "state" | "gate" | "now" | "leadAccount">,
    { onGivenUp }: { readonly onGivenUp: (row: MirrorEntry) => void },
  ) {
    this.#context = context;
    this.#onGivenUp = onGivenUp;
  }

  /** Notes whether the row of an action opens something. */
  note(entryId: number, action: LeadAction): void {
    if (action.kind !== "PLACE") return;
    const opening = leadOpening({
      type: this.#context.state.copy.type,
      placement: action,
      lead: action.lead,
    });
    if (opening > 0n) this.#openings.set(entryId, opening === action.quantity ? "WHOLE" : "PART");
  }

  /** Whether a row opens something. */
  opens({ entryId }: MirrorEntry): boolean {
    return this.#openings.has(entryId);
  }

  /** A symbol's worker executes this row now. */
  begin(symbol: string, { entryId }: MirrorEntry): void {
    this.#executing.set(symbol, entryId);
  }

  /** The venue lets a row wait until then, wall time, Unix ms. */
  postpone({ entryId }: MirrorEntry, until: number): void {
    this.#postponed.set(entryId, until);
  }

  /** A row has left the outbox. */
  forget({ entryId }: MirrorEntry): void {
    this.#openings.delete(entryId);
    this.#postponed.delete(entryId);
  }

  /** A step of work on a symbol is over; whether it failed: others do not wait for the symbol then. */
  noteWork(symbol: string, { hasFailed }: { readonly hasFailed: boolean }): void {
    this.#executing.delete(symbol);
    if (hasFailed) this.#failed.add(symbol);
    else this.#failed.delete(symbol);
  }

  /** One outcome more, or less, of a symbol's orders is being found out. */
  noteInDoubt(symbol: string, more: 1 | -1): void {
    this.#inDoubt.set(symbol, (this.#inDoubt.get(symbol) ?? 0) + more);
  }

  isInDoubt(symbol: string): boolean {
    return (this.#inDoubt.get(symbol) ?? 0) > 0;
  }

  /**
   * The row that a symbol's worker executes next. NONE: there is none, or all are postponed and none may go
   * past them. WAITS: it waits for other rows. A postponed opening that an exit goes past is ended here.
   */
  next(symbol: string): MirrorEntry | "NONE" | "WAITS" {
    const head = this.head(symbol);
    // A position that is without its stop, or is to be closed, does not wait for a postponed row.
    const isWaiting = head !== undefined && this.#isPostponed(head);
    const row = isWaiting ? this.#pastPostponed(symbol) : head;
    if (row === undefined) return "NONE";
    return this.#isEligible(row) ? row : "WAITS";
  }

  /**
   * A leg of the position that goes beside its symbol's worker: the outcome of an order or a cancel is being
   * found out, and the position does not wait for it. Undefined if there is none.
   */
  legBeside(symbol: string): MirrorEntry | undefined {
    if (!this.isInDoubt(symbol)) return undefined;
    const rows = this.#context.state.outbox(symbol);
    const isBeingCanceled = ({ kind, entryId }: MirrorEntry) =>
      kind === "CANCEL" && entryId === this.#executing.get(symbol);
    const isBusy = (each: MirrorEntry) => each.status === "SENT" || isBeingCanceled(each);
    const row = rows.find((each) => !isBusy(each) && !this.#isOvertakenByLegs(each));
    if (row?.kind !== "PLACE_LEG" || !this.#mayGoFirst(row, rows)) return undefined;
    // A leg that the symbol's worker is about to send is in no order's way.
    return rows.some((each) => isBusy(each) && !isLeg(each)) ? row : undefined;
  }

  /**
   * The row of a symbol that is next: the oldest, but a leg of the position that the copy has goes before
   * openings that were not sent yet. However far a copy is behind, its position does not wait for its stop.
   */
  head(symbol: string): MirrorEntry | undefined {
    const rows = this.#context.state.outbox(symbol === "" ? undefined : symbol);
    const [first] = rows;
    if (first === undefined || !this.#isOvertakenByLegs(first)) return first;
    const next = rows.find((row) => !this.#isOvertakenByLegs(row));
    const isLegNow =
      next?.kind === "CANCEL_LEG" || (next?.kind === "PLACE_LEG" && this.#mayGoFirst(next, rows));
    return isLegNow ? next : first;
  }

  /**
   * Whether a leg may go before the orders that precede it: it closes the position that the copy has now, and
   * none of those orders may close the whole position first. If one may, the leg belongs to a later position,
   * and the venue would end it together with this one.
   */
  #mayGoFirst(leg: MirrorEntry, rows: readonly MirrorEntry[]): boolean {
    if (!closesPosition(this.#context.state, leg)) return false;
    const held = magnitude(this.#context.state.position(leg.symbol ?? ""));
    return rows.every((row) => {
      const isOrder = row.kind === "PLACE" || isOwnOrder(row);
      const isOfOtherSide = row.side !== leg.side || row.entryId > leg.entryId;
      return !isOrder || isOfOtherSide || (row.quantity !== null && row.quantity < held);
    });
  }

  /** Whether it neither reduces nor protects, and was not sent yet. */
  #isOvertakenByLegs({ kind, status, entryId }: MirrorEntry): boolean {
    return status === "NEW" && (this.#openings.has(entryId) || OVERTAKEN_BY_LEGS.includes(kind));
  }

  #isPostponed({ entryId }: MirrorEntry): boolean {
    return (
      this.#context.state.copy.status !== "STOPPED" &&
      (this.#postponed.get(entryId) ?? 0) > this.#context.now()
    );
  }

  /**
   * The row of a symbol that goes past postponed ones, if one may. A change of the leverage is in no
   * row's way. Neither is an order that is open at the strategy with nothing executed: nothing there follows
   * from it yet. Any other opening is given up for an order that closes the copy's position at the market,
   * which closes its part, too; nothing else goes past it, least of all its own cancel.
   */
  #pastPostponed(symbol: string): MirrorEntry | undefined {
    const rows = this.#context.state.outbox(symbol);
    const passed: MirrorEntry[] = [];
    for (const [index, row] of rows.entries()) {
      const isNew = row.status === "NEW";
      if (isNew && row.kind === "SET_LEVERAGE") continue;
      const isPostponed = this.#isPostponed(row);
      const waits = isNew && (isPostponed || passed.length > 0);
      const isExitBehind = () => rows.slice(index + 1).some((later) => this.#closesAtMarket(later));
      if (waits && (this.#isUntouched(row) || (this.#onlyOpens(row) && isExitBehind()))) passed.push(row);
      else if (isPostponed || !this.#isEligible(row) || (waits && this.#onlyOpens(row))) return undefined;
      else {
        for (const each of passed) if (!this.#isUntouched(each)) this.#giveUp(each);
        return row;
      }
    }
    return undefined;
  }

  #onlyOpens({ kind, entryId, retained }: MirrorEntry): boolean {
    return this.#openings.get(entryId) === "WHOLE" || (kind === "REPAIR" && retained !== undefined);
  }

  /** Whether an order is open at the strategy, and nothing of it executed. */
  #isUntouched({ entryId, collectiveId }: MirrorEntry): boolean {
    if (!this.#openings.has(entryId) || collectiveId === null) return false;
    return this.#context.leadAccount()?.openOrders.get(orderIdOf(collectiveId))?.executedQuantity === 0n;
  }

  #closesAtMarket(row: MirrorEntry): boolean {
    const isOrder = row.kind === "PLACE" && row.orderType === "MARKET" && !this.#onlyOpens(row);
    const isExit = isOrder || row.kind === "FIRE_LEG" || row.kind === "LIQUIDATE";
    return isExit && closesPosition(this.#context.state, row);
  }

  /** Ends a row of which nothing was sent, because an exit has gone past it. */
  #giveUp(row: MirrorEntry): void {
    const updatedAt = this.#context.now();
    this.#context.state.put({ ...skipped(row, skipOf("OVERTAKEN")), updatedAt });
    this.forget(row);
    this.#onGivenUp(row);
  }

  /** Whether a row may be executed now: what opens waits for others. */
  #isEligible(row: MirrorEntry): boolean {
    // While the venue cannot be asked, the outcome cannot be resolved.
    if (row.status === "SENT") return !this.#context.gate.isBlind();
    if (!this.#openings.has(row.entryId)) return true;
    const seen = new Set<string>();
    for (const other of this.#context.state.outbox()) {
      const symbol = other.symbol ?? "";
      if (symbol === row.symbol) continue;
      const isOpening = this.#openings.has(other.entryId);
      // Another opening is being sized, by the same money.
      if (isOpening && other.status === "NEW" && other.entryId === this.#executing.get(symbol)) return false;
      if (seen.has(symbol)) continue;
      seen.add(symbol);
      if (this.isInDoubt(symbol) || this.#failed.has(symbol) || this.#isPostponed(other)) continue;
      if (other.entryId < row.entryId && !(isOpening && other.status === "SENT")) return false;
      if (!isOpening) return false;
    }
    return true;
  }
}
