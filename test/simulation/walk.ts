// A seeded random walk through the whole of trading, in memory: thousands of commands against one account and a market
// that moves, gaps, falls silent and halts. After every step what must always hold is checked (design, section 7); every
// thousand steps, and at the end, the journal is replayed and must give the same account.
import type { Account } from "../../src/domain/account.ts";
import type { Command } from "../../src/domain/command.ts";
import type { DomainEvent } from "../../src/domain/event.ts";
import { isOpen, type Order, type OrderStatus } from "../../src/domain/order.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { apply } from "../../src/engine/apply.ts";
import { decide } from "../../src/engine/decide.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";
import { STANDARD_SPOT } from "../../src/engine/profiles.ts";
import { MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import type { Amount, Price, Quantity } from "../../src/money/decimal.ts";
import { OWN_POCKETS, WORLD_POCKETS } from "../../src/money/posting.ts";
import { encodeOrder, encodeState } from "../../src/store/codec.ts";
import { WatchList } from "../../src/watch/watch-list.ts";
import { seededRandom } from "../support/random.ts";

export type WalkReport = {
  readonly commands: number;
  readonly events: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
};

const REPLAY_EVERY = 1_000;
const STRATEGY = "walk";
const BASES = ["BTC", "ETH", "DOGE"] as const;
const TICK = 1_000_000n;

/** Walks `commands` steps from a seed. Throws at the first step after which something does not hold, naming both. */
export function walk(seed: number, commands: number): WalkReport {
  const random = seededRandom(seed);
  const market = new MarketStub(BASES.map((base) => symbolRules(base)));
  const middles = new Map(
    BASES.map((base, index) => [`${base}USDT`, (60_000n / 20n ** BigInt(index)) * 100n]),
  );
  const watchList = new WatchList();
  const { account, event } = openStrategy(STRATEGY, "SPOT", 0);
  const journal: DomainEvent[] = [event];
  const statuses = new Map<number, OrderStatus>();
  const counts = { events: {} as Record<string, number>, refusals: {} as Record<string, number> };
  let step = 0;

  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const symbols = [...middles.keys()];

  function carryOut(command: Command): void {
    const circumstances = { market, profile: STANDARD_SPOT, at: step };
    const before = encodeState(account) + openOrdersOf(account);
    const decision = decide(account, command, circumstances);
    const after = encodeState(account) + openOrdersOf(account);
    if (before !== after) throw new Error("a decision changes nothing");
    if (isRefusal(decision)) {
      counts.refusals[decision.refusal] = (counts.refusals[decision.refusal] ?? 0) + 1;
      return;
    }
    for (const happened of decision.events) {
      const order = apply(account, happened);
      journal.push(happened);
      counts.events[happened.type] = (counts.events[happened.type] ?? 0) + 1;
      if (order !== null) follow(order);
    }
  }

  function follow(order: Order): void {
    const earlier = statuses.get(order.orderId);
    if (earlier !== undefined && earlier !== "NEW" && earlier !== "PARTIALLY_FILLED") {
      throw new Error(`a terminal state never changes: order ${order.orderId} was ${earlier}`);
    }
    statuses.set(order.orderId, order.status);
    const { orderId, symbol, side, price } = order;
    if (isOpen(order)) watchList.add({ strategyId: STRATEGY, orderId, symbol, side, price });
    else watchList.remove(symbol, STRATEGY, orderId);
  }

  function moveMarket(symbol: string): void {
    const stride = random() < 0.05 ? 0.2 : 0.01;
    const middle = middles.get(symbol) ?? 100n;
    const moved = (middle * BigInt(Math.round((1 + (random() - 0.5) * stride) * 10_000))) / 10_000n;
    middles.set(symbol, moved < 100n ? 100n : moved);
    if (random() < 0.02) market.setStatus(symbol, random() < 0.5 ? "HALT" : "TRADING");
    if (random() < 0.02) {
      market.setQuote(symbol, null);
      return;
    }
    const bid = ((middles.get(symbol) ?? 100n) * TICK) as Price;
    const quote = { bid, ask: (bid + TICK) as Price };
    market.setQuote(symbol, quote);
    for (const { waiting, seen } of watchList.take(symbol, quote)) {
      carryOut({ type: "FillRestingOrder", orderId: waiting.orderId, seen });
      if (account.openOrders.has(waiting.orderId)) watchList.add(waiting);
    }
  }

  function place(symbol: string): Command {
    const middle = (middles.get(symbol) ?? 100n) * TICK;
    const side = random() < 0.5 ? "BUY" : "SELL";
    const held = account.balances.get(side === "BUY" ? "USDT" : symbol.slice(0, -4))?.free ?? 0n;
    const share = BigInt(Math.floor(random() * 1_200));
    const worth = (held * share) / 1_000n;
    const onStep = (value: bigint) => (random() < 0.9 ? value - (value % 1_000n) : value) as Quantity;
    const isLimit = random() < 0.6;
    const offset = BigInt(Math.round((random() - (side === "BUY" ? 0.8 : 0.2)) * 500));
    const price = isLimit ? ((middle * (10_000n + offset)) / 10_000n / TICK) * TICK : null;
    const quantity = onStep(side === "BUY" ? (worth * 100_000_000n) / (price ?? middle) : worth);
    const byQuote = !isLimit && side === "BUY" && random() < 0.4;
    return {
      type: "PlaceOrder",
      symbol,
      side,
      orderType: isLimit ? "LIMIT" : "MARKET",
      size: byQuote ? { quoteQuantity: worth as Amount } : { quantity },
      price: price as Price | null,
      clientOrderId: `walk-${step}`,
    };
  }

  for (step = 1; step <= commands; step += 1) {
    const symbol = pick(symbols);
    const choice = random();
    try {
      if (choice < 0.45) moveMarket(symbol);
      else if (choice < 0.85) carryOut(place(symbol));
      else if (choice < 0.97) {
        const open = [...account.openOrders.keys()];
        carryOut({ type: "CancelOrder", orderId: open.length > 0 && random() < 0.9 ? pick(open) : step });
      } else carryOut({ type: "CancelOpenOrders", symbol });
      check(account);
      if (step % REPLAY_EVERY === 0 || step === commands) checkReplay(account, journal);
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  }
  return { commands, ...counts };
}

function openOrdersOf(account: Account): string {
  return [...account.openOrders.values()].map(encodeOrder).join();
}

/** What holds after every step. */
function check(account: Account): void {
  for (const [asset, pockets] of account.balances) {
    const sum = [...OWN_POCKETS, ...WORLD_POCKETS].reduce((total, pocket) => total + pockets[pocket], 0n);
    if (sum !== 0n) throw new Error(`money moves only between pockets: ${asset} is off by ${sum}`);
    for (const own of OWN_POCKETS) {
      if (pockets[own] < 0n)
        throw new Error(`nothing of one's own goes below zero: ${own} ${asset} ${pockets[own]}`);
    }
    const reserved = [...account.openOrders.values()]
      .filter((order) => order.reservedAsset === asset)
      .reduce((total, order) => total + order.reserved, 0n);
    if (pockets.locked !== reserved) {
      throw new Error(`locked is what orders reserve: ${asset} ${pockets.locked} and ${reserved}`);
    }
  }
}

function checkReplay(account: Account, journal: readonly DomainEvent[]): void {
  const { account: replayed } = openStrategy(STRATEGY, "SPOT", 0);
  for (const event of journal.slice(1)) apply(replayed, event);
  const stateOf = (each: Account) => encodeState(each) + openOrdersOf(each);
  if (stateOf(replayed) !== stateOf(account)) throw new Error("replaying the events gives the same state");
}
