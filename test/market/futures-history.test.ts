// A month of funding, from tables of the exchange's settlements, through the whole of Lyrebird: the tape's
// own server, the market client, desk, store, watcher and funding clock. The tape runs 3,600 times as fast as
// the program's own time, which the test advances: in a second of its own the program receives an hour of
// messages, so that no symbol looks silent. The expected payments are computed from the tables' texts and
// must agree to the last digit.
import { describe, expect, test } from "vitest";
import type { SeededStrategy } from "../../src/keys/seed.ts";
import type { Tape } from "../../src/market/tape/open.ts";
import { decimalText, signedUnits } from "../support/exact.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { cleanFixtures, type Life, type LifeOptions, openLife, openManualTape } from "./fixture.ts";
import {
  fundingOf,
  type HistoryTape,
  MINUTE_MS,
  readSettlements,
  type TableSettlement,
  WITHOUT_HISTORY,
  writeHistoryTape,
} from "./history.ts";
import { fundingPaid, type Holder, hold, liquidationPriceOf, riskOf, trade, walletAfter } from "./holding.ts";

const SPEED = 3_600;
const HOUR_MS = 60 * MINUTE_MS;
const SEED_MONEY = signedUnits("1000");
const LEVERAGE = 3n;
/** A third of it is margin, from the seed's 1,000 USDT. */
const QUANTITY = "0.017";
/** How far a step goes while something is waited for. */
const STEP_MS = 20 * MINUTE_MS;
const STEPS_MAX = 100;

cleanFixtures();

describe.skipIf(WITHOUT_HISTORY !== "")(`funding of a month${WITHOUT_HISTORY}`, () => {
  test("every holder pays and receives each settlement, to the last digit", async () => {
    const { tape, life } = await begin({ publishedAfterMs: 5_000 });
    const settlements = readSettlements();
    expect(settlements).toHaveLength(89);
    const holders: Holder[] = [];
    for (const [index, strategy] of (await life.seed(2)).entries()) {
      holders.push(await hold(life, strategy, index === 0 ? QUANTITY : `-${QUANTITY}`, LEVERAGE));
    }

    for (const [index, settlement] of settlements.entries()) {
      await life.playTo(settlement.dueAt + MINUTE_MS);
      for (const holder of holders) {
        await untilSettled(life, tape, holder.strategy, settlement);
        await expectStanding(life, holder, settlements.slice(0, index + 1));
      }
    }
    await life.playTo(tape.endsAt);

    for (const { strategy, quantity } of holders) {
      const expected = settlements.map((each) => [each.fundingTime, decimalText(fundingOf(quantity, each))]);
      expect(await fundingPaid(life, strategy, tape.startsAt)).toEqual(expected);
      const incomes = await incomesOf(life, strategy, tape.startsAt);
      const total = sumOf(incomes);
      const funding = settlements.reduce((sum, each) => sum + fundingOf(quantity, each), 0n);
      const fees = sumOf(incomes.filter(({ incomeType }) => incomeType === "COMMISSION"));
      expect(total).toBe(SEED_MONEY + fees + funding);
      const { totalWalletBalance } = await life.call(strategy, "GET", "/fapi/v2/account");
      expect(signedUnits(totalWalletBalance)).toBe(total);
    }
  });

  test.each([
    ["stopped", (life: Life) => life.stop()],
    ["killed", (life: Life) => life.kill()],
  ])("settlements while the program is %s are made up for, each once", async (_how, end) => {
    const settlements = readSettlements().slice(20, 30);
    const [first, missed, last] = [settlements[0], settlements.slice(1, 7), settlements.at(-1)];
    if (first === undefined || last === undefined) throw new Error("the tables have 89 settlements");
    const dataDir = newDirectory();
    const span = { from: first.dueAt - 4 * HOUR_MS, to: last.dueAt + 4 * HOUR_MS };
    const { tape, life } = await begin({ publishedAfterMs: 5_000, ...span }, { dataDir });
    const strategy = await strategyOf(life);
    const holder = await hold(life, strategy, QUANTITY, LEVERAGE);
    await life.playTo(first.dueAt + MINUTE_MS);
    await untilSettled(life, tape, strategy, first);
    await end(life);

    tape.advanceTo((missed.at(-1)?.dueAt ?? 0) + 3 * HOUR_MS);
    let again = await openLife(tape, { dataDir, type: "FUTURES", speed: SPEED });
    for (const settlement of missed) await untilSettled(again, tape, strategy, settlement);
    await again.playTo(last.dueAt + MINUTE_MS);
    await untilSettled(again, tape, strategy, last);
    await again.stop();
    again = await openLife(tape, { dataDir, type: "FUTURES", speed: SPEED });
    await again.playTo(tape.endsAt);

    const expected = settlements.map((each) => [each.fundingTime, decimalText(fundingOf(QUANTITY, each))]);
    expect(await fundingPaid(again, strategy, tape.startsAt)).toEqual(expected);
    await expectStanding(again, holder, settlements);
  });

  test("what changes between a settlement's time and its publication pays for what was held at its time", async () => {
    const [, settlement] = readSettlements();
    if (settlement === undefined) throw new Error("the tables have 89 settlements");
    const span = { from: settlement.dueAt - 4 * HOUR_MS, to: settlement.dueAt + 4 * HOUR_MS };
    const { tape, life } = await begin({ publishedAfterMs: 5 * MINUTE_MS, ...span });
    // Reduced, closed, turned over, added to.
    const changes = ["-0.01", `-${QUANTITY}`, "-0.02", "0.003"];
    const holders = await life.seed(changes.length);
    for (const strategy of holders) await hold(life, strategy, QUANTITY, LEVERAGE);
    const opener = await strategyOf(life);

    await life.playTo(settlement.dueAt + 2 * MINUTE_MS);
    for (const [index, strategy] of holders.entries()) await trade(life, strategy, changes[index] ?? "");
    await hold(life, opener, QUANTITY, LEVERAGE);
    for (const strategy of holders) expect(await fundingPaid(life, strategy, tape.startsAt)).toEqual([]);

    await life.playTo(settlement.dueAt + 6 * MINUTE_MS);
    for (const strategy of holders) await untilSettled(life, tape, strategy, settlement);
    await life.playTo(tape.endsAt);
    const paid = [[settlement.fundingTime, decimalText(fundingOf(QUANTITY, settlement))]];
    for (const strategy of holders) expect(await fundingPaid(life, strategy, tape.startsAt)).toEqual(paid);
    expect(await fundingPaid(life, opener, tape.startsAt)).toEqual([]);
  });
});

async function begin(
  history: HistoryTape,
  options: LifeOptions = {},
): Promise<{ readonly tape: Tape; readonly life: Life }> {
  const tape = await openManualTape({ file: writeHistoryTape(history) });
  const life = await openLife(tape, { ...options, type: "FUTURES", speed: SPEED });
  await life.playTo(tape.startsAt + 2 * MINUTE_MS);
  return { tape, life };
}

async function strategyOf(life: Life): Promise<SeededStrategy> {
  const [strategy] = await life.seed(1);
  if (strategy === undefined) throw new Error("one strategy was asked for");
  return strategy;
}

/** The wallet has what it began with and all funding since, and the liquidation price follows from it. */
async function expectStanding(life: Life, holder: Holder, past: readonly TableSettlement[]): Promise<void> {
  const wallet = walletAfter(holder, past);
  const risk = await riskOf(life, holder.strategy);
  expect([signedUnits(risk.isolatedWallet), signedUnits(risk.liquidationPrice)]).toEqual([
    wallet,
    liquidationPriceOf(holder, wallet),
  ]);
}

/** Plays until a settlement has been applied to a strategy. */
async function untilSettled(
  life: Life,
  tape: Tape,
  strategy: SeededStrategy,
  { dueAt, fundingTime }: TableSettlement,
): Promise<void> {
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const [row] = await fundingPaid(life, strategy, dueAt);
    if (row?.[0] === fundingTime) return;
    await life.playTo(tape.clock.now() + STEP_MS);
    await life.turn(1);
    await life.settled();
  }
  throw new Error(`funding of ${new Date(fundingTime).toISOString()} was not settled`);
}

type Income = { readonly incomeType: string; readonly income: string };

function incomesOf(life: Life, strategy: SeededStrategy, from: number): Promise<readonly Income[]> {
  return life.call(strategy, "GET", "/fapi/v1/income", { startTime: `${from}`, limit: "1000" });
}

function sumOf(incomes: readonly Income[]): bigint {
  return incomes.reduce((sum, { income }) => sum + signedUnits(income), 0n);
}
