// A mirrored leg as its line in the log has it: what the venue is to know of it, and whether there is a position that it closes.
import { ZERO } from "../../money/decimal.ts";
import { mirrorClientId } from "../client-ids.ts";
import type { VenueLeg } from "../venue/venue.ts";
import type { NewEntry, Turn } from "./turn.ts";

/** The leg for the venue, with the strategy's own trigger. Throws if the line is not of a leg. */
export function legOf(
  { copy }: Pick<Turn, "copy">,
  { symbol, side, orderType, stopPrice, collectiveId }: NewEntry,
): VenueLeg {
  if (symbol === null || side === null || collectiveId === null)
    throw new Error("a leg has a symbol and a side");
  return {
    symbol,
    side,
    type: orderType === "TAKE_PROFIT_MARKET" ? orderType : "STOP_MARKET",
    triggerPrice: stopPrice ?? ZERO,
    clientOrderId: mirrorClientId({ collectiveId, copyId: copy.copyId, purpose: "leg" }),
  };
}

/** Whether the copy has a position on the side that the leg closes. */
export function closesPosition(turn: Turn, { symbol, side }: Pick<NewEntry, "symbol" | "side">): boolean {
  const { quantity } = turn.holding(symbol ?? "");
  return side === "SELL" ? quantity > 0n : quantity < 0n;
}
