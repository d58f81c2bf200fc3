// Compares a copier's account at the venue, and the copy's own book, with figures computed by hand.
import { expect } from "vitest";
import { signedUnits } from "../support/exact.ts";
import type { Copier } from "./actors.ts";
import type { CopyFixture } from "./fixture.ts";
import type { FuturesSums, SpotSums } from "./sums.ts";

/** What a spot account and a futures account begin with. Source: specification, section 1. */
export const SPOT_SEED = "200";
export const FUTURES_SEED = "1000";
/**
 * What rounding may leave between a book's own figures and the account, units of 1e-8: nothing that anybody
 * could be paid.
 */
const ROUNDING = 50n;

/** Balances at the venue and the copy's book are what its orders make them. */
export async function expectSpot(fixture: CopyFixture, copier: Copier, sums: SpotSums): Promise<void> {
  const { balances } = await fixture.atVenue(copier, "GET", "/api/v3/account");
  const had = new Map<string, bigint>(
    balances.map(({ asset, free, locked }: { asset: string; free: string; locked: string }) => [
      asset,
      signedUnits(free) + signedUnits(locked),
    ]),
  );
  expect(had.get("USDT"), "USDT at the venue").toBe(sums.quote);
  for (const [symbol, quantity] of sums.coins) {
    expect(had.get(symbol.replace("USDT", "")) ?? 0n, `${symbol} at the venue`).toBe(quantity);
  }
  const { book } = await fixture.copyOf(copier);
  const held = [...sums.coins].filter(([, quantity]) => quantity > 0n);
  for (const [symbol, quantity] of held) {
    expect(book.holdings.get(symbol)?.quantity ?? 0n, `${symbol} in the book`).toBe(quantity);
  }
  // What was spent is what is bound in holdings, lost or paid in fees.
  const bound = [...book.holdings.values()].reduce((sum, { cost }) => sum + cost, 0n);
  expectNear(
    book.realized - book.fees - bound,
    sums.quote - signedUnits(SPOT_SEED),
    "the book's own figures",
  );
}

export async function expectFutures(
  fixture: CopyFixture,
  copier: Copier,
  sums: FuturesSums,
  symbols: readonly string[],
): Promise<void> {
  const { totalWalletBalance } = await fixture.atVenue(copier, "GET", "/fapi/v3/account");
  expect(signedUnits(totalWalletBalance), "the wallet at the venue").toBe(sums.wallet);
  const { book } = await fixture.copyOf(copier);
  for (const symbol of symbols) {
    expect(await fixture.positionOf(copier, symbol), `${symbol} at the venue`).toBe(sums.of(symbol));
    expect(book.holdings.get(symbol)?.quantity ?? 0n, `${symbol} in the book`).toBe(sums.of(symbol));
  }
  expectNear(book.realized - book.fees, sums.wallet - signedUnits(FUTURES_SEED), "the book's own figures");
}

function expectNear(found: bigint, expected: bigint, what: string): void {
  const off = found > expected ? found - expected : expected - found;
  expect(off <= ROUNDING, `${what}: ${found} against ${expected}`).toBe(true);
}
