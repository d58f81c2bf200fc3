// The state of venues for operators and their tools: the last reports of copiers in the store, from any
// process, and that no copier reports any more.
import { expect, test } from "vitest";
import { type CopierReport, REPORT_AGE_MS_MAX, type VenueReport } from "../../../src/domain/venue-report.ts";
import { openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";

stayOnLoopback();

test("an operator sees whether a venue answers, until when it is left alone, and what of its budget is used", async () => {
  const fixture = await openDashboardFixture();
  try {
    const operator = await fixture.somebody({ role: "OPERATOR" });
    const seen = async () => {
      const { venues, copiers } = await operator.get("/operator/copying");
      return { health: venues[0].health, copiers };
    };
    const metrics = async () => await (await fetch(`${fixture.url}/metrics`)).text();
    expect(await seen()).toEqual({ health: [], copiers: [] });

    const now = fixture.wallNow();
    const health: VenueReport["health"] = {
      isReachable: false,
      failure: "DEPTH_ZERO_SELF_SIGNED_CERT",
      lastAnswerAt: now - 60_000,
      pausedUntil: now + 60_000,
      budgetUsed: 0.456,
      clockOffsetMs: 3,
      streams: 2,
      answers: { ok: 1, refused: 0, limited: 0, unknown: 1 },
    };
    const ill: VenueReport = { origin: fixture.url, type: "SPOT", health };
    const well: VenueReport = {
      ...ill,
      type: "FUTURES",
      health: { ...health, isReachable: true, failure: null, pausedUntil: now },
    };
    const say = (report: CopierReport) =>
      fixture.gateway.store.copying.noteVenueReport(report, { forgetBefore: 0 });
    await say({ copier: "one", at: now, venues: [ill, well, { ...well, origin: "https://other.example" }] });
    await say({ copier: "idle", at: now - 1, venues: [] });

    const one = { copier: "one", reportedAt: now, isSilent: false };
    const idle = { copier: "idle", reportedAt: now - 1, isSilent: false };
    const shared = { lastAnswerAt: now - 60_000, budgetUsed: "0.46" };
    const failure =
      "its certificate is not signed by an authority that this server trusts (DEPTH_ZERO_SELF_SIGNED_CERT)";
    const spot = { ...shared, family: "SPOT", isAnswering: false, failure, pausedUntil: now + 60_000 };
    const futures = { ...shared, family: "FUTURES", isAnswering: true, failure: null, pausedUntil: null };
    expect(await seen()).toEqual({
      health: [
        { ...one, ...spot },
        { ...one, ...futures },
      ],
      copiers: [one, idle],
    });
    const labels = `venue="${fixture.url}",family="SPOT",copier="one"`;
    const told = await metrics();
    expect(told).toContain(`lyrebird_venue_answers{${labels}} 0\n`);
    expect(told).toContain(`lyrebird_venue_answers{${labels.replace("SPOT", "FUTURES")}} 1\n`);
    expect(told).toContain(`lyrebird_venue_budget_used_ratio{${labels}} 0.456\n`);
    expect(told).toMatch(new RegExp(`^lyrebird_venue_paused_seconds\\{${labels}\\} 5\\d(\\.\\d+)?$`, "m"));
    expect(told).toMatch(/^lyrebird_copier_report_age_seconds\{copier="one"\} \d(\.\d+)?$/m);

    // The browser takes a second for its way.
    fixture.pass(now + REPORT_AGE_MS_MAX - 1_000 - fixture.wallNow());
    expect((await seen()).copiers).toEqual([one]);
    expect(await seen()).toEqual({
      health: [
        { ...one, ...spot, isSilent: true },
        { ...one, ...futures, isSilent: true },
      ],
      copiers: [
        { ...one, isSilent: true },
        { ...idle, isSilent: true },
      ],
    });
    const silence = await metrics();
    expect(silence).not.toContain("lyrebird_venue_answers{");
    expect(silence).toMatch(/^lyrebird_copier_report_age_seconds\{copier="one"\} 1\d(\.\d+)?$/m);
  } finally {
    await fixture.close();
  }
});
