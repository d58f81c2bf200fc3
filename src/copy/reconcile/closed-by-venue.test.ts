// The venue's closing of a copy's position, against a model account: the copy and its owner trade at random,
// and the venue closes the sum of both.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Amount, magnitude, type Quantity } from "../../money/decimal.ts";
import type { VenueTrade } from "../venue/venue.ts";
import { closedByVenue, isBehind } from "./write-off.ts";

const PRICE = 3n;
const RUNS = 3_000;

type Step = {
  readonly who: "COPY" | "OWNER" | "VENUE";
  readonly size: number;
  /** Of a closing by the venue: whether it was recorded before, and its number of fills. */
  readonly isBooked: boolean;
  readonly fills: number;
  /** It closes one in this many: large positions are reduced step by step. */
  readonly closes: number;
};
const step: fc.Arbitrary<Step> = fc.record({
  who: fc.constantFrom("COPY", "COPY", "OWNER", "VENUE"),
  size: fc.integer({ min: -9, max: 9 }).filter((drawn) => drawn !== 0),
  isBooked: fc.boolean(),
  fills: fc.integer({ min: 1, max: 3 }),
  closes: fc.constantFrom(1, 1, 2),
});

/** Events, as the venue lists them, and the part that the copy's book has. */
function accountOf(steps: readonly Step[], ownBefore: bigint) {
  let own = ownBefore;
  let owners = 0n;
  let book = ownBefore;
  const trades: VenueTrade[] = [];
  const booked = new Map<string, Quantity>();
  const parts: { readonly venueOrderId: string; readonly quantity: bigint }[] = [];
  let isAllBooked = true;
  steps.forEach(({ who, size, isBooked, fills, closes }, index) => {
    const venueOrderId = String(index);
    const whole = who === "VENUE" ? -(own + owners) / BigInt(closes) : BigInt(size);
    if (whole === 0n) return;
    const by = who === "COPY" ? "KNOWN" : who === "OWNER" ? "OTHER" : "VENUE";
    for (const quantity of splitUp(magnitude(whole as Quantity), fills))
      trades.push({
        venueOrderId,
        by,
        clientOrderId: null,
        side: whole > 0n ? "BUY" : "SELL",
        quantity,
        quote: (quantity * PRICE) as Amount,
        at: index,
      });
    if (who === "OWNER") owners += whole;
    if (who === "COPY") {
      own += whole;
      book += whole;
    }
    if (who !== "VENUE") return;
    const isAgainst = own !== 0n && own > 0n !== whole > 0n;
    const size0 = magnitude(own as Quantity);
    const part = isAgainst
      ? size0 < magnitude(whole as Quantity)
        ? size0
        : magnitude(whole as Quantity)
      : 0n;
    const signed = whole > 0n ? part : -part;
    own += signed;
    owners += whole - signed;
    if (part === 0n) return;
    // Recorded closings were found in the order in which they happened.
    isAllBooked &&= isBooked;
    if (isAllBooked) {
      booked.set(venueOrderId, part as Quantity);
      book += signed;
    } else parts.push({ venueOrderId, quantity: part });
  });
  return { trades, booked, parts, book: book as Quantity, own };
}

function splitUp(size: Quantity, fills: number): Quantity[] {
  const first = size / BigInt(fills);
  const rest = size - first * BigInt(fills - 1);
  return [...Array.from({ length: fills - 1 }, () => first), rest].filter((each) => each > 0n) as Quantity[];
}

describe("what the venue has closed", () => {
  test("is what the copy held then, whatever other trades there are and whatever came later", () => {
    const counts = { closed: 0, booked: 0, several: 0, none: 0 };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: -9, max: 9 }), (steps, before) => {
        const { trades, booked, parts, book, own } = accountOf(steps, BigInt(before));
        const { closed, isWhole } = closedByVenue(book, trades, booked);
        expect(isWhole).toBe(true);
        expect(closed.map(({ venueOrderId, quantity }) => ({ venueOrderId, quantity }))).toEqual(parts);
        const after = closed.reduce<bigint>(
          (sum, { side, quantity }) => sum + (side === "BUY" ? 1n : -1n) * quantity,
          book,
        );
        expect(after).toBe(own);
        for (const { quantity, quote } of closed) expect(quote).toBe(quantity * PRICE);
        if (closed.length === 0) counts.none += 1;
        if (closed.length > 0) counts.closed += 1;
        if (closed.length > 1) counts.several += 1;
        if (booked.size > 0) counts.booked += 1;
      }),
      { numRuns: RUNS },
    );
    for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(100);
  });

  test("is not reckoned while an order of the copy's own has executed more than is booked", () => {
    const fill = (venueOrderId: string, quantity: bigint): VenueTrade => ({
      ...{ venueOrderId, by: "KNOWN", clientOrderId: null, side: "BUY", quote: 1n as Amount, at: 0 },
      quantity: quantity as Quantity,
    });
    const booked = new Map([["1", 5n as Quantity]]);
    expect(isBehind(booked, [fill("1", 2n), fill("1", 3n), fill("2", 9n)])).toBe(false);
    expect(isBehind(booked, [fill("1", 2n), fill("1", 4n)])).toBe(true);
  });

  test("ends before the first trade whose origin is unknown", () => {
    const trade = {
      clientOrderId: null,
      side: "SELL",
      quantity: 5n as Quantity,
      quote: 15n as Amount,
      at: 0,
    } as const;
    const known: VenueTrade = { ...trade, venueOrderId: "1", by: "VENUE" };
    const unknown: VenueTrade = { ...trade, venueOrderId: "2", by: "UNKNOWN" };
    const ends = closedByVenue(9n as Quantity, [known, unknown, { ...known, venueOrderId: "3" }], new Map());
    expect(ends).toMatchObject({ isWhole: false, closed: [{ venueOrderId: "1", quantity: 5n }] });
  });
});
