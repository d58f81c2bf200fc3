// A short run of the attacks; `npm run hostile` is longer.
import { expect, test } from "vitest";
import { runNode } from "../../support/servers/gateway.ts";

const PROGRAM = ["test/campaigns/main.ts", "hostile"];

/** It takes some twenty seconds; on a busy machine several times that, ms. */
const RUN_MS_MAX = 300_000;

test("nothing gets through, and the report says what was tried", { timeout: RUN_MS_MAX + 40_000 }, () => {
  const { status, stdout, stderr } = runNode([...PROGRAM, "--quick", "--json"], {}, "", RUN_MS_MAX);
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const { multiplied, crowded, late, exposed } = JSON.parse(stdout);
  expect(multiplied).toMatchObject({ captured: 2, more: 0, altered: 0 });
  expect(multiplied.moved).toBeGreaterThan(200);
  expect(crowded).toMatchObject({ opened: 50, streams: 1, shutOut: 0 });
  // On a slow machine the streams that never say anything may have been ended by then.
  expect(crowded.held).toBeGreaterThan(0);
  expect(late).toEqual([
    { delayMs: 1_000, orders: 4, filled: 4, refused: 0 },
    { delayMs: 3_000, orders: 4, filled: 4, refused: 0 },
    { delayMs: 10_000, orders: 4, filled: 0, refused: 4 },
    { delayMs: 30_000, orders: 4, filled: 0, refused: 4 },
  ]);
  expect(exposed).toMatchObject({ orders: 4, strategyLeverage: 100, leverage: 5 });
});

test("the program says what it takes, and what it does not", () => {
  expect(runNode([...PROGRAM, "--help"])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("--sockets N"),
  });
  const wrong = runNode([...PROGRAM, "--sockets", "0"]);
  expect(wrong).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("--sockets is not a whole number"),
  });
});
