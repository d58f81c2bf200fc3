// A copier on a database of its own, whose clock is the one that counts.
import { pino } from "pino";
import { expect, test } from "vitest";
import { newDirectory } from "../../test/support/servers/gateway.ts";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { openDataDirectory } from "../config/data-directory.ts";
import { openCopier } from "./copier.ts";
import { openCopiesFixture, places } from "./testing/copies-fixture.ts";

const NO_NEWS = {
  claimed() {},
  copiesChanged() {},
  paused() {},
  failed(failure: Error) {
    throw failure;
  },
};

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
      news: NO_NEWS,
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

test("an entry is copied by a machine whose clock is 70 seconds fast: it is not late by the database's", async () => {
  await using fixture = await openCopiesFixture();
  const { store, master, time, venue } = fixture;
  // So is the venue's, by which an entry would not be late either.
  venue.setAhead(70_000);
  const strategy = await fixture.strategy("SPOT");
  const copied = await fixture.copier(strategy, "SPOT");
  const databaseNow = async () => time.now();
  const copier = await openCopier({
    store: { ...store, copying: { ...store.copying, databaseNow } },
    ...{ master, holder: "copier", isAlone: true, allowedVenues: [venue.url], timers: time },
    wallNow: () => time.now() + 70_000,
    news: NO_NEWS,
    log: pino({ level: "silent" }),
  });
  try {
    await fixture.does(strategy, places("BUY", "0.001"), false);
    copier.wake(strategy, null);
    const isOver = async () =>
      (await fixture.entries(copied)).some(
        ({ acknowledgedAt, status }) => acknowledgedAt !== null || status === "SKIPPED",
      );
    await fixture.waitFor("the order is dealt with", isOver);
    expect(await fixture.log(copied)).toEqual(["PLACE BUY MARKET 0.001 FILLED executed 0.001"]);
  } finally {
    await copier.close();
  }
});
