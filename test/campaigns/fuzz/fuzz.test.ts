// A short run of the fuzzer on every change, from a fixed seed: nothing is found, and the run has met so much
// that this says something. `npm run fuzz` runs longer, from any seed.
import { beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/server.ts";
import { newDirectory } from "../../support/servers/gateway.ts";
import { renderFuzz } from "./campaign.ts";
import { CATALOGUE_SIZE } from "./catalogue.ts";
import { nameOf } from "./routes.ts";
import { type RunReport, run } from "./run.ts";

const SEED = 7;
/** More than a round of episodes, so that each kind of flood is in it, of both types. */
const REQUESTS = 14_000;
/** Some refusals no client can bring about on a market that is there, and some come over sockets alone. */
const REFUSALS_MIN = Math.ceil(CATALOGUE_SIZE * 0.65);

/**
 * Settings that have one value, which may be neither changed nor confirmed, and what the exchange has
 * retired.
 */
const ONLY_REFUSING = [
  ...["POST /fapi/v1/positionSide/dual", "POST /fapi/v1/multiAssetsMargin"],
  ...["POST", "PUT", "DELETE"].map((method) => `${method} /api/v3/userDataStream`),
];

describe(`${REQUESTS} requests drawn from the seed ${SEED}`, () => {
  let report: RunReport;

  beforeAll(async () => {
    report = await run({ requests: REQUESTS, seed: SEED, dataDir: newDirectory(), say: () => {} });
  });

  test("are all answered, without a 5xx, from the catalogue, and nothing moves but what was granted", () => {
    expect(report.tally.faultCount(), renderFuzz(report)).toBe(0);
    expect(report.tally.answered).toBe(REQUESTS);
  });

  test("reach every route: each answers with data, and those that are signed with many refusals, too", () => {
    expect(ROUTES.length).toBeGreaterThan(0);
    for (const route of ROUTES) {
      const name = nameOf(route);
      const answers = [...(report.tally.answers.get(name)?.keys() ?? [])];
      if (!ONLY_REFUSING.includes(name)) expect(answers, name).toContain("200");
      if (route.access === "signed") expect(answers.length, name).toBeGreaterThan(3);
    }
  });

  test("meet most of the catalogue, both kinds of 429, and bans", () => {
    const met = [...report.tally.byAnswer().keys()];
    expect(met.filter((answer) => / -/.test(answer)).length).toBeGreaterThanOrEqual(REFUSALS_MIN);
    expect(met).toEqual(expect.arrayContaining(["429 -1003", "429 -1015", "418 -1003", "400 -1013"]));
  });

  test("place orders by the hundred, some of which the market fills or triggers", () => {
    expect(report.orders).toBeGreaterThan(300);
    expect(report.legs).toBeGreaterThan(20);
    expect(report.marketMoves).toBeGreaterThan(0);
  });
});
