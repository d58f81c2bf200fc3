// What a copier reports by itself, on a database of its own.
import { pino } from "pino";
import { expect, test } from "vitest";
import { newDirectory } from "../../test/support/servers/gateway.ts";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { openDataDirectory } from "../config/data-directory.ts";
import { openCopier } from "./copier.ts";

test("that it is at work is in the store at once, under the name that it claims by", async () => {
  const time = createManualTime();
  const { store, master } = await openDataDirectory(newDirectory(), null, null);
  try {
    // The database's clock is behind this machine's: it is the one that counts.
    const databaseNow = async () => time.now() - 70_000;
    const copier = await openCopier({
      store: { ...store, copying: { ...store.copying, databaseNow } },
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
        failed(failure) {
          throw failure;
        },
      },
      log: pino({ level: "silent" }),
    });
    // What is in flight then is written before the copier has closed.
    await copier.close();
    // No venue has received a request yet.
    expect(await store.copying.listVenueReports()).toEqual([
      { copier: "copier", at: time.now() - 70_000, venues: [] },
    ]);
  } finally {
    await store.close();
  }
});
