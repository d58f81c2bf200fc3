// Cuts the power at drawn moments of a recorded load, and lets the real store open what the disk may then
// hold. A gateway serves traders on the recording disk through several lives (load.ts). The recording gives,
// for each moment, the possible states of the disk after a power cut. Each drawn state must open, be in
// order, and hold once everything that was acknowledged before. The seed decides what is drawn, not how
// requests interleave.
import { rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { seededRandom } from "../../../support/random.ts";
import { newDirectory } from "../../../support/servers/gateway.ts";
import { type Contents, Disk, layOut, type NamesLast } from "./disk.ts";
import { PAGES_AHEAD, type RecordedLoad, recordLoad } from "./load.ts";
import { copyOf, hear } from "./promises.ts";
import type { Recording } from "./recorded-gateway.ts";
import type { DiskRecord } from "./recording.ts";
import { type Expectation, examine, type Finding } from "./stored-books.ts";

export type PowerCutOptions = {
  readonly seed: number;
  readonly cuts: number;
  readonly onCut?: (cut: CutReport) => void;
};

export type CutReport = {
  readonly cut: number;
  /** After how many of the recorded changes, syncs and answers. */
  readonly after: number;
  /** Orders acknowledged before the cut. */
  readonly told: number;
  readonly finding: Finding;
};

export type PowerCutReport = Awaited<ReturnType<typeof cutPower>>;

const NAMES_LAST: readonly NamesLast[] = ["JOURNALED", "UNORDERED"];

/** How many are examined side by side. */
const AT_ONCE = 4;

/**
 * Of two cuts one falls where something hangs on it: right behind an answer, or during a sync.
 */
const AT_A_POINT = 0.5;

/**
 * Records a load and cuts the power; every other seed begins with a long write-ahead log. Resolves with what
 * was found, good or bad. Needs HAS_RECORDING_DISK.
 */
export async function runPowerCuts({ seed, cuts, onCut }: PowerCutOptions): Promise<PowerCutReport> {
  const loads = await recordLoad(seed, { pagesAhead: seed % 2 === 0 ? PAGES_AHEAD : 0 });
  let done = 0;
  const reports: PowerCutReport[] = [];
  for (const [index, load] of loads.entries()) {
    const share = Math.floor(((index + 1) * cuts) / loads.length) - done;
    const before = done;
    const passOn = (cut: CutReport) => onCut?.({ ...cut, cut: before + cut.cut });
    reports.push(await cutPower(load, { seed: seed + index, cuts: share, onCut: passOn }));
    done += share;
  }
  const sum = (of: (report: PowerCutReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  return {
    seed,
    cuts: sum((report) => report.cuts),
    told: reports.at(-1)?.told ?? 0,
    syncs: sum(({ syncs }) => syncs),
    checkpointed: sum(({ checkpointed }) => checkpointed),
    logBegunAnew: sum(({ logBegunAnew }) => logBegunAnew),
    unopenable: sum(({ unopenable }) => unopenable),
    lost: sum(({ lost }) => lost),
    disordered: sum(({ disordered }) => disordered),
    faults: reports.flatMap(({ faults }) => faults),
  };
}

/** Cuts the power in one recording. With `isSyncIgnored` the disk lies about syncs of a file. */
export async function cutPower(
  { recording, told, strategyIds, sent }: RecordedLoad,
  options: PowerCutOptions & { readonly isSyncIgnored?: (path: string) => boolean },
) {
  const { found, records } = recording;
  checkCompleteness(recording);
  const draw = seededRandom(options.seed);
  const promises = copyOf(told);
  const disks = NAMES_LAST.map((namesLast) => new Disk(found, { ...options, namesLast }));
  const cuts: CutReport[] = [];
  let done = 0;
  for (const moments of inGroups(drawMoments(records, options.cuts, draw), AT_ONCE)) {
    const examined = moments.map((after) => {
      for (const record of records.slice(done, after)) {
        for (const disk of disks) disk.take(record);
        hear(promises, record);
      }
      done = after;
      const contents = disks[Math.floor(draw() * disks.length)]?.afterPowerCut(draw) ?? new Map();
      const expectation = { promises: copyOf(promises), strategyIds, sent };
      return {
        after,
        told: promises.orders.size,
        finding: examineContents(contents, recording, expectation),
      };
    });
    for (const { after, told, finding } of examined) {
      const cut = { cut: cuts.length + 1, after, told, finding: await finding };
      cuts.push(cut);
      options.onCut?.(cut);
    }
  }
  for (const record of records.slice(done)) hear(promises, record);
  const count = (isSo: (finding: Finding) => boolean) => cuts.filter(({ finding }) => isSo(finding)).length;
  return {
    seed: options.seed,
    cuts: cuts.length,
    /** Orders acknowledged in the whole recording. */
    told: promises.orders.size,
    syncs: records.filter(({ kind }) => kind === "SYNC_DONE").length,
    /** Writes into the database file itself: pages that a checkpoint moved there. */
    checkpointed: writesTo(join(recording.dataDir, "lyrebird.sqlite"), recording).length,
    /** How often the write-ahead log was restarted after a complete checkpoint. */
    logBegunAnew: beginningsOf(join(recording.dataDir, "lyrebird.sqlite-wal"), recording),
    /**
     * Cuts that left something that cannot be opened, with promises lost, with anything else not in order.
     */
    unopenable: count(({ unopenable }) => unopenable !== null),
    lost: count(({ lost }) => lost.length > 0),
    disordered: count(({ faults }) => faults.length > 0),
    /** What was found, in words, each with the cut that it was found at. */
    faults: cuts.flatMap(({ cut, after, finding }) =>
      textsOf(finding).map((text) => `cut ${cut}, after ${after} records: ${text}`),
    ),
  };
}

function inGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, group) =>
    items.slice(group * size, (group + 1) * size),
  );
}

/**
 * The recording must make the files that are really there: otherwise something was written that the disk did
 * not see.
 */
function checkCompleteness({ found, records, left }: Recording): void {
  const disk = new Disk(found, { namesLast: "JOURNALED" });
  for (const record of records) disk.take(record);
  const made = disk.asWritten();
  for (const path of new Set([...made.keys(), ...left.keys()])) {
    const [expected, actual] = [made.get(path), left.get(path)];
    const isSame =
      expected === actual || (expected != null && actual != null && Buffer.compare(expected, actual) === 0);
    if (!isSame) throw new Error(`${path} is not what was recorded of it: a call was not seen`);
  }
}

function drawMoments(records: readonly DiskRecord[], cuts: number, draw: () => number): number[] {
  const points = records.flatMap(({ kind }, index) =>
    kind === "SENT" || kind === "SYNC_BEGUN" || kind === "UNLINK" || kind === "CREATE" ? [index + 1] : [],
  );
  return Array.from({ length: cuts }, () => {
    const point = points[Math.floor(draw() * points.length)];
    const anywhere = Math.floor(draw() * (records.length + 1));
    return draw() < AT_A_POINT && point !== undefined ? point : anywhere;
  }).sort((left, right) => left - right);
}

/** Examines what a disk holds, laid out in a directory of its own. */
async function examineContents(
  contents: Contents,
  { dataDir }: Recording,
  expectation: Expectation,
): Promise<Finding> {
  const folder = newDirectory();
  try {
    layOut(contents, dirname(dataDir), folder);
    return await examine(join(folder, relative(dirname(dataDir), dataDir)), expectation);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function textsOf({ unopenable, lost, faults }: Finding): string[] {
  return [
    ...(unopenable === null ? [] : [`cannot be opened: ${unopenable}`]),
    ...lost.map((what) => `was told and is lost: ${what}`),
    ...faults,
  ];
}

function writesTo(path: string, { found, records }: Recording): (DiskRecord & { kind: "WRITE" })[] {
  let file = found.get(path)?.file ?? null;
  return records.flatMap((record) => {
    if (record.kind === "CREATE" && record.path === path) file = record.file;
    return record.kind === "WRITE" && record.file === file ? [record] : [];
  });
}

/** How often an existing write-ahead log was restarted. */
function beginningsOf(path: string, recording: Recording): number {
  const created = recording.records.filter((record) => record.kind === "CREATE" && record.path === path);
  return writesTo(path, recording).filter(({ offset }) => offset === 0).length - created.length;
}
