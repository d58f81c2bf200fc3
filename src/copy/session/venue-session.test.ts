// A query whose outcome the venue leaves open is repeated until it is answered, and a long wait is reported.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import { newMasterKey } from "../../keys/testing/master-keys.ts";
import { sealCredentials } from "../credentials.ts";
import type { Venue } from "../venue/venue.ts";
import { type SessionParts, STUCK_AFTER_MS, STUCK_AGAIN_MS, VenueSession } from "./venue-session.ts";

test("an outcome that stays unknown for long is reported, and once a minute from then on", async () => {
  const time = createManualTime();
  const began = time.now();
  const told: number[] = [];
  const answeredAt = began + STUCK_AFTER_MS + STUCK_AGAIN_MS + 5_000;
  const venue = {
    prices: async () =>
      time.now() < answeredAt ? { kind: "UNKNOWN", reason: "cut off" } : { kind: "OK", value: new Map() },
    account: () => ({}),
  } as unknown as Venue;
  const master = newMasterKey();
  const sealed = sealCredentials(master, "one", { apiKey: "key", apiSecret: "secret" });
  const account = { accountId: "one", venue: "http://127.0.0.1:1", family: "SPOT", sealed };
  const session = new VenueSession({
    copyId: "copy",
    accountId: "one",
    store: { findAccount: async () => account } as unknown as SessionParts["store"],
    venues: { venue: () => venue },
    master,
    mayRun: () => true,
    wallNow: time.now,
    pause: async (ms) => time.advance(ms),
    log: {
      warn: (words: { readonly reason: string }) => {
        expect(words.reason).toBe("cut off");
        told.push(time.now() - began);
      },
    } as unknown as SessionParts["log"],
  });
  expect(await session.prices()).toEqual(new Map());
  const [first = 0, second = 0] = told;
  expect(told).toHaveLength(2);
  expect(first).toBeGreaterThanOrEqual(STUCK_AFTER_MS);
  expect(second - first).toBeGreaterThanOrEqual(STUCK_AGAIN_MS);
});
