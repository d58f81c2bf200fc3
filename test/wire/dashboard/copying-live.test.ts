// Copies over the dashboard's live connection, with a stock Socket.IO client: a watcher of an own copy learns
// that it has changed, at once or with the next poll, and no other client does.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHANGES_TOLD_EVERY_MS, COPIES_CHECKED_EVERY_MS } from "../../../src/dashboard-api/live/limits.ts";
import type { NewAuditRecord } from "../../../src/domain/audit.ts";
import { EMPTY_BOOK, EXACT_SETTINGS, type VenueAccount } from "../../../src/domain/copying.ts";
import { decimal } from "../../../src/money/decimal.ts";
import { ask, type LiveFixture, openLiveFixture } from "../../support/dashboard/live-fixture.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import type { StreamClient } from "../../support/sockets/stream-client.ts";

stayOnLoopback();

let fixture: LiveFixture;
beforeEach(async () => {
  fixture = await openLiveFixture();
});
afterEach(() => fixture.close());

type Somebody = Awaited<ReturnType<LiveFixture["somebody"]>>;

function auditOf(personId: string, id: string): NewAuditRecord {
  const about = { kind: "COPY", id } as const;
  return { who: { kind: "PERSON", personId }, what: "COPY_PAUSED", about, at: 1, details: {} };
}

/** A copy of a person's, of a strategy that is open to copiers. */
async function copyOf({ personId }: Somebody, strategyId: string): Promise<string> {
  const { copying } = fixture.store;
  const [copyId, accountId] = [randomUUID(), randomUUID()];
  const audit = auditOf(personId, copyId);
  await copying.setOpenToCopiers(strategyId, true, audit);
  const account: VenueAccount = {
    accountId,
    personId,
    type: "SPOT",
    venue: "https://venue.example",
    label: "Main",
    keyHint: "k",
    sealed: "sealed",
    status: "CONNECTED",
    failure: null,
    createdAt: 1,
    checkedAt: 1,
    disconnectedAt: null,
  };
  await copying.connectAccount(account, audit, { liveMax: 1_000 });
  const created = await copying.createCopy(
    {
      ...{ copyId, personId, strategyId, accountId, type: "SPOT", status: "FOLLOWING", reason: null },
      ...{ startedAt: 1, endedAt: null, book: EMPTY_BOOK },
      settings: EXACT_SETTINGS,
    },
    audit,
  );
  expect(created).toBe("CREATED");
  return copyId;
}

/** The number of messages that a client received about a copy. */
function timesTold({ events }: StreamClient): number {
  return events.filter(({ name }) => name === "copyChanged").length;
}

/** Something is done to a copy. */
async function change(copyId: string): Promise<void> {
  const from = (await fixture.store.copying.findCopy(copyId))?.settings ?? EXACT_SETTINGS;
  const to = { ...EXACT_SETTINGS, share: decimal<never>(from.share === decimal("0.5") ? "0.4" : "0.5") };
  expect(await fixture.store.copying.changeSettings(copyId, { from, to }, auditOf("", copyId))).toBe(true);
}

describe("a copy that is watched", () => {
  test("is announced with the next poll, once for each change, until it is not watched any more", async () => {
    const [trader, copier] = [await fixture.somebody(), await fixture.somebody()];
    const copyId = await copyOf(copier, trader.spot);
    const client = await fixture.joined(copier.cookie);
    expect(await ask(client, "watchCopy", { copyId })).toBeNull();
    await change(copyId);
    fixture.time.advance(COPIES_CHECKED_EVERY_MS);
    expect(await client.next("copyChanged")).toEqual({ copyId });
    fixture.time.advance(COPIES_CHECKED_EVERY_MS * 3);
    expect(await ask(client, "unwatchCopy", { copyId })).toBeNull();
    await change(copyId);
    fixture.time.advance(COPIES_CHECKED_EVERY_MS);
    await ask(client, "unwatchCopy", { copyId });
    expect(timesTold(client)).toBe(1);
  });

  test("is announced at once after a notification, and then not again for a moment", async () => {
    const [trader, copier] = [await fixture.somebody(), await fixture.somebody()];
    const copyId = await copyOf(copier, trader.spot);
    const client = await fixture.joined(copier.cookie);
    await ask(client, "watchCopy", { copyId });
    await change(copyId);
    fixture.copyChanged(copyId);
    expect(await client.next("copyChanged")).toEqual({ copyId });
    // A notification without a change sends no message.
    fixture.copyChanged(copyId);
    await change(copyId);
    fixture.copyChanged(copyId);
    await ask(client, "watchCopy", { copyId });
    expect(timesTold(client)).toBe(1);
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    expect(await client.next("copyChanged")).toEqual({ copyId });
  });

  test("is one's own: another person's is never announced", async () => {
    const [trader, copier, other] = [
      await fixture.somebody(),
      await fixture.somebody(),
      await fixture.somebody(),
    ];
    const copyId = await copyOf(copier, trader.spot);
    const client = await fixture.joined(other.cookie);
    for (const [name, payload, code] of [
      ["watchCopy", { copyId }, "NOT_FOUND"],
      ["watchCopy", { copyId: "none" }, "NOT_FOUND"],
      ["watchCopy", { copyId: "a\0b" }, "BODY_UNFIT"],
      ["watchCopy", { strategyId: copyId }, "BODY_UNFIT"],
      ["watchCopy", undefined, "BODY_UNFIT"],
    ] as const) {
      expect(await ask(client, name, payload)).toMatchObject({ code });
    }
    await change(copyId);
    fixture.copyChanged(copyId);
    fixture.time.advance(COPIES_CHECKED_EVERY_MS);
    await ask(client, "unwatchCopy", { copyId });
    expect(timesTold(client)).toBe(0);
  });
});
