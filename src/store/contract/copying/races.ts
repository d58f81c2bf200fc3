// Copying by two processes at the same moment: two stores on one database, each in a thread of its own.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Elsewhere } from "../elsewhere.ts";
import { accountOf, commitOf, createdOf, firstOf, upTo } from "../records.ts";
import type { Opened } from "../store-under-test.ts";
import {
  actionOf,
  auditedAs,
  copyOf,
  entryOf,
  follow,
  openToCopiers,
  progressOf,
  VENUE,
  venueAccountOf,
} from "./records.ts";

const ROUNDS = 20;

export function copyingRaceCases(opened: Opened): void {
  describe("two stores that copy at the same moment", () => {
    const { store, copying } = opened;
    let other: Elsewhere;
    beforeEach(async () => {
      other = await Elsewhere.open(opened.place);
    });
    afterEach(() => other.close());

    test("claim each lead once", async () => {
      await openToCopiers(store, ...upTo(10).map((id) => `s${id}`));
      for (const round of upTo(ROUNDS)) {
        const now = round * 100;
        const terms = { now, until: now + 50, isAlone: false };
        const [here, there] = await Promise.all([
          copying.claimLeads({ ...terms, holder: "here" }),
          other.callCopying("claimLeads", { ...terms, holder: "there" }),
        ]);
        // What the one passed over because the other was at it, or had it, is there at the next look.
        const claimed = [...here, ...there].map(({ strategyId }) => strategyId);
        expect(new Set(claimed).size).toBe(claimed.length);
        const [left, right] = await Promise.all([copying.listClaimed("here"), copying.listClaimed("there")]);
        expect(left.length + right.length).toBe(10);
      }
    });

    test("begin one copy of an account, and one copy of a strategy for a person", async () => {
      await openToCopiers(store, "one", "two");
      const sets: unknown[] = [];
      for (const round of upTo(ROUNDS)) {
        const person = `person-${round}`;
        for (const accountId of [`a${round}`, `b${round}`]) {
          const account = venueAccountOf(person, { accountId });
          await copying.connectAccount(account, auditedAs("VENUE_ACCOUNT_CONNECTED"), { liveMax: 9 });
        }
        const started = auditedAs("COPY_STARTED");
        // Of one account two strategies, or of one strategy two accounts.
        const isOfAccount = round % 2 === 0;
        const here = copyOf(person, "one", { copyId: `here-${round}`, accountId: `a${round}` });
        const there = copyOf(person, isOfAccount ? "two" : "one", {
          copyId: `there-${round}`,
          accountId: isOfAccount ? `a${round}` : `b${round}`,
        });
        const outcomes = await Promise.all([
          other.callCopying("createCopy", there, started),
          copying.createCopy(here, started),
        ]);
        sets.push(outcomes.sort());
        expect(await copying.listCopiesOf(person)).toHaveLength(1);
      }
      expect(sets).toEqual(upTo(ROUNDS).map(() => ["CREATED", "TAKEN"]));
      expect(await store.people.verifyAudit()).toBeNull();
    });

    test("only the one that has the lead moves it on and records what became of its copies", async () => {
      await openToCopiers(store, "one");
      const [copyId = ""] = await follow(store, "one", "ann");
      const { account } = firstOf("one");
      const writesOf = (round: number, holder: string) => ({
        advance: {
          ...({ strategyId: "one", type: "SPOT", account } as const),
          ...{ holder, fromVersion: round - 1, version: round, seq: round },
          actions: [actionOf(round, round)],
        },
        // Enough of it to take a while.
        progress: [progressOf(copyId, round, { entries: upTo(100).map((id) => entryOf(copyId, id)) })],
      });
      const standing = async () => [
        (await copying.findLead("one"))?.seq,
        (await copying.findCopy(copyId))?.doneSeq,
      ];
      for (const round of upTo(ROUNDS)) {
        const terms = { now: round, until: round, isAlone: true };
        await copying.claimLeads({ ...terms, holder: "old" });
        // The one that had it goes on as if it still did, while the other takes it over.
        const old = writesOf(round, "old");
        const takeOver = async () => {
          const claimed = await other.callCopying("claimLeads", { ...terms, holder: "new" });
          return claimed.length === 0 ? null : await standing();
        };
        const [taken, hasAdvanced, hasRecorded] = await Promise.all([
          takeOver(),
          copying.advanceLead(old.advance),
          copying.recordProgress("one", "old", old.progress),
        ]);
        // Every write reported as done took effect, and none took effect after the other store's claim.
        const stands = [hasAdvanced ? round : round - 1, hasRecorded ? round : round - 1];
        expect(await standing()).toEqual(stands);
        if (taken !== null) expect(taken).toEqual(stands);
        // The claim skips a lead that another transaction is writing to, so it is claimed again.
        else await other.callCopying("claimLeads", { ...terms, holder: "new" });
        expect(await copying.recordProgress("one", "old", old.progress)).toBe(false);
        const own = writesOf(round, "new");
        expect(await other.callCopying("advanceLead", own.advance)).toBe(!hasAdvanced);
        expect(await other.callCopying("recordProgress", "one", "new", own.progress)).toBe(true);
      }
      const actions = await copying.listActions("one", { afterSeq: 0, limit: 99 });
      expect(actions.map((action) => action.seq)).toEqual(upTo(ROUNDS));
    });

    test("every entry of a lead is listed, also those committed while it was opened to copiers", async () => {
      for (const round of upTo(ROUNDS)) {
        const id = `s${round}`;
        await store.createStrategies([createdOf(id, { ownerId: "tom" })]);
        const opening = other.callCopying(
          "setOpenToCopiers",
          id,
          true,
          auditedAs("STRATEGY_OPENED_TO_COPIERS"),
        );
        for (let version = 2; version <= 12; version += 1) {
          expect(await store.commit([commitOf(accountOf(id), version)])).toEqual(["COMMITTED"]);
        }
        expect(await opening).toBe(true);
        const entries = await copying.listEntriesAfter(id, 0, 99);
        expect(entries.map(({ version }) => version)).toEqual(upTo(12));
      }
    });

    test("ask of a copy once, change it once, and nobody waits in a circle", async () => {
      await openToCopiers(store, "one");
      const people = upTo(5).map((number) => `p${number}`);
      const copyIds = await follow(store, "one", ...people);
      await copying.claimLeads({ holder: "here", now: 0, until: 1, isAlone: true });
      for (const round of upTo(ROUNDS)) {
        const request = {
          copyId: copyIds[0] ?? "",
          kind: "LOOK",
          mayIncrease: false,
          askedAt: round,
          doneAt: null,
          failure: null,
        } as const;
        const set = { kind: "VENUE", id: VENUE, reason: "", setBy: "op", setAt: 1 } as const;
        const status =
          round % 2 === 1 ? (["FOLLOWING", "PAUSED"] as const) : (["PAUSED", "FOLLOWING"] as const);
        const change = {
          copyId: copyIds[1] ?? "",
          from: [status[0]],
          status: status[1],
          reason: null,
          at: 1,
        };
        const progress = copyIds.map((copyId) =>
          progressOf(copyId, round, { entries: [entryOf(copyId, round)] }),
        );
        const [isRecorded, , there, here, changedThere, changedHere, switched] = await Promise.all([
          copying.recordProgress("one", "here", progress),
          copying.claimLeads({ holder: "here", now: round, until: round + 1, isAlone: false }),
          other.callCopying("addRequest", { ...request, requestId: `there-${round}` }, null),
          copying.addRequest({ ...request, requestId: `here-${round}` }, auditedAs("COPY_REPAIR_ASKED")),
          other.callCopying("changeCopy", change, auditedAs("COPY_PAUSED")),
          copying.changeCopy(change, auditedAs("COPY_PAUSED")),
          other.callCopying("setSwitch", set, auditedAs("KILL_SWITCH_SET")),
        ]);
        expect(isRecorded).toBe(true);
        expect(there).toEqual(here);
        expect([changedThere, changedHere].sort()).toEqual([false, true]);
        expect(switched).toBe(true);
        await other.callCopying("clearSwitch", "VENUE", VENUE, auditedAs("KILL_SWITCH_CLEARED"));
        const finishes = [{ requestId: here.requestId, at: round, failure: null }];
        await copying.recordProgress("one", "here", [progressOf(request.copyId, round, { finishes })]);
      }
      expect(await store.people.verifyAudit()).toBeNull();
    });
  });
}
