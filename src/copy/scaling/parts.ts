// What of a strategy's order opens something and what reduces, each scaled to a copy. What opens is scaled by what both have
// (spot: equities, futures: collateral), what reduces by what both hold of the symbol; an order through zero is both.
//
// A copy reduces only what it holds by its own orders, and on the side on which the strategy holds it. Whatever is
// rounded is rounded down.
// Source: specification, section 1; design, section 6 (copiers).
import type { Scale } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { least, magnitude, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { copyEquity, leadEquity } from "./equity.ts";
import type { ScaleInput } from "./scale-order.ts";

/** A part of an order and by what it was scaled; the scale of a part that the strategy's order does not have is null. */
type Part = { readonly quantity: Quantity; readonly scale: Scale | null };
export type Parts = {
  readonly opening: Part;
  readonly reducing: Part;
  /** The most that can be reduced: what the copy holds on that side, without what orders that rest will: on spot, and where nothing may open. */
  readonly reducible: Quantity;
};

export const NO_PART: Part = { quantity: ZERO, scale: null };

/** An order's parts, scaled, before anything is cut or snapped. */
export function partsOf(input: ScaleInput): Parts {
  return input.family === "SPOT" ? spotParts(input) : futuresParts(input);
}

/** How much of the strategy's order opens something in the strategy itself. */
export function leadOpening({
  family,
  placement,
  lead,
}: Pick<ScaleInput, "family" | "placement" | "lead">): Quantity {
  const { side, quantity, reduceOnly, symbol } = placement;
  if (family === "SPOT") return side === "BUY" ? quantity : ZERO;
  if (reduceOnly) return ZERO;
  return subtract(quantity, least(quantity, against(lead.held.get(symbol) ?? ZERO, side)));
}

/** What of a position an order of a side reduces: its size if it lies on the other side, else nothing. */
export function against(position: Quantity, side: Side): Quantity {
  return position === 0n || position > 0n === (side === "BUY") ? ZERO : magnitude(position);
}

function spotParts(input: ScaleInput): Parts {
  const { placement, lead, holdings, rules, restingOnSymbol } = input;
  const { side, quantity, symbol } = placement;
  const own = holdings.get(symbol)?.quantity ?? ZERO;
  const unsold = subtract(own, restingOnSymbol.sells);
  const reducible: Quantity = unsold > 0n ? unsold : ZERO;
  if (side === "BUY") return { opening: openingPart(input, quantity), reducing: NO_PART, reducible };
  const theirs: Quantity = lead.held.get(rules?.baseAsset ?? "") ?? ZERO;
  const scale: Scale = { by: "HOLDING", ours: own, theirs };
  return { opening: NO_PART, reducing: scaledPart(quantity, scale), reducible };
}

function futuresParts(input: ScaleInput): Parts {
  const { placement, lead, holdings, opensNot, restingOnSymbol } = input;
  const { side, quantity, symbol } = placement;
  const own = against(holdings.get(symbol)?.quantity ?? ZERO, side);
  const { buys, sells, openSides } = restingOnSymbol;
  const isTaken = opensNot !== null && openSides.includes(side);
  const taken = isTaken ? (side === "BUY" ? buys : sells) : ZERO;
  const reducible = subtract(own, least(own, taken));
  const theirs = against(lead.held.get(symbol) ?? ZERO, side);
  const opened = leadOpening(input);
  const scale: Scale = { by: "POSITION", ours: own, theirs };
  return {
    opening: opened === 0n ? NO_PART : openingPart(input, opened),
    reducing: theirs === 0n ? NO_PART : scaledPart(least(subtract(quantity, opened), theirs), scale),
    reducible,
  };
}

function openingPart(input: ScaleInput, quantity: Quantity): Part {
  const { family, lead, prices, settings, wallet, holdings } = input;
  const ours = copyEquity(family, { share: settings.share, wallet, holdings }, prices, lead);
  const theirs = leadEquity(family, lead, prices);
  return scaledPart(quantity, { by: family === "SPOT" ? "EQUITY" : "COLLATERAL", ours, theirs });
}

/** Quantity × ours / theirs, rounded down; nothing of a strategy that has nothing. */
function scaledPart(quantity: Quantity, scale: Scale): Part {
  const { ours, theirs } = scale;
  return { quantity: (theirs <= 0n ? 0n : (quantity * ours) / theirs) as Quantity, scale };
}
