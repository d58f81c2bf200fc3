import { expect, test } from "vitest";
import type { LeadAction, LeadFill } from "../../domain/copying.ts";
import { type Amount, decimal, formatBriefly, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { applyReport, ownRow } from "../orders/copy-state.ts";
import { freshState } from "../testing/copy-rows.ts";
import type { VenueOrderState } from "../venue/venue.ts";
import type { CopyContext } from "./context.ts";
import { fill } from "./exits.ts";

test("an answer about an order that is older than its end changes nothing any more", async () => {
  const state = freshState();
  const quantity = decimal<Quantity>("0.002");
  const report = (status: VenueOrderState["status"], executed: string): VenueOrderState => ({
    ...{ clientOrderId: "id", venueOrderId: "7", status, quantity, updatedAt: 1 },
    ...{ executedQuantity: decimal(executed), executedQuote: decimal(executed) },
    fills: { fee: ZERO, feeInBase: ZERO },
  });
  const order = state.add({
    ...ownRow("PLACE", "BTCUSDT", 1),
    ...{ status: "RESTING", collectiveId: "one", side: "BUY", orderType: "LIMIT", quantity },
    ...{ clientOrderId: "id", venueOrderId: "7", sentAt: 1 },
  });
  const context = {
    ...{ state, now: () => 3, pollSoon() {}, rowsOf: async () => [] },
    session: {
      briefly: () => context.session,
      async ask() {
        const before = report("RESTING", "0.001");
        // A poll books its end while this answer is under way.
        applyReport(state, state.latest(order), report("FILLED", "0.002"), 2);
        return before;
      },
    },
  } as unknown as CopyContext;
  const lead = {
    wallet: decimal<Amount>("200"),
    held: new Map(),
    lastPrices: new Map(),
    promised: new Map(),
  };
  const action: LeadAction & LeadFill = {
    ...{ seq: 1, version: 1, at: 1, lead, kind: "FILL", symbol: "BTCUSDT", orderId: 1, collectiveId: "one" },
    ...{ side: "BUY", filled: { quantity, price: decimal<Price>("1") }, empties: false },
  };
  state.take(action, 1);
  const row = state.open().find(({ kind }) => kind === "FILL");
  if (row === undefined) throw new Error("an action has a row");
  await fill(context, row, action);
  expect(state.latest(order).status).toBe("FILLED");
  expect(state.resting()).toEqual([]);
  expect(formatBriefly(state.holding("BTCUSDT").quantity)).toBe("0.002");
});
