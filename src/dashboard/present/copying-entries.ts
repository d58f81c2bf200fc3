// Mirror logs as the browser gets them: each line with its figures, and what was not copied with the reason in words.
import { delayOf, slippageBps } from "../../copy/sizing/gap.ts";
import { assetOf, fallsShort, shortfallOf, skipWords } from "../../copy/sizing/skip.ts";
import { COPY_QUOTE_ASSET, type MirrorEntry, PROFIT_SHARE_RATE, type Skip } from "../../domain/copying.ts";
import { type Amount, add, divideDown, formatBriefly, SCALE, ZERO } from "../../money/decimal.ts";
import type { EntryCount } from "../../store/copy-store.ts";
import type { EntryCountsShape, MirrorEntryShape, ProfitSharesShape, SkipShape } from "../shapes.ts";

export function presentEntry(entry: MirrorEntry): MirrorEntryShape {
  const { executedQuantity, executedQuote, acknowledgedAt, leadAt, scale } = entry;
  return {
    entryId: entry.entryId,
    collectiveId: entry.collectiveId,
    kind: entry.kind,
    symbol: entry.symbol,
    status: entry.status,
    skip: entry.skip === null ? null : presentSkip(entry.skip, entry.symbol),
    side: entry.side,
    orderType: entry.orderType,
    leadQuantity: brieflyOrNull(entry.leadQuantity),
    leadPrice: brieflyOrNull(entry.leadPrice),
    scale:
      scale === null
        ? null
        : {
            by: scale.by,
            ours: formatBriefly(scale.ours),
            theirs: formatBriefly(scale.theirs),
            part: partOf(entry),
          },
    scaledQuantity: brieflyOrNull(entry.scaledQuantity),
    quantity: brieflyOrNull(entry.quantity),
    price: unlessZero(entry.price),
    stopPrice: unlessZero(entry.stopPrice),
    clientOrderId: entry.clientOrderId,
    venueOrderId: entry.venueOrderId,
    executedQuantity: formatBriefly(executedQuantity),
    executedPrice:
      executedQuantity === 0n ? null : formatBriefly(divideDown(executedQuote * SCALE, executedQuantity)),
    fee: entry.isFeeDue === true ? null : formatBriefly(entry.fee),
    slippageBps: slippageOf(entry),
    leadAt,
    sentAt: entry.sentAt,
    acknowledgedAt,
    delayMs: acknowledgedAt === null ? null : delayOf({ acknowledgedAt, leadAt }),
    sends: entry.sends,
    queries: entry.queries,
  };
}

/** The settlements among the lines, which are in the order of the log. */
export function presentProfitShares(entries: readonly MirrorEntry[]): ProfitSharesShape {
  const settled = entries.flatMap(({ leadAt: at, profitShare }) =>
    profitShare === undefined ? [] : [{ at, ...profitShare }],
  );
  const total = settled.reduce((sum, { share }) => add(sum, share), ZERO as Amount);
  return {
    rate: formatBriefly(PROFIT_SHARE_RATE),
    asset: COPY_QUOTE_ASSET,
    total: formatBriefly(total),
    rows: settled
      .map(({ at, profit, mark, share }) => ({
        at,
        profit: formatBriefly(profit),
        mark: formatBriefly(mark),
        share: formatBriefly(share),
      }))
      .toReversed(),
  };
}

/** `symbol`: null of what concerns none. */
export function presentSkip(skip: Skip, symbol: string | null): SkipShape {
  const baseAsset = symbol === null ? null : baseAssetOf(symbol);
  return {
    reason: skip.reason,
    words: skipWords(skip, baseAsset),
    filter: skip.filter,
    wanted: brieflyOrNull(skip.wanted),
    had: brieflyOrNull(skip.had),
    shortfall: fallsShort(skip) ? brieflyOrNull(shortfallOf(skip)) : null,
    asset: assetOf(skip, baseAsset),
  };
}

/** What was placed, skipped and failed, and the reasons of what was not copied, most frequent first. */
export function presentCounts(counts: readonly EntryCount[]): EntryCountsShape {
  const sum = (rows: readonly EntryCount[]) => rows.reduce((total, { count }) => total + count, 0);
  const skipped = counts.filter(({ status }) => status === "SKIPPED");
  const failed = counts.filter(({ status }) => status === "FAILED");
  return {
    placed: sum(counts) - sum(skipped) - sum(failed),
    skipped: sum(skipped),
    failed: sum(failed),
    byReason: [...skipped, ...failed]
      .flatMap(({ skipReason, count }) => (skipReason === null ? [] : [{ reason: skipReason, count }]))
      .sort((one, other) => other.count - one.count),
  };
}

/** What is bought and sold under a symbol, where its rules are not at hand: other quote assets are not copied. */
export function baseAssetOf(symbol: string): string {
  return symbol.endsWith(COPY_QUOTE_ASSET) ? symbol.slice(0, -COPY_QUOTE_ASSET.length) : symbol;
}

/** The part of the order that the ratio is of: an order of more than a position opens by another ratio than it closes by. */
function partOf({ leadQuantity, scale, scaledQuantity }: MirrorEntry): "OPENING" | "CLOSING" | null {
  if (leadQuantity === null || scale === null || scaledQuantity === null || scale.theirs <= 0n) return null;
  if (divideDown(leadQuantity * scale.ours, scale.theirs) === scaledQuantity) return null;
  return scale.by === "COLLATERAL" ? "OPENING" : scale.by === "POSITION" ? "CLOSING" : null;
}

function slippageOf({ side, executedQuantity, executedQuote, leadPrice }: MirrorEntry): string | null {
  if (side === null || leadPrice === null) return null;
  const bps = slippageBps({ side, executedQuantity, executedQuote, leadPrice });
  return bps === null ? null : formatBriefly(bps);
}

function brieflyOrNull(value: bigint | null): string | null {
  return value === null ? null : formatBriefly(value);
}

function unlessZero(value: bigint | null): string | null {
  return value === null || value === 0n ? null : formatBriefly(value);
}
