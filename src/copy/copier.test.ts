// What a copier tells by itself, on a database of its own.
import { pino } from "pino";
import { expect, test } from "vitest";
import { newDirectory } from "../../test/support/gateway.ts";
import { openDataDirectory } from "../data-directory.ts";
import { createManualTime } from "../market/client/testing/manual-time.ts";
import { openCopier, REPORT_MS } from "./copier.ts";

test("how the venues fare is told again and again, until it is closed", async () => {
  const time = createManualTime();
  const { store, master } = await openDataDirectory(newDirectory(), null, null);
  try {
    const told: unknown[] = [];
    const copier = await openCopier({
      store,
      master,
      holder: "copier",
      isAlone: true,
      allowedVenues: [],
      wallNow: time.now,
      timers: time,
      news: {
        claimed() {},
        copiesChanged() {},
        paused() {},
        venuesFared: (reports) => void told.push(reports),
        failed(failure) {
          throw failure;
        },
      },
      log: pino({ level: "silent" }),
    });
    time.advance(REPORT_MS - 1);
    expect(told).toEqual([]);
    time.advance(1 + REPORT_MS);
    // Nothing has been asked of any yet.
    expect(told).toEqual([[], []]);
    await copier.close();
    time.advance(10 * REPORT_MS);
    expect(told).toHaveLength(2);
  } finally {
    await store.close();
  }
});
