// The random walk through all of trading, followed by a client that hears nothing but user data events: after
// every entry it knows the orders, trades, balances, positions and legs that REST shows, to the last digit.
import { expect, test } from "vitest";
import type { Account } from "../../src/domain/account.ts";
import type { DomainEvent } from "../../src/domain/event.ts";
import { type FillProfileName, STANDARD } from "../../src/domain/fill-profile.ts";
import type { Leg } from "../../src/domain/leg.ts";
import type { Order, Trade } from "../../src/domain/order.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { apply } from "../../src/engine/apply.ts";
import { decide } from "../../src/engine/decide.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";
import { digitsOf } from "../../src/http/present/digits.ts";
import { presentBalances } from "../../src/http/present/futures-account.ts";
import * as futures from "../../src/http/present/futures-orders.ts";
import { type MarkedMarket, presentRisk, standingOf } from "../../src/http/present/futures-positions.ts";
import * as spot from "../../src/http/present/spot.ts";
import type { UserEvent } from "../../src/sockets/user-events/event.ts";
import { futuresEvents } from "../../src/sockets/user-events/futures.ts";
import { spotEvents } from "../../src/sockets/user-events/spot.ts";
import type { RandomMarket } from "../campaigns/walk/random/market.ts";
import { SETUPS, type WalkSetup } from "../campaigns/walk/setups.ts";
import { BOTH_PROFILES, walk } from "../campaigns/walk/walk.ts";
import { testSeed } from "../support/seed.ts";
import { FuturesListener, type Row, SpotListener } from "./listening-client.ts";

const COMMANDS = 8_000;

/** What REST reads: the account and all that was ever placed and traded. */
class Books {
  readonly account: Account;
  readonly orders = new Map<number, Order>();
  readonly legs = new Map<number, Leg>();
  readonly trades: Trade[] = [];

  constructor({ type, profile }: Pick<Account, "type" | "profile">) {
    this.account = openStrategy("walk", type, 0, profile).account;
  }

  enter(events: readonly DomainEvent[]): void {
    for (const event of events) {
      const { order, leg } = apply(this.account, event);
      if (order !== null) this.orders.set(order.orderId, order);
      if (leg !== null) this.legs.set(leg.legId, leg);
      if (event.type === "OrderFilled") this.trades.push(event.trade);
    }
  }
}

/** A strategy of the walk: its books, the account that the translator follows, and its client. */
type Watched<Client> = {
  readonly books: Books;
  readonly followed: Account;
  readonly client: Client;
  version: number;
};

type Check<Client> = (watched: Watched<Client>, events: readonly DomainEvent[], market: MarkedMarket) => void;

/** Walks, and shows every entry to a new client for each life. Returns how often each event was sent. */
function walkWith<Client extends { hear(text: string): void }>(
  setup: WalkSetup,
  profile: FillProfileName,
  seed: number,
  newClient: (account: Account) => Client,
  check: Check<Client>,
): ReadonlyMap<string, number> {
  const translate = setup.type === "SPOT" ? spotEvents : futuresEvents;
  const lives = new Map<Account, Watched<Client>>();
  const sent = new Map<string, number>();
  walk(setup, seed, COMMANDS, {
    profiles: [profile],
    decides(account, command, circumstances) {
      const decision = decide(account, command, circumstances);
      if (isRefusal(decision) || decision.events.length === 0) return decision;
      const random = circumstances.market as RandomMarket;
      const market: MarkedMarket = {
        rules: (symbol) => random.rules(symbol),
        lastMarkPrice: (symbol) => random.markPrice(symbol),
      };
      const watched = lives.get(account) ?? begun(account, newClient);
      lives.set(account, watched);
      watched.version += 1;
      const entry = { version: watched.version, events: decision.events };
      const events: readonly UserEvent[] = translate(watched.followed, entry, { now: 0, market });
      for (const { name, text } of events) {
        sent.set(name, (sent.get(name) ?? 0) + 1);
        watched.client.hear(text);
      }
      watched.books.enter(decision.events);
      check(watched, decision.events, market);
      return decision;
    },
  });
  return sent;
}

function begun<Client>(
  of: Pick<Account, "type" | "profile">,
  newClient: (account: Account) => Client,
): Watched<Client> {
  const books = new Books(of);
  const followed = openStrategy("walk", of.type, 0, of.profile).account;
  return { books, followed, client: newClient(followed), version: 1 };
}

/** The rows of one side that the other has, with its keys alone. */
function expectKnown(known: Row | undefined, shown: Row, keys: readonly string[] = Object.keys(shown)): void {
  expect(known).toEqual(Object.fromEntries(keys.map((key) => [key, shown[key]])));
}

const seed = testSeed();

test.each(BOTH_PROFILES)(
  `a spot client under %s that only listens knows what REST shows (seed ${seed})`,
  (profile) => {
    const terms = { profile: STANDARD.SPOT, userId: "walk", omitZeroBalances: true };
    const sent = walkWith(
      SETUPS.SPOT,
      profile,
      seed,
      (account) => {
        const client = new SpotListener();
        for (const row of spot.presentAccount(account, terms).balances) client.balances.set(row.asset, row);
        return client;
      },
      ({ books, client }, events) => {
        for (const orderId of touchedOrders(events)) {
          const order = books.orders.get(orderId) as Order;
          const { collectiveId: _, ...shown } = spot.presentOrder("walk", order);
          // REST says it under strict alone.
          const { expiryReason, ...known } = client.orders.get(orderId) ?? {};
          expectKnown(profile === "strict" && expiryReason ? { ...known, expiryReason } : known, shown);
        }
        expect(client.orders.size).toBe(books.orders.size);
        expect(client.trades.length).toBe(books.trades.length);
        expect(client.trades.at(-1)).toEqual(
          books.trades.at(-1) && spot.presentTrade(books.trades.at(-1) as Trade),
        );
        const { balances } = spot.presentAccount(books.account, { ...terms, omitZeroBalances: false });
        expect([...client.balances.values()].toSorted(byAsset)).toEqual([...balances].sort(byAsset));
        expect(new Set(client.executionIds).size).toBe(client.executionIds.length);
      },
    );
    expect(sent.get("executionReport")).toBeGreaterThan(1_000);
    expect(sent.get("outboundAccountPosition")).toBeGreaterThan(1_000);
  },
);

test.each(BOTH_PROFILES)(
  `a futures client under %s that only listens knows what REST shows (seed ${seed})`,
  (profile) => {
    const sent = walkWith(
      SETUPS.FUTURES,
      profile,
      seed,
      (account) => {
        const client = new FuturesListener();
        client.wallet = walletOf(account);
        return client;
      },
      ({ books, client }, events, market) => {
        const digits = (symbol: string) => digitsOf(market.rules(symbol));
        for (const orderId of touchedOrders(events)) {
          const order = books.orders.get(orderId) as Order;
          const {
            cumQuote: _,
            attachedLegs: __,
            expiryReason: ___,
            ...shown
          } = futures.presentOrder({
            order,
            digits: digits(order.symbol),
          });
          const clientOrderId = order.type === "LIQUIDATION" ? `autoclose-${orderId}` : order.clientOrderId;
          expectKnown(client.orders.get(orderId), { ...shown, clientOrderId });
        }
        expect(client.orders.size).toBe(books.orders.size);
        for (const trade of events.flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : []))) {
          const { quoteQty: _, ...shown } = futures.presentTrade(trade, digits(trade.symbol));
          expect(client.trades[trade.tradeId - 1]).toEqual(shown);
        }
        for (const legId of touchedLegs(events)) {
          const leg = books.legs.get(legId) as Leg;
          const known = client.legs.get(legId);
          expectKnown(
            known,
            futures.presentLeg({ leg, digits: digits(leg.symbol) }),
            Object.keys(known ?? {}),
          );
        }
        expect(client.legs.size).toBe(books.legs.size);
        expect(client.wallet).toEqual(walletOf(books.account));
        expect(Object.fromEntries(client.leverages)).toEqual(Object.fromEntries(books.account.leverages));
        for (const symbol of new Set([...client.positions.keys(), ...books.account.positions.keys()])) {
          const known = client.positions.get(symbol);
          const shown = presentRisk(standingOf(books.account, symbol, market));
          // The profit is that of the mark price when it was sent; REST has the present one.
          const isPresent = events.some(
            (event) => event.type === "OrderFilled" && event.trade.symbol === symbol,
          );
          const keys = Object.keys(known ?? {}).filter((key) => isPresent || key !== "unRealizedProfit");
          expect(Object.fromEntries(keys.map((key) => [key, known?.[key]]))).toEqual(
            Object.fromEntries(keys.map((key) => [key, shown[key as keyof typeof shown]])),
          );
          if (books.account.positions.has(symbol)) expect(known).toBeDefined();
        }
      },
    );
    for (const name of ["ORDER_TRADE_UPDATE", "ACCOUNT_UPDATE", "TRADE_LITE", "ALGO_UPDATE"])
      expect(sent.get(name)).toBeGreaterThan(200);
    expect(sent.get("ACCOUNT_CONFIG_UPDATE")).toBeGreaterThan(20);
  },
);

function walletOf(account: Account): Row {
  const [{ asset, balance, crossWalletBalance } = {}] = presentBalances(account) as Row[];
  return { asset, balance, crossWalletBalance };
}

function touchedOrders(events: readonly DomainEvent[]): ReadonlySet<number> {
  return new Set(
    events.flatMap((event) => {
      if (event.type === "OrderPlaced") return [event.order.orderId];
      if (event.type === "OrderFilled") return [event.trade.orderId];
      return event.type !== "SignalExecuted" && "orderId" in event ? [event.orderId] : [];
    }),
  );
}

function touchedLegs(events: readonly DomainEvent[]): ReadonlySet<number> {
  return new Set(
    events.flatMap((event) => {
      if (event.type === "LegPlaced") return [event.leg.legId];
      return "legId" in event ? [event.legId] : [];
    }),
  );
}

function byAsset(one: Row, other: Row): number {
  return String(one.asset).localeCompare(String(other.asset));
}
