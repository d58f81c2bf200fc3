// The newest prices of one symbol.
import { useState } from "react";
import type { PriceJson, StrategyType } from "../../../src/dashboard-api/schemas.ts";
import { useFollow, useLive } from "./use-live.ts";

export type HeardPrice = {
  readonly price: PriceJson;
  /** By this browser's clock, Unix ms. */
  readonly heardAt: number;
};

/** Null until the first price has arrived, and if there is no symbol. */
export function usePrice(family: StrategyType, symbol: string | null): HeardPrice | null {
  const [heard, setHeard] = useState<HeardPrice | null>(null);
  useFollow(symbol === null ? null : { kind: "prices", family, symbol });
  useLive("price", (price) => {
    if (price.family === family && price.symbol === symbol) setHeard({ price, heardAt: Date.now() });
  });
  return heard !== null && heard.price.symbol === symbol && heard.price.family === family ? heard : null;
}
