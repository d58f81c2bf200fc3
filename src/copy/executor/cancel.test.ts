// The target of a copy once an order that the strategy's market has filled in part is canceled.
import { describe, expect, test } from "vitest";
import { type LeadAction, type MirrorEntry, skipOf } from "../../domain/copying.ts";
import { type Amount, decimal, formatBriefly, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import type { CopyProgress } from "../../store/ports/copies.ts";
import { applyReport, type CopyState } from "../orders/copy-state.ts";
import { freshState } from "../testing/copy-rows.ts";
import type { VenueOrderState } from "../venue/venue.ts";
import { cancel } from "./cancel.ts";
import type { CopyContext } from "./context.ts";
import { fill } from "./exits.ts";

const OF_ORDER = { symbol: "BTCUSDT", orderId: 1, collectiveId: "one" } as const;
const LEAD = { wallet: decimal<Amount>("200"), held: new Map(), lastPrices: new Map(), promised: new Map() };
const filledBy = (quantity: string) => ({
  quantity: decimal<Quantity>(quantity),
  price: decimal<Price>("60000"),
});

type Case = {
  /** What of the strategy's order for 0.002 was filled at its placement, and later; "0": nothing. */
  readonly atOnce?: string;
  readonly later?: string;
  /** What of the copy's was, and whether it is open. */
  readonly own: string;
  readonly isOpen?: boolean;
  /** Why the cancel cannot be sent, and what is executed after that. */
  readonly halted?: string;
  /** Whether the action and the order's row are of versions that did not say what was executed. */
  readonly isOld?: boolean;
};

async function targetAfter(of: Case): Promise<string> {
  return formatBriefly((await canceled(of)).target("BTCUSDT"));
}

/** The copy once the strategy's order is canceled. `record`: receives what becomes durable during that. */
async function canceled(
  { atOnce, later, own, isOpen = false, halted, isOld = false }: Case,
  record: (progress: CopyProgress) => void = () => {},
): Promise<CopyState> {
  const state = freshState(record);
  const quantity = decimal<Quantity>("0.002");
  const report = (status: VenueOrderState["status"], executed: string): VenueOrderState => ({
    ...{ clientOrderId: "id", venueOrderId: "7", status, quantity, updatedAt: 1 },
    ...{ executedQuantity: decimal(executed), executedQuote: decimal("1") },
    fills: { fee: ZERO, feeInBase: ZERO },
  });
  const context = {
    ...{ state, now: () => 3, takenAt: 0, leadAccount: () => null, markInDoubt: () => () => {} },
    gate: { stopped: () => (halted === undefined ? null : skipOf("HALTED")) },
    session: {
      briefly: () => context.session,
      ask: async () => report(isOpen ? "RESTING" : "FILLED", own),
      attempt: async () => ({ kind: "OK", value: report("CANCELED", own) }),
    },
    async rowsOf() {
      // Another symbol makes durable what has changed.
      await state.flush();
      return state.current([...rows.values()]).toReversed();
    },
    pollSoon() {},
  } as unknown as CopyContext;
  const rows = new Map<number, MirrorEntry>();
  let seq = 0;
  function take<Action extends Omit<LeadAction, "seq" | "version" | "at" | "lead">>(action: Action) {
    seq += 1;
    const taken = { ...action, seq, version: seq, at: seq, lead: LEAD } as unknown as LeadAction & Action;
    state.take(taken, seq);
    const row = state.open().find((entry) => entry.seq === seq);
    if (row === undefined) throw new Error("an action has a row");
    return { row, taken };
  }
  const note = (entry: MirrorEntry) => rows.set(entry.entryId, entry);

  const placed = take({
    ...{ ...OF_ORDER, kind: "PLACE", side: "BUY", orderType: "LIMIT", quantity, reduceOnly: false },
    ...{ price: decimal<Price>("60000"), stopPrice: ZERO as Price, leverage: null },
    filled: atOnce === undefined ? null : filledBy(atOnce),
  });
  const sent = {
    ...({ status: "RESTING", quantity, clientOrderId: "id", venueOrderId: "7", sentAt: 1 } as const),
    ...(!isOld && { leadExecuted: decimal<Quantity>(atOnce ?? "0") }),
  };
  const order = state.put({ ...placed.row, ...sent });
  note(applyReport(state, order, report(isOpen ? "RESTING" : "FILLED", own), 2));
  if (later !== undefined) {
    const filled = take({
      ...{ ...OF_ORDER, kind: "FILL", side: "BUY", filled: filledBy(later), empties: false },
    });
    await fill(context, filled.row, filled.taken as never);
    note(state.latest(filled.row));
  }
  const executed = decimal<Quantity>(later ?? atOnce ?? "0");
  const ended = take({
    ...{ ...OF_ORDER, kind: "CANCEL", because: "CANCELED" },
    ...(!isOld && { quantity, executed }),
  });
  await cancel(context, ended.row, ended.taken as never);
  if (halted !== undefined) applyReport(state, state.latest(order), report("FILLED", halted), 5);
  return state;
}

describe("an order that the strategy's market has filled in part", () => {
  test.each<[what: string, of: Case, target: string]>([
    ["at its placement, and the copy's whole", { atOnce: "0.0005", own: "0.002" }, "0.0005"],
    ["at its placement, as the copy's", { atOnce: "0.0005", own: "0.0005", isOpen: true }, "0.0005"],
    ["at its placement, and the copy's less", { atOnce: "0.0005", own: "0.0001", isOpen: true }, "0.0001"],
    ["later, and the copy's whole", { later: "0.0001", own: "0.002" }, "0.0001"],
    ["later, and the copy's more", { later: "0.0001", own: "0.001", isOpen: true }, "0.0001"],
    ["not at all, and the copy's whole", { own: "0.002" }, "0"],
    ["later, by an action of an earlier version", { later: "0.0001", own: "0.002", isOld: true }, "0.002"],
    ["not at all, by an action of an earlier version", { own: "0.002", isOld: true }, "0"],
  ])("%s", async (_what, of, target) => {
    expect(await targetAfter(of)).toBe(target);
  });

  test("is canceled and leaves the target in one write, so that a restart between does not keep it", async () => {
    const targets: string[] = [];
    const state = await canceled({ own: "0.002" }, ({ entries, book }) => {
      const isCanceled = entries.some(({ kind, status }) => kind === "CANCEL" && status !== "NEW");
      const { target } = book.holdings.get("BTCUSDT") ?? {};
      if (isCanceled) targets.push(formatBriefly(target ?? decimal("0.002")));
    });
    await state.flush();
    expect(targets).toEqual(["0"]);
  });

  test.each<[what: string, of: Case, target: string]>([
    ["not at all, and the copy's later", { own: "0", isOpen: true, halted: "0.002" }, "0"],
    ["not at all, and the copy's partly before", { own: "0.001", isOpen: true, halted: "0.002" }, "0"],
    [
      "later, and the copy's more before",
      { later: "0.0005", own: "0.001", isOpen: true, halted: "0.002" },
      "0.0005",
    ],
    [
      "later, and the copy's partly before",
      // Less by the unit that the share is rounded down by.
      { later: "0.001", own: "0.0005", isOpen: true, halted: "0.002" },
      "0.00099999",
    ],
    ["later, as the copy's", { later: "0.001", own: "0.001", isOpen: true, halted: "0.002" }, "0.001"],
    [
      "later, and the copy's after it",
      { later: "0.0005", own: "0", isOpen: true, halted: "0.002" },
      "0.0005",
    ],
  ])("%s, while the cancel may not be sent", async (_what, of, target) => {
    expect(await targetAfter(of)).toBe(target);
  });
});
