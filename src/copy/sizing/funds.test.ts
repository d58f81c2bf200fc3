import fc from "fast-check";
import { expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { Amount, Price, Quantity } from "../../money/decimal.ts";
import { affordableOpening, worthOfOpening } from "./proportion.ts";

/** The loss by rounding, in units of the quote asset. */
const ROUNDED = 8n;

test("what can be paid for costs no more than there is, and hardly less", () => {
  const drawn = fc.record({
    type: fc.constantFrom<StrategyType>("SPOT", "FUTURES"),
    leverage: fc.integer({ min: 1, max: 125 }),
    price: fc.bigInt({ min: 1n, max: 10_000_000_000_000n }),
    /** In 10,000 parts of the price. */
    loss: fc.bigInt({ min: 0n, max: 100n }),
    room: fc.bigInt({ min: 0n, max: 1_000_000_000_000n }),
  });
  fc.assert(
    fc.property(drawn, ({ type, leverage, ...units }) => {
      const [price, room] = [units.price as Price, units.room as Amount];
      const loss = (type === "SPOT" ? 0n : (price * units.loss) / 10_000n) as Price;
      const payment = { type, price, known: price, loss, leverage: type === "SPOT" ? null : leverage };
      const most = affordableOpening(payment, room);
      expect(worthOfOpening(payment, most)).toBeLessThanOrEqual(room);
      expect(worthOfOpening(payment, (most + 1n) as Quantity) + ROUNDED).toBeGreaterThan(room);
    }),
    { numRuns: 5_000 },
  );
});
