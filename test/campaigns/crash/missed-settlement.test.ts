// Funding that is settled while the gateway lies dead, and a kill while it is made up for: every holder pays
// once.
import { describe, expect, onTestFinished, test } from "vitest";
import type { FundingRow } from "../../../src/market/exchange/source.ts";
import { eventually } from "../../support/eventually.ts";
import { decimalText, units } from "../../support/exact.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import { hasPostgresPrograms, postgresTitle } from "../../support/servers/postgres.ts";
import { signed } from "../../support/signed-client.ts";
import { journalFaults } from "../harness/journal.ts";
import { recomputedFaults } from "../harness/recomputed.ts";
import { openSteeredMarket } from "../harness/steered-market.ts";
import { makeStore, type StoreName } from "../harness/stores.ts";
import { SYMBOL } from "../harness/ticks.ts";
import { HELD, makeHolders } from "./holders.ts";

const HOLDERS = 12;
const MINUTE_MS = 60_000;
const BOUGHT_MINUTES_AGO = 9;
/**
 * A gateway waits for the lease of the one that was killed (PostgreSQL), catches up with the market before it
 * applies a settlement, and polls again after some seconds: ten seconds and more on a machine at rest, more
 * than a minute on one that is slow and busy.
 */
const SETTLED_MS_MAX = 180_000;
/** Rarely enough for a key's budget: an answer weighs 30 of 1,200 a minute. */
const ASK_AGAIN_MS = 2_000;
const RUN_MS_MAX = 420_000;

describe("a settlement that falls due while the gateway is dead is applied once to everybody", () => {
  test("on sqlite", () => settleAfterKills("sqlite"), RUN_MS_MAX);
  test.skipIf(!hasPostgresPrograms)(
    postgresTitle("on postgres"),
    () => settleAfterKills("postgres"),
    RUN_MS_MAX,
  );
});

async function settleAfterKills(name: StoreName): Promise<void> {
  const store = await makeStore(name);
  if (store === null) throw new Error(`the programs of ${name} were found a moment ago`);
  onTestFinished(() => store.close());
  const market = await openSteeredMarket();
  onTestFinished(() => market.close());
  const price = market.price(SYMBOL).mark;
  const at = Date.now() - BOUGHT_MINUTES_AGO * MINUTE_MS;
  const holders = await store.beside((beside) =>
    makeHolders(beside.store, store.master, { count: HOLDERS, price, at }),
  );
  const start = async () => {
    const gateway = await startGateway({ dataDir: store.dataDir, env: { ...store.env, ...market.env } });
    onTestFinished(() => gateway.kill());
    return gateway;
  };

  const before = await start();
  expect(await paidBy(before, holders)).toEqual(holders.map(() => []));
  await before.kill();
  const first = market.settle(SYMBOL, Date.now() - MINUTE_MS, "0.00010000");

  const killed = await start();
  await settledFor(killed, holders.slice(0, 1), 1);
  await killed.kill();
  const second = market.settle(SYMBOL, Date.now(), "-0.00003000");

  const after = await start();
  await settledFor(after, holders, 2);
  const expected = [paymentOf(first), paymentOf(second)];
  expect(await paidBy(after, holders)).toEqual(holders.map(() => expected));
  await after.kill();
  await store.beside(async (beside) => {
    for (const { strategyId } of holders) {
      expect(await journalFaults(beside.store, strategyId)).toEqual([]);
      expect(await recomputedFaults(beside, strategyId, "FUTURES")).toEqual([]);
    }
  });
}

async function settledFor(
  gateway: GatewayProcess,
  holders: readonly Credentials[],
  count: number,
): Promise<void> {
  await eventually(
    `settlement ${count} is applied to ${holders.length} holders`,
    async () => (await paidBy(gateway, holders)).every((payments) => payments.length >= count),
    { msMax: SETTLED_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
}

type Payment = { readonly time: number; readonly income: string };

/** Every payment of funding of each holder, in the order of time. */
async function paidBy({ url }: GatewayProcess, holders: readonly Credentials[]): Promise<Payment[][]> {
  return await Promise.all(
    holders.map(async (holder) => {
      const { body } = await signed(url, holder, "GET", "/fapi/v1/income", { incomeType: "FUNDING_FEE" });
      return (body as Payment[]).map(({ time, income }) => ({ time, income }));
    }),
  );
}

/** What a long of that size pays (negative), rounded against it. */
function paymentOf({ at, rate, markPrice }: FundingRow): Payment {
  const isPaid = !rate.startsWith("-");
  const exact = units(HELD) * units(markPrice) * units(rate.replace("-", ""));
  const scale = 10n ** 16n;
  const size = isPaid ? (exact + scale - 1n) / scale : exact / scale;
  return { time: at, income: decimalText(isPaid ? -size : size) };
}
