// The target of a copy on random walks of strategies whose orders are filled in parts, at the strategy and at
// the venue in any order, against a model that knows of each unit what became of it. Exits of the strategy,
// cancels of what is left, and restarts lie in between.
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../test/support/random.ts";
import { testSeed } from "../../../test/support/seed.ts";
import type { Copy, LeadAction, MirrorEntry } from "../../domain/copying.ts";
import { EMPTY_BOOK } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { type Amount, magnitude, type Price, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";
import { decodeBook, decodeEntry, encodeBook, encodeEntry } from "../../store/copying/codec.ts";
import { cancel } from "../executor/cancel.ts";
import type { CopyContext } from "../executor/context.ts";
import { fill } from "../executor/exits.ts";
import type { VenueOrderState } from "../venue/venue.ts";
import { applyReport, CopyState } from "./copy-state.ts";

const SYMBOL = "BTCUSDT";
const SEEDS = [20_240_915, testSeed()];
const WALKS = 60;
const STEPS = 40;
const OPEN_MAX = 3;
/** Of the strategy's order; the copy's is half of it. Any multiple of its hundredth may be filled. */
const SIZE = 2_000_000_000n;
const PARTS = 100n;
/** What rounding to a unit, and of rates, may change in a walk, units of 1e-8. */
const ROUNDING = 20_000;
/** Of the comparisons in a walk with all kinds of steps, at least. */
const COMPARED_MIN = 200;

/** Units of the copy's order that the strategy's has executed, and the part of them that it still holds. */
type Lot = { readonly from: bigint; readonly until: bigint; held: number };
type Order = {
  readonly orderId: number;
  readonly entryId: number;
  /** Executed: by the strategy's, by the copy's at the venue. */
  lead: bigint;
  atVenue: bigint;
  lots: Lot[];
  isCanceled: boolean;
  /** The copy's has executed a part of units that share their fates, until it has executed all of them. */
  isShared: boolean;
};

describe.each(SEEDS)("walks from seed %i", (seed) => {
  test.each<[Copy["type"], Side]>([
    ["SPOT", "BUY"],
    ["FUTURES", "BUY"],
    ["FUTURES", "SELL"],
  ])("on %s by %s, the copy is to hold what is left of what both have executed", async (type, side) => {
    const draw = seededRandom(seed);
    let compared = 0;
    for (let walk = 0; walk < WALKS; walk += 1) {
      const walked = new Walk(type, side, draw);
      for (let step = 0; step < STEPS; step += 1) {
        await walked.step();
        compared += walked.compare() ? 1 : 0;
      }
    }
    expect(compared).toBeGreaterThan(COMPARED_MIN);
  });
});

class Walk {
  readonly #type: Copy["type"];
  readonly #side: Side;
  readonly #draw: () => number;
  readonly #said: string[] = [];
  readonly #rows = new Map<number, MirrorEntry>();
  readonly #orders: Order[] = [];
  #state: CopyState;
  #seq = 0;
  /** The size of the strategy's position. */
  #held = 0n;

  constructor(type: Copy["type"], side: Side, draw: () => number) {
    this.#type = type;
    this.#side = side;
    this.#draw = draw;
    const began = { copyId: "copy", strategyId: "one", type, status: "FOLLOWING", fromVersion: 0 };
    this.#state = this.#open({ ...began, doneSeq: 0, book: EMPTY_BOOK } as unknown as Copy, []);
  }

  async step(): Promise<void> {
    const drawn = this.#draw();
    const open = this.#orders.filter(({ lead, isCanceled }) => lead < SIZE && !isCanceled);
    const fillable = this.#orders.filter(({ atVenue, isCanceled }) => atVenue < SIZE / 2n && !isCanceled);
    if (drawn < 0.15 && open.length < OPEN_MAX) this.#place();
    else if (drawn < 0.4 && open.length > 0) await this.#fillLead(this.#pick(open));
    else if (drawn < 0.7 && fillable.length > 0) this.#fillCopy(this.#pick(fillable));
    else if (drawn < 0.88 && this.#held > 0n) this.#exit();
    else if (drawn < 0.94 && open.length > 0) await this.#cancel(this.#pick(open));
    else if (drawn >= 0.94) await this.#restart();
  }

  /** Compares the target with the model where each unit's fate is known; whether it was. */
  compare(): boolean {
    if (this.#orders.some(({ isShared }) => isShared)) return false;
    let expected = 0;
    for (const { lots, lead, atVenue, isCanceled } of this.#orders) {
      for (const { from, until, held } of lots) {
        const executed = atVenue < until ? atVenue - from : until - from;
        if (executed > 0n) expected += Number(executed) * held;
      }
      if (!isCanceled && atVenue > lead / 2n) expected += Number(atVenue - lead / 2n);
    }
    const { target = ZERO } = this.#state.holding(SYMBOL);
    expect(target >= 0n || this.#side === "SELL", this.#said.join("\n")).toBe(true);
    const apart = Math.abs(Number(magnitude(target)) - expected);
    expect(apart, `${this.#said.join("\n")}\n${target} for ${expected}`).toBeLessThanOrEqual(ROUNDING);
    return true;
  }

  /** As it is placed: at the venue it is open, and at the strategy a part may be filled at once. */
  #place(): void {
    const orderId = this.#orders.length + 1;
    const atOnce = this.#draw() < 0.4 ? this.#part(SIZE) : 0n;
    const price = 1n as Price;
    const { row } = this.#take({
      ...{ kind: "PLACE", ...ofOrder(orderId), side: this.#side, orderType: "LIMIT", quantity: SIZE },
      ...{ price, stopPrice: ZERO, reduceOnly: false, leverage: null },
      filled: atOnce === 0n ? null : { quantity: atOnce, price },
    });
    this.#state.put({
      ...row,
      ...{ status: "RESTING", quantity: (SIZE / 2n) as Quantity, sentAt: 1 },
      ...{ clientOrderId: `${orderId}`, venueOrderId: `${orderId}` },
      ...(atOnce === SIZE ? { retained: 100_000_000n as Rate } : { leadExecuted: atOnce as Quantity }),
    });
    const of = {
      orderId,
      entryId: row.entryId,
      lead: 0n,
      atVenue: 0n,
      lots: [],
      isCanceled: false,
      isShared: false,
    };
    this.#orders.push(of);
    this.#executedAtLead(of, atOnce);
    this.#said.push(`place ${orderId}, at once ${atOnce}`);
  }

  async #fillLead(order: Order): Promise<void> {
    const quantity = this.#part(SIZE - order.lead);
    // Now and then it is the strategy's fill that makes the copy ask for its own.
    if (this.#draw() < 0.3) this.#executedAtVenue(order);
    const { row, action } = this.#take({
      ...{ kind: "FILL", ...ofOrder(order.orderId), side: this.#side, empties: false },
      filled: { quantity, price: 1n },
    });
    await fill(this.#context(order), row, action as never);
    this.#executedAtLead(order, quantity);
    this.#said.push(`fill ${order.orderId} by ${quantity}, the copy's ${order.atVenue}`);
  }

  #fillCopy(order: Order): void {
    this.#executedAtVenue(order);
    applyReport(this.#state, this.#rowOf(order), this.#report(order), 2);
    this.#said.push(`fill the copy's ${order.orderId} to ${order.atVenue}`);
  }

  /** The strategy closes a part of its position, or all of it; the copy's exit may fail. */
  #exit(): void {
    const before = this.#held;
    const left = this.#draw() < 0.3 ? 0n : before - this.#part(before);
    const side = this.#side === "BUY" ? "SELL" : "BUY";
    this.#state.shrinkTarget(SYMBOL, { side, left: left as Quantity, before: before as Quantity });
    for (const { lots } of this.#orders)
      for (const lot of lots) lot.held = (lot.held * Number(left)) / Number(before);
    const own = magnitude(this.#state.holding(SYMBOL).quantity);
    // A unit is kept: what holds nothing has no target.
    const sold = this.#draw() < 0.5 ? ((own - 1n) * (before - left)) / before : 0n;
    if (sold > 0n) {
      const of = { symbol: SYMBOL, side, quantity: sold as Quantity, quote: 1n as Amount } as const;
      const row = { entryId: 0, kind: "PLACE", executedQuantity: ZERO, retained: ZERO as Rate } as const;
      const sizes = { quantity: sold as Quantity, leadQuantity: null };
      this.#state.execute({ ...of, fee: ZERO, feeInBase: ZERO }, { ...row, ...sizes });
    }
    this.#held = left;
    this.#said.push(`exit to ${left} of ${before}, the copy sells ${sold}`);
  }

  async #cancel(order: Order): Promise<void> {
    const { row, action } = this.#take({
      ...{ kind: "CANCEL", ...ofOrder(order.orderId), because: "CANCELED" },
      ...{ quantity: SIZE, executed: order.lead },
    });
    await cancel(this.#context(order), row, action as never);
    order.isCanceled = true;
    this.#said.push(`cancel ${order.orderId}`);
  }

  async #restart(): Promise<void> {
    await this.#state.flush();
    const { book } = this.#state;
    const open = this.#state.open().map((entry) => decodeEntry(entry, encodeEntry(entry)));
    this.#state = this.#open({ ...this.#state.copy, book: decodeBook(encodeBook(book)) }, open);
    this.#said.push("restart");
  }

  #executedAtLead(order: Order, quantity: bigint): void {
    const from = order.lead / 2n;
    order.lead += quantity;
    this.#held += quantity;
    if (quantity > 0n) order.lots.push({ from, until: order.lead / 2n, held: 1 });
  }

  #executedAtVenue(order: Order): void {
    const { atVenue, lots, lead } = order;
    const dues = lots.filter(({ until }) => until > atVenue).map(({ held }) => held);
    order.atVenue += this.#part(SIZE / 2n - atVenue);
    if (order.atVenue >= lead / 2n) order.isShared = false;
    else if (new Set(dues).size > 1) order.isShared = true;
  }

  #open(copy: Copy, open: readonly MirrorEntry[]): CopyState {
    return new CopyState(copy, open, async ({ entries }) => {
      for (const entry of entries) this.#rows.set(entry.entryId, entry);
    });
  }

  #take(intent: object): { readonly row: MirrorEntry; readonly action: LeadAction } {
    this.#seq += 1;
    const held = new Map([[this.#type === "SPOT" ? "BTC" : SYMBOL, this.#signed(this.#held)]]);
    const lead = { wallet: ZERO, held, lastPrices: new Map(), promised: new Map() };
    const action = { ...intent, seq: this.#seq, version: this.#seq, at: 1, lead } as unknown as LeadAction;
    this.#state.take(action, 1);
    const row = this.#state.open().find(({ seq }) => seq === this.#seq);
    if (row === undefined) throw new Error("an action has a row");
    return { row, action };
  }

  #context(order: Order): CopyContext {
    const state = this.#state;
    const context = {
      ...{ state, now: () => 3, takenAt: 0, leadAccount: () => null, markInDoubt: () => () => {} },
      gate: { stopped: () => null },
      session: {
        briefly: () => context.session,
        ask: async () => this.#report(order),
        attempt: async () => ({ kind: "OK", value: { ...this.#report(order), status: "CANCELED" } }),
      },
      rowsOf: async (id: string) => {
        await state.flush();
        const ofOrder = [...this.#rows.values()].filter(({ collectiveId }) => collectiveId === id);
        return ofOrder.map((entry) => state.latest(entry));
      },
      pollSoon() {},
    } as unknown as CopyContext;
    return context;
  }

  #report({ orderId, atVenue }: Order): VenueOrderState {
    return {
      ...{ clientOrderId: `${orderId}`, venueOrderId: `${orderId}`, quantity: (SIZE / 2n) as Quantity },
      ...{ status: atVenue === SIZE / 2n ? "FILLED" : "RESTING", updatedAt: 1 },
      ...{ executedQuantity: atVenue as Quantity, executedQuote: atVenue as Amount },
      fills: { fee: ZERO, feeInBase: ZERO },
    };
  }

  #rowOf({ entryId }: Order): MirrorEntry {
    const row = this.#state.open().find((entry) => entry.entryId === entryId);
    if (row === undefined) throw new Error("an order that can be filled is open");
    return row;
  }

  #signed(size: bigint): bigint {
    return this.#side === "BUY" ? size : -size;
  }

  /** More than nothing. */
  #part(whole: bigint): bigint {
    const drawn = (whole * BigInt(1 + Math.floor(this.#draw() * Number(PARTS)))) / PARTS;
    // The copy's is half of it.
    return drawn > 1n ? drawn - (drawn % 2n) : whole;
  }

  #pick<Each>(all: readonly Each[]): Each {
    const found = all[Math.floor(this.#draw() * all.length)];
    if (found === undefined) throw new Error("there is one to be drawn");
    return found;
  }
}

function ofOrder(orderId: number) {
  return { symbol: SYMBOL, orderId, collectiveId: `order-${orderId}` };
}
