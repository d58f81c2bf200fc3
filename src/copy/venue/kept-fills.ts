// The fees of orders whose placement was answered with all their fills, so that they need not be asked for: a look at an
// account's fills costs as much as twenty orders. The oldest are forgotten, and are asked for after all.
import type { VenueFills } from "./venue.ts";

export const KEPT_FILLS_MAX = 20_000;

export class KeptFills {
  readonly #byOrder = new Map<string, VenueFills>();

  keep(accountId: string, symbol: string, venueOrderId: string, fills: VenueFills): void {
    const [oldest] = this.#byOrder.keys();
    if (this.#byOrder.size >= KEPT_FILLS_MAX && oldest !== undefined) this.#byOrder.delete(oldest);
    this.#byOrder.set(nameOf(accountId, symbol, venueOrderId), fills);
  }

  of(accountId: string, symbol: string, venueOrderId: string): VenueFills | null {
    return this.#byOrder.get(nameOf(accountId, symbol, venueOrderId)) ?? null;
  }
}

function nameOf(accountId: string, symbol: string, venueOrderId: string): string {
  return `${accountId} ${symbol} ${venueOrderId}`;
}
