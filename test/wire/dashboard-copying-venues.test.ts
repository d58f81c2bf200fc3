// How venues fare, as operators see it: what the server's copier says of them, and nothing where it says nothing.
import { expect, test } from "vitest";
import { openDashboardStage } from "../support/dashboard-stage.ts";
import { stayOnLoopback } from "../support/loopback-only.ts";

stayOnLoopback();

test("an operator sees whether a venue answers, until when it is left alone, and what of its budget is used", async () => {
  const stage = await openDashboardStage();
  try {
    const operator = await stage.somebody({ role: "OPERATOR" });
    const seen = async () => (await operator.get("/operator/copying")).venues[0];
    expect(await seen()).toMatchObject({ origin: stage.url, health: [] });

    const now = stage.wallNow();
    const answers = { ok: 1, refused: 0, limited: 0, unknown: 1 };
    const health = {
      isReachable: false,
      lastAnswerAt: now - 60_000,
      budgetUsed: 0.456,
      clockOffsetMs: 3,
      answers,
    };
    const silent = {
      origin: stage.url,
      family: "SPOT",
      health: { ...health, pausedUntil: now + 5_000 },
    } as const;
    const well = {
      ...silent,
      family: "FUTURES",
      health: { ...health, isReachable: true, pausedUntil: now },
    } as const;
    stage.venueReports.hear([silent, well, { ...well, origin: "https://elsewhere.example" }]);
    const shared = { lastAnswerAt: now - 60_000, budgetUsed: "0.46" };
    expect((await seen()).health).toEqual([
      { ...shared, family: "SPOT", isAnswering: false, pausedUntil: now + 5_000 },
      { ...shared, family: "FUTURES", isAnswering: true, pausedUntil: null },
    ]);
  } finally {
    await stage.close();
  }
});
