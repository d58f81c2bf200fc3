// A question that the venue leaves open is asked until it is answered, and that it takes long is told.
import { expect, test } from "vitest";
import { createManualTime } from "../../market/client/testing/manual-time.ts";
import { STUCK_AFTER_MS, STUCK_AGAIN_MS } from "../venue/stuck.ts";
import type { Venue, VenueClient } from "../venue/venue.ts";
import { Dealings } from "./dealings.ts";

test("what stays unknown for long is told, and once a minute from then on", async () => {
  const time = createManualTime();
  const began = time.now();
  const told: number[] = [];
  const answeredAt = began + STUCK_AFTER_MS + STUCK_AGAIN_MS + 5_000;
  const venue = {
    prices: async () =>
      time.now() < answeredAt ? { kind: "UNKNOWN", reason: "cut off" } : { kind: "OK", value: new Map() },
  } as unknown as Venue;
  const dealings = new Dealings({
    venue,
    client: {} as VenueClient,
    sentBefore: () => 0,
    mayRun: () => true,
    wallNow: time.now,
    pause: async (ms) => time.advance(ms),
    onStuck: (reason) => {
      expect(reason).toBe("cut off");
      told.push(time.now() - began);
    },
  });
  expect(await dealings.prices()).toEqual(new Map());
  const [first = 0, second = 0] = told;
  expect(told).toHaveLength(2);
  expect(first).toBeGreaterThanOrEqual(STUCK_AFTER_MS);
  expect(second - first).toBeGreaterThanOrEqual(STUCK_AGAIN_MS);
});
