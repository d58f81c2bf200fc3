// What the rows of a drift amount to.
import type { DriftRowJson } from "../../../src/dashboard-api/schemas.ts";

type Repair = NonNullable<DriftRowJson["repair"]>;
export type RepairOrder = Repair & { readonly symbol: string; readonly asset: string };

/** More than the exchange's steps leave over. */
export function isOff({ cause }: Pick<DriftRowJson, "cause">): boolean {
  return cause !== "IN_LINE" && cause !== "ROUNDING";
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
