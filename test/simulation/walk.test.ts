import { expect, test } from "vitest";
import { walk } from "./walk.ts";

const COMMANDS = 10_000;
// A walk from a fresh seed each time, and one that never changes.
const seeds = [1, 20_240_808, Date.now() % 2 ** 32];

test.each(seeds)(`what must always hold, holds through ${COMMANDS} random commands from seed %i`, (seed) => {
  const { events, refusals } = walk(seed, COMMANDS);
  // A walk that went nowhere would prove nothing.
  expect(events.OrderPlaced).toBeGreaterThan(COMMANDS / 20);
  expect(events.OrderFilled).toBeGreaterThan(COMMANDS / 50);
  expect(events.OrderCanceled).toBeGreaterThan(COMMANDS / 50);
  expect(Object.keys(refusals)).toEqual(
    expect.arrayContaining([
      "FILTER_FAILED",
      "INSUFFICIENT_BALANCE",
      "MARKET_SILENT",
      "MARKET_CLOSED",
      "ORDER_NOT_OPEN",
    ]),
  );
});
