// A settlement for many holders: all are settled, in rounds small enough that requests run in between.
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Desk } from "../desk/desk.ts";
import { settleFunding } from "./settle-funding.ts";
import { settlementAt } from "./testing/futures-fixture.ts";

const HOLDERS = 1_001;
const SIDE_BY_SIDE_MAX = 200;

test("many holders are settled in rounds, and none of them is left out", async () => {
  const strategies = Array.from({ length: HOLDERS }, (_, number) => `strategy-${number}`);
  const settled: string[] = [];
  let inFlight = 0;
  let most = 0;
  const desk: Pick<Desk, "execute"> = {
    async execute(strategyId) {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      settled.push(strategyId);
      return { events: [], orders: [], legs: [], replayed: false };
    },
  };
  const settlement = settlementAt(0, "0.0001");
  const log = pino({ level: "silent" });
  const { outcomes, isComplete } = await settleFunding(settlement, strategies, { desk, log });
  expect(isComplete).toBe(true);
  expect([...outcomes.keys()].sort()).toEqual([...strategies].sort());
  expect(settled.length).toBe(HOLDERS);
  expect(most).toBe(SIDE_BY_SIDE_MAX);
});
