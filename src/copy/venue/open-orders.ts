// What is open on an account, by client ids, with what of it is executed: asked for symbol by symbol while that costs less than asking for all at once.
// Source: reference exchange, sections 7.4, 11.5 and 13.

import { type Quantity, ZERO } from "../../money/decimal.ts";
import { type AccountRest, URGENT } from "./account-rest.ts";
import { mapped, valueFor } from "./answers.ts";
import { amountOf, type Body, rowsOf, textOf } from "./bodies.ts";
import { NOT_FOUND_CODES } from "./orders.ts";
import type { VenueAnswer } from "./venue.ts";
import type { ListWeight } from "./weights.ts";

/** A route that lists what is open: what it costs with a symbol and without, and where the rows have their client ids. */
export type OpenRoute = {
  readonly path: string;
  readonly weight: ListWeight;
  readonly idKey: string;
};

type OpenOrders = readonly (readonly [clientOrderId: string, executed: Quantity])[];

/** What it costs to list what is open on so many symbols. */
export function weightOfOpen({ weight }: OpenRoute, symbols: ReadonlySet<string>): number {
  return Math.min(symbols.size * weight.ofOne, weight.ofAll);
}

/** `symbols`: where there may be any; undefined if that is not known. */
export async function listOpen(
  rest: AccountRest,
  { path, weight, idKey }: OpenRoute,
  symbols: ReadonlySet<string> | undefined,
): Promise<VenueAnswer<OpenOrders>> {
  const isCheaper = symbols !== undefined && symbols.size * weight.ofOne < weight.ofAll;
  const cost = isCheaper ? weight.ofOne : weight.ofAll;
  const orders: (readonly [string, Quantity])[] = [];
  for (const symbol of isCheaper ? symbols : [undefined]) {
    const parameters = { symbol };
    const answer = await rest.ask({ method: "GET", path, weight: cost, parameters, ...URGENT });
    const listed = mapped(answer, (value) => rowsOf(value).map((row) => openOf(row, idKey)));
    // On a symbol that is listed no more nothing is open.
    const read = valueFor<OpenOrders>(NOT_FOUND_CODES, listed, []);
    if (read.kind !== "OK") return read;
    orders.push(...read.value);
  }
  return { kind: "OK", value: orders };
}

/** A leg says nothing of what it has executed. */
function openOf(row: Body, idKey: string): readonly [string, Quantity] {
  return [textOf(row, idKey), "executedQty" in row ? amountOf<Quantity>(row, "executedQty") : ZERO];
}
