// Killed under load, over and over, on one data directory: the real program, the simulated market, kill -9.
//
// A cycle: traders send orders side by side; after a random number of acknowledged answers the process is killed with
// requests under way; it is started again; then
//
//   - orders that rest where the market now stands are filled,
//   - every acknowledged order is there, once, as acknowledged or in a state that may follow,
//   - every order with an unknown outcome is there at most once, and sent again, twice at the same time, exactly once,
//   - balances are what trades and open orders make them, to the last digit.
//
// Cycles alternate between two simulated markets, a dear one and a cheap one, so that limits between the two rest in one
// and are reached by starting the other. What is drawn follows from the seed; how requests interleave does not.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { openDataDirectory } from "../../src/data-directory.ts";
import { emptyAccount } from "../../src/domain/account.ts";
import { apply } from "../../src/engine/apply.ts";
import { issueApiKey, readMasterKey } from "../../src/identity/api-keys.ts";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { encodeOrder, encodeState } from "../../src/store/codec.ts";
import { changeRows } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, newDirectory, startGateway } from "../support/gateway.ts";
import { seededRandom } from "../support/random.ts";
import { send } from "../support/signed-client.ts";
import { seedMany } from "../support/strategies.ts";
import { checkBooks, openOrders, readBooks } from "./books.ts";
import { isBody, type Prices, SYMBOL, Trader, ticksOf } from "./trader.ts";

export type CrashOptions = {
  readonly seed: number;
  readonly cycles: number;
  readonly onCycle?: (report: CycleReport) => void;
};

export type CycleReport = {
  readonly cycle: number;
  /** Answers that acknowledged something before the kill. */
  readonly acknowledged: number;
  /** Placements under way at the kill: how many of them had taken effect, and how many there were. */
  readonly unknown: number;
  readonly unknownDone: number;
  /** Orders that were filled because the market had moved when the process was back. */
  readonly filledAtRestart: number;
  /** All orders of all traders, all cycles. */
  readonly orders: number;
};

/** Of these strategies some are at work in a cycle, by turns: none may place more than 50 orders in ten seconds. */
const TRADERS = 24;
const AT_WORK = 8;
/** Requests that a trader has under way. */
const LANES = 2;
const ACKNOWLEDGED_MIN = 5;
const ACKNOWLEDGED_MAX = 60;
/** Things a trader does in a cycle at most. */
const ACTIONS_MAX = 12;
/** Simulated markets to choose the dear and the cheap one from. */
const MARKETS = 8;
const ASK_AGAIN_MS = 40;

type Market = { readonly seed: number; readonly bid: number; readonly ask: number };

/** Runs the cycles. Rejects, naming the seed and the cycle, if anything that was promised does not hold. */
export async function runCrashCycles({ seed, cycles, onCycle }: CrashOptions): Promise<CycleReport[]> {
  const draw = seededRandom(seed);
  const { cheap, dear } = await chooseMarkets();
  const dataDir = newDirectory();
  const strategies = await seedMany(dataDir, TRADERS);
  const traders = strategies.map(
    (each, index) => new Trader(`t${index}`, each, seededRandom(seed * 1_000 + index)),
  );
  const start = (market: Market) => startGateway({ dataDir, env: { SIM_SEED: String(market.seed) } });
  const reports: CycleReport[] = [];
  let gateway = await start(dear);
  try {
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      try {
        giveNewKeys(dataDir, traders);
        const first = (cycle * AT_WORK) % TRADERS;
        const atWork = traders.slice(first, first + AT_WORK);
        const acknowledged = await killUnderLoad(gateway, atWork, { cheap, dear, draw });
        const unknown = traders.map(unknownOf);
        gateway = await start(cycle % 2 === 1 ? cheap : dear);
        const filledAtRestart = await fillsOf(gateway.url, traders);
        const unknownDone = await settleUnknown(gateway.url, traders, unknown);
        const orders = await checkAll(gateway.url, traders);
        const report = {
          cycle,
          acknowledged,
          unknown: unknown.flat().length,
          unknownDone,
          filledAtRestart,
          orders,
        };
        reports.push(report);
        onCycle?.(report);
      } catch (error) {
        throw new Error(`crash cycle ${cycle} of seed ${seed}: ${messageOf(error)}\n${gateway.output()}`, {
          cause: error,
        });
      }
    }
  } finally {
    await gateway.kill();
  }
  await checkDatabase(
    dataDir,
    strategies.map(({ strategyId }) => strategyId),
  );
  return reports;
}

/** Gives every trader another key of its strategy, whose budgets are unused. */
function giveNewKeys(dataDir: string, traders: readonly Trader[]): void {
  const master = readMasterKey(join(dataDir, "master.key"));
  for (const trader of traders) {
    const { strategyId } = trader.credentials;
    const { record, secret } = issueApiKey(master, { label: "cycle", strategyId, createdAt: Date.now() });
    changeRows(
      dataDir,
      `INSERT INTO api_keys (id, api_key, salt, master_version, label, strategy_id, created_at, revoked_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, NULL)`,
      record.keyId,
      record.apiKey,
      record.salt,
      record.masterVersion,
      record.label,
      strategyId,
      record.createdAt,
    );
    trader.credentials = { strategyId, apiKey: record.apiKey, apiSecret: secret };
  }
}

/** Lets the traders loose and kills the process. Answers how much was acknowledged. */
async function killUnderLoad(
  gateway: GatewayProcess,
  traders: readonly Trader[],
  { cheap, dear, draw }: { readonly cheap: Market; readonly dear: Market; readonly draw: () => number },
): Promise<number> {
  const { url } = gateway;
  const prices: Prices = { ...(await quoteOf(url)), cheapAsk: cheap.ask, dearBid: dear.bid };
  const enough = ACKNOWLEDGED_MIN + Math.floor(draw() * (ACKNOWLEDGED_MAX - ACKNOWLEDGED_MIN));
  let acknowledged = 0;
  let killed: Promise<void> | null = null;
  const lane = async (trader: Trader) => {
    for (let actions = 0; actions < ACTIONS_MAX / LANES && killed === null; actions += 1) {
      try {
        if (await trader.act(url, prices)) acknowledged += 1;
      } catch (error) {
        // Without an answer, since the process is gone; anything else is a fault.
        if (killed === null) throw error;
      }
      if (acknowledged >= enough) killed ??= gateway.kill();
    }
  };
  await Promise.all(traders.flatMap((trader) => Array.from({ length: LANES }, () => lane(trader))));
  await (killed ?? gateway.kill());
  return acknowledged;
}

/** Client ids of the placements that were never answered. */
function unknownOf(trader: Trader): string[] {
  return [...trader.placements]
    .filter(([, { heard }]) => heard === null)
    .map(([clientOrderId]) => clientOrderId);
}

/** Waits until nothing rests any more where the market stands; answers how many orders that filled. */
async function fillsOf(url: string, traders: readonly Trader[]): Promise<number> {
  const { bid, ask } = await quoteOf(url);
  let filled = 0;
  for (const trader of traders) {
    // A tenth of a percent beyond the best price, since the market goes on moving.
    const isReached = ({ side, price }: { side: string; price: string }) =>
      side === "BUY" ? ticksOf(price) >= ask * 1.001 : ticksOf(price) <= bid * 0.999;
    filled += [...trader.placements.values()].filter(
      ({ heard, mayBeCanceled }) =>
        isBody(heard) && heard.status === "NEW" && !mayBeCanceled && isReached(heard),
    ).length;
    await eventually("orders that rest where the market stands are filled", async () => {
      const waiting = (await openOrders(url, trader.credentials)).filter(isReached);
      if (waiting.length > 0) await pause(ASK_AGAIN_MS);
      return waiting.length === 0;
    });
  }
  return filled;
}

/** Checks that unknown outcomes are whole, then sends each order again. Answers how many had taken effect. */
async function settleUnknown(
  url: string,
  traders: readonly Trader[],
  unknown: readonly (readonly string[])[],
): Promise<number> {
  let done = 0;
  await Promise.all(
    traders.map(async (trader, index) => {
      const books = await readBooks(url, trader.credentials);
      checkBooks(trader, books);
      for (const clientOrderId of unknown[index] ?? []) {
        const before = books.orders.find((order) => order.clientOrderId === clientOrderId);
        if (before !== undefined) done += 1;
        const answers = await Promise.all([
          trader.resend(url, clientOrderId),
          trader.resend(url, clientOrderId),
        ]);
        const ids = answers.map(({ status, body }) => (status === 200 ? body.orderId : null));
        if (ids[0] !== ids[1])
          throw new Error(`${clientOrderId} was sent twice at once and is two orders: ${ids}`);
        if (before !== undefined && ids[0] !== before.orderId) {
          throw new Error(
            `${clientOrderId} was ${before.orderId} before it was sent again and is ${ids[0]} now`,
          );
        }
      }
      // Whatever the books showed has been promised too, and must hold from now on.
      for (const order of books.orders) trader.learn(order);
    }),
  );
  return done;
}

/** Checks all books. Answers how many orders there are. */
async function checkAll(url: string, traders: readonly Trader[]): Promise<number> {
  const counts = await Promise.all(
    traders.map(async (trader) => {
      const books = await readBooks(url, trader.credentials);
      checkBooks(trader, books);
      return books.orders.length;
    }),
  );
  return counts.reduce((total, count) => total + count, 0);
}

/** The file is sound, and every account is what its journal makes it. */
async function checkDatabase(dataDir: string, strategyIds: readonly string[]): Promise<void> {
  const database = new DatabaseSync(join(dataDir, "lyrebird.sqlite"), { readOnly: true });
  const sound = database.prepare("PRAGMA integrity_check").get();
  database.close();
  if (sound?.integrity_check !== "ok") throw new Error(`the database is damaged: ${JSON.stringify(sound)}`);
  const { store } = await openDataDirectory(dataDir, null);
  try {
    for (const strategyId of strategyIds) {
      const replayed = emptyAccount(strategyId, "SPOT");
      for (const { events } of await store.listEntries(strategyId)) {
        for (const event of events) apply(replayed, event);
      }
      const stored = (await store.loadAccount(strategyId))?.account;
      if (stored === undefined || textOf(stored) !== textOf(replayed)) {
        throw new Error(`the journal of ${strategyId} does not make its account`);
      }
    }
  } finally {
    await store.close();
  }
}

function textOf(account: ReturnType<typeof emptyAccount>): string {
  const balances = new Map([...account.balances].sort(([left], [right]) => (left < right ? -1 : 1)));
  return encodeState({ ...account, balances }) + [...account.openOrders.values()].map(encodeOrder).join();
}

/** The dearest and the cheapest of a few simulated markets, now. */
async function chooseMarkets(): Promise<{ cheap: Market; dear: Market }> {
  const markets = await Promise.all(
    Array.from({ length: MARKETS }, async (_, index) => {
      const exchange = await openSimulatedExchange({ seed: index + 1 });
      try {
        return { seed: index + 1, ...(await quoteOf(exchange.spotRestUrl)) };
      } finally {
        await exchange.close();
      }
    }),
  );
  markets.sort((left, right) => left.bid - right.bid);
  const [cheap] = markets;
  const dear = markets.at(-1);
  if (cheap === undefined || dear === undefined || dear.bid < cheap.ask * 1.04) {
    throw new Error(`the simulated markets lie too close together: ${JSON.stringify(markets)}`);
  }
  return { cheap, dear };
}

async function quoteOf(url: string): Promise<{ bid: number; ask: number }> {
  const { body } = await send(url, "GET", `/api/v3/ticker/bookTicker?symbol=${SYMBOL}`);
  return { bid: ticksOf(body.bidPrice), ask: ticksOf(body.askPrice) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
