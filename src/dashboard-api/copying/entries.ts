// Lines of a mirror log with their figures, and skips with the reason in plain sentences.
import type { z } from "zod";
import { delayOf, slippageBps } from "../../copy/sizing/gap.ts";
import { assetOf, fallsShort, shortfallOf, skipWords } from "../../copy/sizing/skip.ts";
import { COPY_QUOTE_ASSET, type MirrorEntry, PROFIT_SHARE_RATE, type Skip } from "../../domain/copying.ts";
import { type Amount, add, divideDown, SCALE, ZERO } from "../../money/decimal.ts";
import type { entrySchema, profitSharesSchema } from "../schemas/copies.ts";
import type { skipSchema } from "../schemas/copying.ts";

export function entryAnswer(entry: MirrorEntry): z.output<typeof entrySchema> {
  const { executedQuantity, executedQuote, acknowledgedAt, leadAt, scale, skip, symbol } = entry;
  return {
    ...entry,
    skip: skip && skipAnswer(skip, symbol),
    scale: scale && { ...scale, part: partOf(entry) },
    executedPrice: executedQuantity === 0n ? null : divideDown(executedQuote * SCALE, executedQuantity),
    fee: entry.isFeeDue === true ? null : entry.fee,
    slippageBps: slippageOf(entry),
    delayMs: acknowledgedAt === null ? null : delayOf({ acknowledgedAt, leadAt }),
  };
}

/** The settlements among the lines, which are in the order of the log. */
export function profitSharesAnswer(entries: readonly MirrorEntry[]): z.output<typeof profitSharesSchema> {
  const settled = entries.flatMap(({ leadAt: at, profitShare }) =>
    profitShare === undefined ? [] : [{ at, ...profitShare }],
  );
  const total = settled.reduce((sum, { share }) => add(sum, share), ZERO as Amount);
  return { rate: PROFIT_SHARE_RATE, asset: COPY_QUOTE_ASSET, total, rows: settled.toReversed() };
}

/** `symbol`: null where none is concerned. */
export function skipAnswer(skip: Skip, symbol: string | null): z.output<typeof skipSchema> {
  const baseAsset = symbol === null ? null : baseAssetOf(symbol);
  return {
    ...skip,
    words: skipWords(skip, baseAsset),
    shortfall: fallsShort(skip) ? shortfallOf(skip) : null,
    asset: assetOf(skip, baseAsset),
  };
}

/**
 * What is bought and sold under a symbol, where its rules are not at hand: other quote assets are not copied.
 */
function baseAssetOf(symbol: string): string {
  return symbol.endsWith(COPY_QUOTE_ASSET) ? symbol.slice(0, -COPY_QUOTE_ASSET.length) : symbol;
}

/**
 * The part of the order that the ratio is of: an order of more than a position opens by another ratio than it
 * closes by.
 */
function partOf({ leadQuantity, scale, scaledQuantity }: MirrorEntry): "OPENING" | "CLOSING" | null {
  if (leadQuantity === null || scale === null || scaledQuantity === null || scale.theirs <= 0n) return null;
  if (divideDown(leadQuantity * scale.ours, scale.theirs) === scaledQuantity) return null;
  return scale.by === "COLLATERAL" ? "OPENING" : scale.by === "POSITION" ? "CLOSING" : null;
}

function slippageOf({ side, executedQuantity, executedQuote, leadPrice }: MirrorEntry): bigint | null {
  if (side === null || leadPrice === null) return null;
  return slippageBps({ side, executedQuantity, executedQuote, leadPrice });
}
