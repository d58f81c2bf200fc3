// A query whose outcome the venue leaves open is repeated until it is answered, and a long wait is reported.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import type { Copy } from "../../domain/copying.ts";
import { newMasterKey } from "../../keys/testing/master-keys.ts";
import { sealCredentials } from "../credentials.ts";
import type { Venue } from "../venue/venue.ts";
import {
  ENTRY_AGE_MAX_MS,
  Gate,
  type SessionParts,
  STUCK_AFTER_MS,
  STUCK_AGAIN_MS,
  VenueSession,
} from "./venue-session.ts";

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
  const account = { accountId: "one", venue: "http://127.0.0.1:1", type: "SPOT", sealed };
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

test.each<[what: string, ageMs: { readonly ours: number; readonly venues: number }, skip: string | null]>([
  ["both say so", { ours: ENTRY_AGE_MAX_MS + 1, venues: ENTRY_AGE_MAX_MS + 1 }, "TOO_LATE"],
  ["neither says so", { ours: ENTRY_AGE_MAX_MS, venues: ENTRY_AGE_MAX_MS }, null],
  ["ours alone says so, and may be ahead", { ours: 3_600_000, venues: 100 }, null],
  ["the venue's alone says so, and may be ahead", { ours: 100, venues: 3_600_000 }, null],
])("what opens is too late by our clock and by the venue's: %s", (_, { ours, venues }, skip) => {
  const at = 1_000_000;
  const session = { opened: { venue: { now: () => at + venues } } } as unknown as VenueSession;
  const copy = () => ({ status: "FOLLOWING" }) as Copy;
  const gate = new Gate({ session, copy, halted: () => null, wallNow: () => at + ours });
  expect(gate.opensNot(at)?.reason ?? null).toBe(skip);
});
