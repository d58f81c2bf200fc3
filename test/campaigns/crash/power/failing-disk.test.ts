import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { botClient } from "../../../support/bot-client.ts";
import { eventually } from "../../../support/eventually.ts";
import { seededRandom } from "../../../support/random.ts";
import { testSeed } from "../../../support/seed.ts";
import { newDirectory } from "../../../support/servers/gateway.ts";
import { quotesOf } from "../../harness/markets.ts";
import type { Trader } from "../trader.ts";
import { expectedOf, moveWithLog, newTraders, PAGES_AHEAD, work } from "./load.ts";
import { cutPower } from "./power-cuts.ts";
import { hear, noPromises } from "./promises.ts";
import {
  type DiskFailure,
  dataDirIn,
  HAS_RECORDING_DISK,
  RecordedGateway,
  SKIPPED_WITHOUT_DISK,
} from "./recorded-gateway.ts";
import { examine } from "./stored-books.ts";

const seed = testSeed();

type Failure = Omit<DiskFailure, "nth" | "counted"> & {
  /** Of so many calls one is drawn. */
  readonly among: number;
  readonly says: RegExp;
};

const FAILURES: readonly Failure[] = [
  { call: "sync", path: "-wal", error: "EIO", times: "once", among: 10, says: /disk I\/O error/ },
  { call: "write", path: "-wal", error: "EIO", times: "once", among: 150, says: /disk I\/O error/ },
];
/**
 * A log that the traders' first orders make long enough to be copied, and not what the process itself writes
 * before the disk may fail.
 */
const PAGES_BEFORE_LOAD = PAGES_AHEAD - 256;
/** While a long log is copied into the database itself. */
const CHECKPOINT_FAILURES: readonly Failure[] = [
  { call: "sync", path: ".sqlite", error: "EIO", times: "once", among: 1, says: /disk I\/O error/ },
];

/**
 * At most so many: all that come together are one commit, and how many those are depends on the machine. They
 * end when the disk has failed.
 */
const ACTIONS_EACH = 300;

/**
 * Of so many writes one is drawn from which on the disk is full, and so many placements are refused at least.
 */
const FULL_AMONG = 80;
const REFUSALS_MIN = 12;

const CUTS = 4;

/** Written once a second beside what the traders do; one that cannot be is given up, and said. */
const BUDGET_LOG_FAILS = "could not be logged";
/** So does each of these say it, whose writes are given up, too. */
const WRITE_GIVEN_UP = new RegExp(
  [
    `charged budgets ${BUDGET_LOG_FAILS}`,
    "the last use of keys could not be written",
    "market-data coverage could not be stored",
    "positions in queues could not be stored",
  ].join("|"),
);

describe.skipIf(!HAS_RECORDING_DISK)(`a disk that fails under load${SKIPPED_WITHOUT_DISK}`, () => {
  const draw = seededRandom(seed);
  const cases = [
    ...FAILURES.map((failure) => ({ ...failure, pagesAhead: 0 })),
    ...CHECKPOINT_FAILURES.map((failure) => ({ ...failure, pagesAhead: PAGES_BEFORE_LOAD })),
  ].map((each) => ({ ...each, nth: 1 + Math.floor(draw() * each.among) }));

  test.each(cases)(
    "stops the process and loses nothing: $call $nth of $path, $error $times",
    async (each) => {
      const { recorded, traders, gateway } = await failUnder(each);
      expect(await gateway.exited).toBe(1);
      const last = gateway.output().trim().split("\n").at(-1);
      expect(last).toMatch(/the store failed; stopping/);
      expect(last).toMatch(each.says);
      await expectNothingLost(recorded, traders);
    },
  );

  test("that is full stops nothing and loses nothing", async () => {
    const { recorded, traders } = await prepare(0);
    const gateway = await recorded.start({
      call: "write",
      path: "*",
      error: "ENOSPC",
      nth: 1 + Math.floor(draw() * FULL_AMONG),
      times: "always",
      counted: "ONCE_ARMED",
    });
    onTestFinished(() => gateway.kill());
    recorded.arm();
    const refusals = () => traders.reduce((sum, { unavailable }) => sum + unavailable, 0);
    const isEnough = () => refusals() >= REFUSALS_MIN;
    await work(gateway.url, traders, { killAfter: 0, actionsEach: ACTIONS_EACH, isEnough });
    expect(refusals()).toBeGreaterThanOrEqual(REFUSALS_MIN);
    expect(gateway.process.exitCode).toBe(null);
    await quotesOf(gateway.url);
    await gateway.kill();
    await gateway.exited;
    await expectNothingLost(recorded, traders);
  });

  test("a signal that cannot be recorded stops the process, and is not answered 202", async () => {
    const { recorded, traders } = await prepare(0);
    const bot = traders.find(({ type }) => type === "SPOT");
    if (bot === undefined) throw new Error("there are traders on spot");
    const gateway = await recorded.start({
      call: "sync",
      path: "-wal",
      error: "EIO",
      nth: 1,
      times: "always",
      counted: "ONCE_ARMED",
    });
    onTestFinished(() => gateway.kill());
    recorded.arm();
    const order = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.0001" };
    await expect(botClient(gateway.url, bot.credentials).submit(order, "a")).rejects.toThrow();
    expect(await gateway.exited).toBe(1);
    expect(gateway.output().trim().split("\n").at(-1)).toMatch(/the store failed; stopping/);
    await expectNothingLost(recorded, traders);
  });

  test("an entry of the budget log that cannot be synced is given up, and nothing else with it", async () => {
    const { recorded, traders } = await prepare(0);
    const gateway = await recorded.start({
      call: "sync",
      path: "-wal",
      error: "EIO",
      nth: 1,
      times: "once",
      counted: "ONCE_ARMED",
    });
    onTestFinished(() => gateway.kill());
    recorded.arm();
    // Its weight is charged to this address and logged within a second. Nothing else is written until then.
    await quotesOf(gateway.url);
    await eventually("the log says so", () => gateway.output().includes(BUDGET_LOG_FAILS));
    await work(gateway.url, traders, { killAfter: Number.POSITIVE_INFINITY });
    recorded.killAtNextRecord();
    await gateway.exited;
    await expectNothingLost(recorded, traders);
  });
});

/** What is left of a gateway whose disk failed while it recorded what the traders do. */
async function failUnder({ pagesAhead, ...failure }: Omit<DiskFailure, "counted"> & { pagesAhead: number }) {
  for (let { nth } = failure; ; nth += 1) {
    const { recorded, traders } = await prepare(pagesAhead);
    const gateway = await recorded.start({ ...failure, nth, counted: "ONCE_ARMED" });
    onTestFinished(() => gateway.kill());
    recorded.arm();
    const hasStopped = () => gateway.process.exitCode !== null;
    const hasMetAnother = () => WRITE_GIVEN_UP.test(gateway.output());
    const isEnough = () => hasStopped() || hasMetAnother();
    await work(gateway.url, traders, { killAfter: 0, actionsEach: ACTIONS_EACH, isEnough });
    await eventually("it has stopped", isEnough);
    if (hasStopped()) return { recorded, traders, gateway };
    console.log(`${failure.call} ${nth} was of a write that is given up: the next`);
    await gateway.kill();
  }
}

async function prepare(pagesAhead: number): Promise<{ recorded: RecordedGateway; traders: Trader[] }> {
  const folder = newDirectory();
  const traders = await newTraders(join(folder, "prepared"), seed);
  moveWithLog(join(folder, "prepared"), dataDirIn(folder), pagesAhead);
  return { recorded: new RecordedGateway(folder), traders };
}

/**
 * Nothing is lost after a restart on the present files, nor after a power cut now or at an earlier moment.
 */
async function expectNothingLost(recorded: RecordedGateway, traders: readonly Trader[]): Promise<void> {
  const recording = recorded.recording();
  const expected = expectedOf(traders);
  const promises = noPromises();
  for (const record of recording.records) hear(promises, record);
  const { faults } = await cutPower({ recording, told: noPromises(), ...expected }, { seed, cuts: CUTS });
  expect(faults).toEqual([]);
  expect(await examine(recorded.dataDir, { ...expected, promises })).toEqual({
    unopenable: null,
    lost: [],
    faults: [],
  });
}
