import { beforeAll, describe, expect, test } from "vitest";
import { testSeed } from "../../../support/seed.ts";
import { type RecordedLoad, recordLoad } from "./load.ts";
import { cutPower, type PowerCutReport, runPowerCuts } from "./power-cuts.ts";
import { HAS_RECORDING_DISK, SKIPPED_WITHOUT_DISK } from "./recorded-gateway.ts";

const seed = testSeed();
const CUTS = 30;
const CUTS_WITH_LONG_LOG = 8;

describe.skipIf(!HAS_RECORDING_DISK)(`a power cut under load${SKIPPED_WITHOUT_DISK}`, () => {
  let loads: RecordedLoad[];
  beforeAll(async () => {
    loads = await recordLoad(seed);
  });

  test("leaves a database that opens, with everything that was answered, once", async () => {
    for (const load of loads) expectNothingLost(await cutPower(load, { seed, cuts: CUTS / loads.length }));
  });

  test("is examined where there is something to lose", async () => {
    const reports = await Promise.all(loads.map((load) => cutPower(load, { seed, cuts: 0 })));
    const last = reports.at(-1);
    expect(last?.told).toBeGreaterThan(100);
    expect(last?.syncs).toBeGreaterThan(20);
    expect(last?.checkpointed).toBeGreaterThan(10);
  });

  test("leaves as much while the write-ahead log is copied into the database and restarted", async () => {
    const report = await runPowerCuts({ seed: 2 * seed, cuts: CUTS_WITH_LONG_LOG });
    expectNothingLost(report);
    expect(report.logBegunAnew).toBeGreaterThan(0);
  });

  test.each([
    ["the write-ahead log, as with synchronous=NORMAL", (path: string) => path.endsWith("-wal")],
    ["anything, as with synchronous=OFF", () => true],
  ])("is not survived on a disk that does not sync %s", async (_, isSyncIgnored) => {
    const report = await cutPower(firstOf(loads), { seed, cuts: 8, isSyncIgnored });
    expect(report.lost + report.unopenable).toBeGreaterThan(2);
    expect(report.faults.join()).toContain("was told and is lost");
  });

  test("cannot be judged if a call went past the recording disk", async () => {
    const load = firstOf(loads);
    const { recording } = load;
    const unseen = recording.records.findLastIndex(({ kind }) => kind === "WRITE");
    const records = recording.records.toSpliced(unseen, 1);
    const incomplete = { ...load, recording: { ...recording, records } };
    await expect(cutPower(incomplete, { seed, cuts: 1 })).rejects.toThrow(/a call was not seen/);
  });
});

function firstOf([load]: readonly RecordedLoad[]): RecordedLoad {
  if (load === undefined) throw new Error("a load was recorded");
  return load;
}

function expectNothingLost({ unopenable, lost, disordered, faults }: PowerCutReport): void {
  expect({ unopenable, lost, disordered, faults }).toEqual({
    unopenable: 0,
    lost: 0,
    disordered: 0,
    faults: [],
  });
}
