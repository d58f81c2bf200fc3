import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../support/random.ts";
import { testSeed } from "../../../support/seed.ts";
import { newDirectory, startGateway } from "../../../support/servers/gateway.ts";
import { Disk, layOut } from "./disk.ts";
import { cutPower } from "./power-cuts.ts";
import { noPromises } from "./promises.ts";
import { dataDirIn, HAS_RECORDING_DISK, RecordedGateway, SKIPPED_WITHOUT_DISK } from "./recorded-gateway.ts";

const seed = testSeed();

const CUTS = 24;
/** Starting the program takes longer than opening its directory. */
const STARTS = 2;

describe.skipIf(!HAS_RECORDING_DISK)(`a power cut during the very first start${SKIPPED_WITHOUT_DISK}`, () => {
  test("leaves what can be started again, and the keys that were shown if they were", async () => {
    const recorded = new RecordedGateway(newDirectory());
    const gateway = await recorded.start();
    await gateway.stop();
    const recording = recorded.recording();
    const nobody = { told: noPromises(), strategyIds: [], sent: new Map() };
    const report = await cutPower({ recording, ...nobody }, { seed, cuts: CUTS });
    expect(report.faults).toEqual([]);
    expect(report.unopenable + report.lost + report.disordered).toBe(0);

    const draw = seededRandom(seed);
    for (let start = 0; start < STARTS; start += 1) {
      const disk = new Disk(recording.found, { namesLast: "UNORDERED" });
      const after = Math.floor(draw() * recording.records.length);
      for (const record of recording.records.slice(0, after)) disk.take(record);
      const dataDir = dataDirIn(newDirectory());
      layOut(disk.afterPowerCut(draw), dirname(recording.dataDir), dirname(dataDir));
      const again = await startGateway({ dataDir });
      expect(await again.stop()).toBe(0);
    }
  });
});

describe.skipIf(!HAS_RECORDING_DISK)(`a first start on a disk that fails${SKIPPED_WITHOUT_DISK}`, () => {
  test.each([
    ["sync", "lyrebird.sqlite-wal", "EIO", /lyrebird\.sqlite.*disk I\/O error/s],
    ["write", "*", "ENOSPC", /server\.lock|no space left/i],
  ] as const)(
    "says what failed, and starts once the disk is well: %s of %s, %s",
    async (call, path, error, reason) => {
      const recorded = new RecordedGateway(newDirectory());
      const failure = { call, path, error, nth: 1, times: "always", counted: "FROM_THE_START" } as const;
      const told = await recorded.start(failure).catch(String);
      expect(told).toMatch(/exited with [12]:/);
      expect(told).toMatch(reason);
      const gateway = await recorded.start();
      expect(await gateway.stop()).toBe(0);
    },
  );
});
