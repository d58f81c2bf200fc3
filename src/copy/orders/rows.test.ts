import { expect, test } from "vitest";
import type { MirrorEntry } from "../../domain/copying.ts";
import { decimal } from "../../money/decimal.ts";
import { type CopyState, endRow, ownRow } from "./copy-state.ts";

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
  // Balances have shown since that it was never placed.
  ["was given up before", { status: "SKIPPED" }, "SKIPPED"],
])("what %s and is not at the venue any more", (_, of, status) => {
  const state = { put: (row: MirrorEntry) => row } as CopyState;
  expect(endRow(state, { ...ROW, ...of }, null, 1).status).toBe(status);
});
