import { expect, test } from "vitest";
import type { LeadAction, MirrorEntry } from "../../domain/copying.ts";
import { decimal, type Quantity } from "../../money/decimal.ts";
import { ownRow } from "../orders/copy-state.ts";
import { freshState } from "../testing/copy-rows.ts";
import type { CopyContext } from "./context.ts";
import { RowOrder } from "./row-order.ts";

const QUANTITY = decimal<Quantity>("0.001");
/** When rows are postponed until, wall time, Unix ms. */
const LATER = 1_000;

test("of two openings on two symbols one is sized at a time, also when the older one was postponed", () => {
  const { rows, opening, time } = createRows();
  const older = opening("ETHUSDT");
  const newer = opening("BTCUSDT");
  expect([rows.next("ETHUSDT"), rows.next("BTCUSDT")]).toEqual([older, "WAITS"]);
  rows.begin("ETHUSDT", older);
  rows.postpone(older, LATER);
  rows.noteWork("ETHUSDT", { hasFailed: false });
  expect(rows.next("BTCUSDT")).toEqual(newer);
  rows.begin("BTCUSDT", newer);
  time.now = LATER;
  expect(rows.next("ETHUSDT")).toBe("WAITS");
  rows.noteWork("BTCUSDT", { hasFailed: true });
  expect(rows.next("ETHUSDT")).toEqual(older);
});

test.each([
  ["whose cancel's outcome is being found out", "CANCEL"],
  ["whose sale failed and is tried again", "PLACE"],
] as const)("an opening does not wait for a symbol %s", (_, kind) => {
  const { state, rows, opening } = createRows();
  const busy = state.add({ ...ownRow(kind, "ETHUSDT", 1), side: "SELL", orderType: "LIMIT", status: "NEW" });
  const newer = opening("BTCUSDT");
  expect(rows.next("BTCUSDT")).toBe("WAITS");
  if (kind === "PLACE") {
    rows.begin("ETHUSDT", busy);
    rows.noteWork("ETHUSDT", { hasFailed: true });
  }
  rows.begin("ETHUSDT", busy);
  if (kind === "CANCEL") rows.noteInDoubt("ETHUSDT", 1);
  expect(rows.next("BTCUSDT")).toEqual(newer);
});

/** The rows of a copy of a spot strategy, of which nothing is executed. */
function createRows() {
  const state = freshState();
  const time = { now: 1 };
  const gate = { isBlind: () => false };
  const context = { state, gate, now: () => time.now, leadAccount: () => null } as unknown as CopyContext;
  const rows = new RowOrder(context, { onGivenUp() {} });
  const opening = (symbol: string): MirrorEntry => {
    const terms = { side: "BUY", orderType: "MARKET", quantity: QUANTITY } as const;
    const row = state.add({ ...ownRow("PLACE", symbol, 1), ...terms, status: "NEW", seq: 1 });
    rows.note(row.entryId, { kind: "PLACE", symbol, ...terms, lead: {} } as unknown as LeadAction);
    return row;
  };
  return { state, rows, opening, time };
}
