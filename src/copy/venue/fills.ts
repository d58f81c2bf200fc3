// Fills as the venue lists them; those of an order summed up to what they cost in fees. Fees decide no size, so asking
// for them uses only the part of the budget that is left to polls. A venue may list fills moments after the order itself says what
// it has executed: a list that does not add up to that says nothing of fees.
// Source: reference exchange, sections 7.6 and 11.9.
import { add, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { type AccountRest, POLL } from "./account-rest.ts";
import { mapped, unknown } from "./answers.ts";
import { amountOf, type Body, idOf, rowsOf } from "./bodies.ts";
import { feesOf, otherAssetsOf, type PairAssets } from "./fees.ts";
import { demandOrderId } from "./orders.ts";
import type { RestCall } from "./signed-rest.ts";
import type { FillsAsked, VenueAnswer, VenueFills } from "./venue.ts";

/** Fills of a page, and pages that are asked for: more of either than an order ever has. */
const PAGE_ROWS = 1_000;
const PAGES_MAX = 20;

type Route = { readonly path: string; readonly weight: number };

/** Of a symbol that the venue does not list any more nobody can say what its fees were taken in: they are not reckoned. */
const NOT_RECKONED: VenueFills = { fee: ZERO, feeInBase: ZERO };

/** See `VenueClient.fills`. */
export async function askForFills(
  rest: AccountRest,
  route: Route,
  { symbol, venueOrderId, executed }: FillsAsked,
): Promise<VenueAnswer<VenueFills | null>> {
  const rules = await rest.rules.of(symbol);
  if (rules.kind !== "OK") return rules;
  if (rules.value === null) return { kind: "OK", value: NOT_RECKONED };
  const listed = await listFills(rest, { ...route, ...POLL }, { symbol, orderId: venueOrderId });
  const rows = mapped(listed, (found) => (executed === null ? found.rows : firstOf(found.rows, executed)));
  if (rows.kind !== "OK") return rows;
  if (rows.value === null) return { kind: "OK", value: null };
  const fills = rows.value;
  const assets = rules.value;
  const others = mapped(rows, () => otherAssetsOf(fills, assets));
  if (others.kind !== "OK") return others;
  const priceOf = others.value.length === 0 ? () => null : await pricesOf(rest, assets);
  if (priceOf === null) return unknown("a fee in another asset cannot be valued");
  return mapped(rows, () => feesOf(fills, assets, priceOf));
}

/** The first fills, up to what was executed; null if they do not add up to it. */
function firstOf(rows: readonly Body[], executed: Quantity): readonly Body[] | null {
  let filled = ZERO as Quantity;
  for (const [index, row] of rows.entries()) {
    if (filled === executed) return rows.slice(0, index);
    filled = add(filled, amountOf<Quantity>(row, "qty"));
  }
  return filled === executed ? rows : null;
}

/** All fills of an order, or since a time, oldest first. `isWhole`: there are no more than that. */
export async function listFills(
  rest: AccountRest,
  call: Omit<RestCall, "method" | "parameters">,
  { startTime, ...of }: { readonly symbol: string; readonly orderId?: string; readonly startTime?: number },
): Promise<VenueAnswer<{ readonly rows: readonly Body[]; readonly isWhole: boolean }>> {
  const rows: Body[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const last = rows.at(-1);
    // An id says where to go on, and does not go with a time.
    const from = last === undefined ? { startTime } : { fromId: Number(idOf(last, "id")) + 1 };
    const parameters = { ...of, ...from, limit: PAGE_ROWS };
    const answer = await rest.ask({ ...call, method: "GET", parameters });
    const read = mapped(answer, (value) =>
      rowsOf(value).map((row) => {
        if (of.orderId !== undefined) demandOrderId(row, of.orderId);
        return { ...row, id: idOf(row, "id") };
      }),
    );
    if (read.kind !== "OK") return read;
    rows.push(...read.value);
    if (read.value.length < PAGE_ROWS) return { kind: "OK", value: { rows, isWhole: true } };
  }
  return { kind: "OK", value: { rows, isWhole: false } };
}

/** What an asset is worth in the pair's quote asset; an asset that is not traded for it has no price. Null: no prices. */
async function pricesOf(
  rest: AccountRest,
  { quoteAsset }: PairAssets,
): Promise<((asset: string) => Price | null) | null> {
  const prices = await rest.prices.all();
  if (prices.kind !== "OK") return null;
  return (asset) => {
    const price = prices.value.get(`${asset}${quoteAsset}`) ?? null;
    if (price === null) rest.log.warn({ asset, quoteAsset }, "a fee has no value that is known");
    return price;
  };
}
