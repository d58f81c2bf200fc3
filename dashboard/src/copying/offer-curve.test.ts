import { expect, test } from "vitest";
import { curveOf } from "./offer-curve.ts";

test("the drawdown is measured from the highest point so far, exactly", () => {
  const { points, statistics } = curveOf([
    { at: 1, equity: "200" },
    { at: 2, equity: "250.5" },
    { at: 3, equity: "200.4" },
    { at: 4, equity: "300" },
    { at: 5, equity: "285" },
  ]);
  expect(points.map(({ drawdown }) => drawdown)).toEqual(["0", "0.0", "-50.1", "0", "-15"]);
  expect(points.map(({ drawdownRate }) => drawdownRate)).toEqual(["0", "0", "-0.2", "0", "-0.05"]);
  expect(statistics).toEqual({ maximumDrawdown: "-50.1", maximumDrawdownRate: "-0.2" });
});

test("nothing is drawn down of nothing", () => {
  expect(curveOf([])).toEqual({ points: [], statistics: { maximumDrawdown: "0", maximumDrawdownRate: "0" } });
});
