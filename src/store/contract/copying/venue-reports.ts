// How venues fare, in the words of copiers: the last of each, for as long as it may matter to anybody.
import { describe, expect, test } from "vitest";
import type { CopierReport, VenueReport } from "../../../domain/venue-report.ts";
import { upTo } from "../records.ts";
import type { Opened } from "../store-under-test.ts";
import { VENUE } from "./records.ts";

/** Of a venue that has banned us; the words are its own. */
export const BANNED: VenueReport = {
  origin: VENUE,
  type: "SPOT",
  health: {
    isReachable: false,
    failure: 'it answered 502: "öü"\0\n',
    lastAnswerAt: null,
    pausedUntil: Number.MAX_SAFE_INTEGER,
    budgetUsed: 0.456,
    clockOffsetMs: -3,
    streams: 2,
    answers: { ok: 1, refused: 2, limited: 3, unknown: 4 },
  },
};

export function copyingVenueReportCases(opened: Opened): void {
  describe("reports of venues", () => {
    const { store } = opened;

    const reportOf = (copier: string, at: number, venues: readonly VenueReport[] = []): CopierReport => ({
      copier,
      at,
      venues,
    });
    const note = (report: CopierReport, forgetBefore = 0) =>
      store.copying.noteVenueReport(report, { forgetBefore });

    test("are the last of each copier, newest first", async () => {
      expect(await store.copying.listVenueReports()).toEqual([]);
      const futures = { ...BANNED, type: "FUTURES" } as const;
      await note(reportOf("one", 1_000, [BANNED]));
      await note(reportOf("two", 1_001, [BANNED, futures]));
      const two = reportOf("two", 1_001, [BANNED, futures]);
      expect(await store.copying.listVenueReports()).toEqual([two, reportOf("one", 1_000, [BANNED])]);
      await note(reportOf("one", 1_002));
      expect(await store.copying.listVenueReports()).toEqual([reportOf("one", 1_002), two]);
    });

    test("are stored with the key family for the type", async () => {
      await note(reportOf("one", 1_000, [BANNED]));
      await opened.changeRows(
        `UPDATE venue_reports SET venues = replace(venues, '"family":"SPOT"', '"family":"FUTURES"')`,
      );
      expect(await store.copying.listVenueReports()).toEqual([
        reportOf("one", 1_000, [{ ...BANNED, type: "FUTURES" }]),
      ]);
    });

    test("of others are forgotten if they are older, never one's own", async () => {
      for (const [copier, at] of [
        ["old", 999],
        ["recent", 1_000],
        ["own", 1],
      ] as const) {
        await note(reportOf(copier, at));
      }
      await note(reportOf("own", 2), 1_000);
      const left = await store.copying.listVenueReports();
      expect(left.map(({ copier }) => copier)).toEqual(["recent", "own"]);
    });

    test("of many copiers at once are all kept, and what is old is forgotten once", async () => {
      const other = await opened.reopen();
      for (const number of upTo(9)) await note(reportOf(`old ${number}`, number));
      await Promise.all(
        upTo(20).map((number) =>
          (number % 2 === 0 ? store : other).copying.noteVenueReport(reportOf(`copier ${number}`, 1_000), {
            forgetBefore: 1_000,
          }),
        ),
      );
      const left = await other.copying.listVenueReports();
      expect(left.filter(({ copier }) => copier.startsWith("copier"))).toHaveLength(20);
      await note(reportOf("copier 1", 1_000), 1_000);
      expect(await store.copying.listVenueReports()).toHaveLength(20);
    });
  });
}
