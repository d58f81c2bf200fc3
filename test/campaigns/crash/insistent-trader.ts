// Traders that trade at several servers by turns. Each sends an order again, at the next server, until it is
// acknowledged.
import { setTimeout as pause } from "node:timers/promises";
import type { SeededStrategy } from "../../../src/keys/seed.ts";
import { isUnpriced } from "../../support/prices.ts";
import type { GatewayProcess } from "../../support/servers/gateway.ts";
import { signed, type WireAnswer } from "../../support/signed-client.ts";
import { restingPriceOf, symbol } from "../../support/spot-trader.ts";
import type { Fault } from "../harness/faults.ts";
import { journalFaults } from "../harness/journal.ts";
import { patiently } from "../harness/patience.ts";
import { checkStoredReceipts } from "../harness/receipts.ts";
import { recomputedFaults } from "../harness/recomputed.ts";
import type { Beside } from "../harness/stores.ts";
import type { CrashFault } from "./crash-cycles.ts";

type Counts = { acknowledged: number; sentAgain: number; unpriced: number; readonly sentAt: number[] };

type Always = { readonly recvWindow?: number };

type Listed = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly status: string;
  readonly type: string;
};

/** Between two requests of a trader, ms: below its budget of 50 orders in ten seconds. */
const PACE_MS = 350;
/** Before a request is sent again, ms. */
const AGAIN_MS = 400;
const SENT_AGAIN_MAX = 200;
const PAGE = 1_000;
/** Of each order at the market. The first one buys more: fees are taken from what is bought. */
const MARKET_QUANTITY = "0.0002";
const FIRST_QUANTITY = "0.0004";

/**
 * Sets a trader to work for each strategy. `urls` may change while they work. `always` is what they send with
 * each request.
 */
export async function startTraders(
  strategies: readonly SeededStrategy[],
  urls: readonly string[],
  always: Always = {},
) {
  const price = await restingPriceOf(urls[0] ?? "");
  const counts: Counts = { acknowledged: 0, sentAgain: 0, unpriced: 0, sentAt: [] };
  const traders = strategies.map(
    (strategy, index) => new InsistentTrader(strategy, { urls, price, index, counts, always }),
  );
  const working = Promise.all(traders.map((trader) => trader.work()));
  working.catch(() => {});
  return {
    traders,
    /** When acknowledged orders were sent, by the monotonic clock, ms. */
    sentAt: counts.sentAt as readonly number[],
    /** Rejects once a trader gives up; resolves when all have stopped. */
    working,
    /** Requests sent again in all because a server had no prices, as after its start: in no other count. */
    unpriced: () => counts.unpriced,
    /** Orders acknowledged, and requests sent again for other reasons, since the call before. */
    takeCounts(): Pick<Counts, "acknowledged" | "sentAgain"> {
      const { acknowledged, sentAgain } = counts;
      Object.assign(counts, { acknowledged: 0, sentAgain: 0 });
      return { acknowledged, sentAgain };
    },
    async stop(): Promise<void> {
      for (const trader of traders) trader.stop();
      await working;
    },
    /** Orders acknowledged in all. */
    orders: () => traders.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
    /**
     * What is not as it was acknowledged, and what of the books does not follow from trades, journals and
     * receipts; and how many trades have one.
     */
    async check(beside: Beside): Promise<{ faults: CrashFault[]; receipts: number }> {
      const faults: CrashFault[] = [];
      let receipts = 0;
      for (const trader of traders) {
        const { strategyId } = trader.strategy;
        faults.push(...(await trader.faults()), ...(await journalFaults(beside.store, strategyId)));
        faults.push(...(await recomputedFaults(beside, strategyId, "SPOT")));
        const checked = await checkStoredReceipts(beside.store, strategyId, symbol);
        faults.push(...checked.faults.map((what) => ({ kind: "RECEIPT" as const, what })));
        receipts += checked.receipts;
      }
      return { faults, receipts };
    },
  };
}

/** The servers that have ended by themselves. */
export function endedFaults(gateways: readonly GatewayProcess[]): Fault[] {
  return gateways
    .filter(({ process }) => process.exitCode !== null)
    .map(({ output }) => ({ kind: "GATEWAY", what: `a gateway has ended:\n${output()}` }));
}

export class InsistentTrader {
  readonly strategy: SeededStrategy;
  /** The order ids by client id, as acknowledged. */
  readonly acknowledged = new Map<string, number>();
  /** Client ids of limit orders that are there for the market to reach. */
  readonly #resting = new Set<string>();
  readonly #urls: readonly string[];
  readonly #price: string;
  readonly #name: string;
  readonly #counts: Counts;
  readonly #always: Always;
  #requests = 0;
  #isStopped = false;
  /** Whether an order waits for the market to reach it: under `strict` an own sale would end it. */
  #mayNotSell = false;
  #selling: Promise<unknown> = Promise.resolve();

  constructor(
    strategy: SeededStrategy,
    parts: { urls: readonly string[]; price: string; index: number; counts: Counts; always: Always },
  ) {
    this.strategy = strategy;
    this.#urls = parts.urls;
    this.#price = parts.price;
    this.#name = `t${parts.index}`;
    this.#counts = parts.counts;
    this.#always = parts.always;
    this.#requests = parts.index;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Buys and sells at the market, and places limit orders that it cancels, until it is stopped. */
  async work(): Promise<void> {
    for (let count = 0, atMarket = 0; !this.#isStopped; count += 1) {
      const newClientOrderId = `${this.#name}-${count}`;
      const isLimit = count % 2 === 1 || (atMarket > 0 && this.#mayNotSell);
      const side = atMarket % 2 === 0 ? "BUY" : "SELL";
      const terms = isLimit
        ? { side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001", price: this.#price }
        : { side, type: "MARKET", quantity: atMarket === 0 ? FIRST_QUANTITY : MARKET_QUANTITY };
      if (!isLimit) atMarket += 1;
      const placed = this.#place(newClientOrderId, terms);
      if (terms.side === "SELL") this.#selling = placed;
      await placed;
      await pause(PACE_MS);
      if (isLimit) await this.#surely("DELETE", { symbol, origClientOrderId: newClientOrderId });
    }
  }

  /** Places a limit order for the market to reach; answers its id. */
  async rest(newClientOrderId: string, price: string): Promise<number> {
    this.#mayNotSell = true;
    await this.#selling;
    this.#resting.add(newClientOrderId);
    const terms = { side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: MARKET_QUANTITY, price };
    return await this.#place(newClientOrderId, terms);
  }

  /** Sells at the market what such an order has bought. */
  async sell(newClientOrderId: string): Promise<void> {
    await this.#place(newClientOrderId, { side: "SELL", type: "MARKET", quantity: MARKET_QUANTITY });
    this.#mayNotSell = false;
  }

  async #place(newClientOrderId: string, terms: Readonly<Record<string, string>>): Promise<number> {
    const sentAt = performance.now();
    const { body } = await this.#surely("POST", { symbol, newClientOrderId, ...terms });
    this.acknowledged.set(newClientOrderId, body.orderId);
    this.#counts.acknowledged += 1;
    this.#counts.sentAt.push(sentAt);
    return body.orderId;
  }

  /** What one of the servers answers, the next one each time; null where it does not answer. */
  async ask(path: string, parameters: Readonly<Record<string, string | number>>): Promise<WireAnswer | null> {
    const answer = await signed(this.#nextUrl(), this.strategy, "GET", path, parameters).catch(() => null);
    return answer?.status === 200 ? answer : null;
  }

  /** What is not as it was acknowledged. */
  async faults(): Promise<Fault[]> {
    const faults: Fault[] = [];
    for (const url of this.#urls) {
      const orders = await this.#allOrders(url);
      const found = new Map(orders.map(({ clientOrderId, orderId }) => [clientOrderId, orderId]));
      for (const [clientOrderId, orderId] of this.acknowledged) {
        if (found.get(clientOrderId) === orderId) continue;
        faults.push({
          kind: "LOST",
          what: `${clientOrderId} was order ${orderId}, is ${found.get(clientOrderId)}`,
        });
      }
      for (const { clientOrderId, orderId, status, type } of orders) {
        const what = `order ${orderId}, ${clientOrderId}, is ${status}`;
        const isFilled = type === "MARKET" || this.#resting.has(clientOrderId);
        if (this.acknowledged.get(clientOrderId) !== orderId) faults.push({ kind: "DOUBLED", what });
        if (status !== (isFilled ? "FILLED" : "CANCELED")) faults.push({ kind: "CHANGED", what });
      }
    }
    return faults;
  }

  async #allOrders(url: string): Promise<readonly Listed[]> {
    const orders: Listed[] = [];
    for (;;) {
      const orderId = (orders.at(-1)?.orderId ?? 0) + 1;
      const page = await patiently(() =>
        signed(url, this.strategy, "GET", "/api/v3/allOrders", { symbol, orderId, limit: PAGE }),
      );
      orders.push(...(page.body as Listed[]));
      if (page.body.length < PAGE) return orders;
    }
  }

  #nextUrl(): string {
    this.#requests += 1;
    return this.#urls[this.#requests % this.#urls.length] ?? "";
  }

  /** Sends a request to one gateway after the other until it is acknowledged. */
  async #surely(
    method: "POST" | "DELETE",
    parameters: Readonly<Record<string, string>>,
  ): Promise<WireAnswer> {
    for (let sent = 0; sent < SENT_AGAIN_MAX; sent += 1) {
      const url = this.#nextUrl();
      const sending = signed(url, this.strategy, method, "/api/v3/order", { ...parameters, ...this.#always });
      const answer = await sending.catch(() => null);
      if (answer?.status === 200) return answer;
      // Sent again, it is not there any more.
      if (method === "DELETE" && sent > 0 && answer?.body?.code === -2011) return answer;
      // -1021: it waited for longer than its recvWindow, and was not executed.
      const isRefused = answer !== null && answer.status !== 503 && answer.status !== 429;
      if (isRefused && answer.body?.code !== -1021) {
        throw new Error(
          `${method} ${JSON.stringify(parameters)} was answered ${JSON.stringify(answer.body)}`,
        );
      }
      this.#counts[answer !== null && isUnpriced(answer) ? "unpriced" : "sentAgain"] += 1;
      await pause(AGAIN_MS);
    }
    throw new Error(`${method} was sent ${SENT_AGAIN_MAX} times and never acknowledged`);
  }
}
