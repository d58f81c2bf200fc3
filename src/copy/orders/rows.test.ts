import { expect, test } from "vitest";
import { type Copy, EMPTY_BOOK, type MirrorEntry } from "../../domain/copying.ts";
import { type Amount, decimal, type Quantity } from "../../money/decimal.ts";
import type { CopyProgress } from "../../store/ports/copies.ts";
import { findUnconfirmed, UNCONFIRMED_MS_MAX } from "../executor/balances.ts";
import type { CopyContext } from "../executor/context.ts";
import { CopyState, endRow, ownRow } from "./copy-state.ts";

const ROW: MirrorEntry = {
  ...ownRow("PLACE", "BTCUSDT", 0),
  ...{ copyId: "copy", entryId: 1 },
};

test.each<[string, Partial<MirrorEntry>, MirrorEntry["status"]]>([
  ["rested", { status: "RESTING", venueOrderId: "1" }, "CANCELED"],
  ["was never confirmed", { status: "UNCONFIRMED" }, "SKIPPED"],
  [
    "was never confirmed, but executed",
    { status: "UNCONFIRMED", executedQuantity: decimal("1") },
    "CANCELED",
  ],
  ["is a leg that waits for its position", { kind: "PLACE_LEG", status: "RESTING" }, "CANCELED"],
  ["is a leg that was refused, and waits", { kind: "PLACE_LEG", status: "RESTING", sends: 1 }, "SKIPPED"],
  // Balances have shown since that it was never placed.
  ["was given up before", { status: "SKIPPED" }, "SKIPPED"],
])("what %s and is not at the venue any more", (_, of, status) => {
  const state = { put: (row: MirrorEntry) => row } as CopyState;
  expect(endRow(state, { ...ROW, ...of }, null, 1).status).toBe(status);
});

test.each([
  ["is taken from balances that are older than the execution", 2_001, "99.9"],
  ["is not taken from later balances, which have it", 1_999, "100"],
])("after a restart a fee that is learned late %s", (_, executedAt, wallet) => {
  const fee = { fee: decimal<Amount>("0.1"), feeInBase: decimal<Quantity>("0"), cost: decimal<Amount>("0") };
  const had = {
    wallet: decimal<Amount>("100"),
    available: decimal<Amount>("100"),
    equity: decimal<Amount>("100"),
  };
  const snapshot = { at: 2_000, ...had, held: new Map() };
  const copy = { type: "FUTURES", book: { ...EMPTY_BOOK, snapshot } } as unknown as Copy;
  const row: MirrorEntry = { ...ROW, status: "FILLED", isFeeDue: true, updatedAt: executedAt };
  const state = new CopyState(copy, [row], async () => {});
  state.charge({ symbol: "BTCUSDT", side: "BUY", ...fee }, row.entryId);
  expect(state.book.snapshot?.wallet).toBe(decimal(wallet));
});

test.each([
  ["was booked by the balances is filled", "1", "FILLED"],
  ["nothing was booked of is skipped", "0", "SKIPPED"],
])("an order that the venue never shows and that %s", async (_, executed, status) => {
  const copy = { type: "SPOT", book: EMPTY_BOOK } as unknown as Copy;
  const sizes = { quantity: decimal<Quantity>("1"), executedQuantity: decimal<Quantity>(executed) };
  const row: MirrorEntry = { ...ROW, ...sizes, status: "UNCONFIRMED", clientOrderId: "id", sentAt: 0 };
  const state = new CopyState(copy, [row], async () => {});
  const session = { ask: async () => null };
  const now = () => UNCONFIRMED_MS_MAX + 1;
  await findUnconfirmed({ state, session, now } as unknown as CopyContext);
  expect(state.latest(row).status).toBe(status);
});

test("what changes while a write is under way is written with the next one, from what the store has by then", async () => {
  const written: CopyProgress[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const copy = { type: "SPOT", status: "FOLLOWING", reason: null, book: EMPTY_BOOK } as unknown as Copy;
  const state = new CopyState(copy, [], async (progress) => {
    await gates[written.push(progress) - 1]?.promise;
  });
  state.setSnapshot(null);
  const first = state.flush();
  await Promise.resolve();
  // The copy ends before it is written that it closes, and two requests are done.
  state.move("CLOSING", null, 1);
  expect(state.isMoving).toBe(true);
  state.move("STOPPED", null, 2);
  state.finishRequest({ requestId: "repair" }, 2, null);
  state.finishRequest({ requestId: "check" }, 2, "in vain");
  const second = state.flush();
  gates[0]?.resolve();
  await first;
  expect(state.isMoving).toBe(true);
  gates[1]?.resolve();
  await second;
  expect(state.isMoving).toBe(false);
  expect(written[1]?.moves).toEqual({
    ...{ from: { status: "FOLLOWING", reason: null }, status: "STOPPED", reason: null, at: 2 },
  });
  expect(written[1]?.finishes.map(({ requestId }) => requestId)).toEqual(["repair", "check"]);
});
