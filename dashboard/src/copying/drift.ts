// What the rows of a drift amount to.
import type { DriftRowJson } from "../../../src/dashboard-api/schemas.ts";
import { counted } from "./words.ts";

type Drift = {
  readonly rows: readonly Pick<DriftRowJson, "cause">[];
  readonly hiddenBecause: string | null;
};
type Repair = NonNullable<DriftRowJson["repair"]>;
export type RepairOrder = Repair & { readonly symbol: string; readonly asset: string };

/** More than the exchange's steps leave over. */
export function isOff({ cause }: Pick<DriftRowJson, "cause">): boolean {
  return cause !== "IN_LINE" && cause !== "ROUNDING";
}

/** "In line" or "2 symbols off"; null if the drift is not shown, as that of a copy that has ended. */
export function driftInWords({ rows, hiddenBecause }: Drift): string | null {
  if (hiddenBecause !== null) return null;
  const off = rows.filter(isOff).length;
  return off === 0 ? "In line" : `${counted(off, "symbol")} off`;
}

/** The orders that a repair would send, and how many it leaves out because they would open or increase. */
export function repairOf(
  rows: readonly DriftRowJson[],
  { mayIncrease }: { readonly mayIncrease: boolean },
): { readonly orders: readonly RepairOrder[]; readonly leftOut: number } {
  const all = rows.flatMap(({ symbol, asset, repair }) =>
    repair === null ? [] : [{ ...repair, symbol, asset }],
  );
  const orders = all.filter(({ increases }) => mayIncrease || !increases);
  return { orders, leftOut: all.length - orders.length };
}
