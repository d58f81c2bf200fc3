// Executes a scenario: one account and one market, and the steps that both strategy types have. The types add
// their own steps.
import type { Account, StrategyType } from "../../domain/account.ts";
import type { Command } from "../../domain/command.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import type { Quote } from "../../domain/market.ts";
import { TIMES_IN_FORCE, type TimeInForce } from "../../domain/order.ts";
import { MINUTE_MS, TEN_SECONDS_MS } from "../../domain/order-counts.ts";
import { isRefusal } from "../../domain/refusal.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { isPlausibleQuote, priceBoundsOf } from "../../market/client/symbols/plausibility.ts";
import { decimal, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { OWN_LEDGER_ACCOUNTS, WORLD_LEDGER_ACCOUNTS } from "../../money/posting.ts";
import { type Hit, triggersOf } from "../../triggers/trigger.ts";
import { commandOf } from "../../triggers/trigger-dispatcher.ts";
import { TriggerIndex } from "../../triggers/trigger-index.ts";
import { apply } from "../apply.ts";
import { decide } from "../decide.ts";
import { openStrategy } from "../open-strategy.ts";
import { inWords, refusalInWords } from "./event-words.ts";
import { MarketStub } from "./market-stub.ts";

/** A step of a scenario: its words after the first; answers with its outcome. */
export type Step = (bench: Workbench, words: readonly string[]) => string;

/** The parts of one strategy type. */
export type ScenarioSetup = {
  readonly type: StrategyType;
  readonly rules: readonly SymbolRules[];
  /** By their first words. */
  readonly steps: Readonly<Record<string, Step>>;
  /** An account's holdings, as the last column of a table shows them. */
  readonly held: (account: Account, market: MarketStub) => string;
  /** Of `strict`; `standard` where absent. */
  readonly profile?: FillProfile;
  /** What is in front of an open order, where that is followed. */
  readonly aheadOf?: (bench: Workbench, orderId: number) => Quantity | null | undefined;
};

export class Workbench {
  readonly market: MarketStub;
  readonly account: Account;
  /** Market time, Unix ms; every step takes one. */
  at = 0;
  readonly #setup: ScenarioSetup;
  /** Unconfirmed quotes by symbol: until one is confirmed the market shows no quote. */
  readonly #doubted = new Map<string, Quote>();

  constructor(setup: ScenarioSetup) {
    this.#setup = setup;
    this.market = new MarketStub(setup.rules);
    this.account = openStrategy("scenario", setup.type, this.at, setup.profile).account;
  }

  take(step: string): { readonly outcome: string; readonly held: string } {
    this.at += 1;
    const outcome = this.run(step.split(/\s+/));
    checkLedgerAccounts(this.account);
    return { outcome, held: this.#setup.held(this.account, this.market) };
  }

  /** Runs a step by its words, now. */
  run([verb = "", ...words]: readonly string[]): string {
    const carryOut = this.#setup.steps[verb] ?? STEPS[verb];
    if (carryOut === undefined) throw new Error(`there is no step ${JSON.stringify(verb)}`);
    return carryOut(this, words);
  }

  /** Decides and applies; answers in words what came of it. */
  carryOut(command: Command): string {
    const decision = decide(this.account, command, {
      market: this.market,
      at: this.at,
      ...(isPlacement(command) ? { admittedAt: this.at } : {}),
      aheadOf: (orderId) => this.#setup.aheadOf?.(this, orderId),
    });
    if (isRefusal(decision)) return refusalInWords(decision);
    for (const event of decision.events) apply(this.account, event);
    return inOrder(decision.events.map(inWords));
  }

  /** Executes triggered commands one after the other; those that find nothing to do have no outcome. */
  executeHits(hits: readonly Hit[]): string {
    return inOrder(
      hits
        .map((each) => this.carryOut(commandOf(each)[0]))
        .filter((outcome) => outcome !== "NOTHING_TO_FILL"),
    );
  }

  /**
   * The market quotes these prices, and meets the orders that they reach; unless they are far from what
   * confirms them.
   */
  quote(symbol: string, quote: Quote): string {
    this.#doubted.delete(symbol);
    if (!this.#isPlausible(symbol, quote)) {
      this.#doubted.set(symbol, quote);
      this.market.setQuote(symbol, null);
      return "nothing";
    }
    this.market.setQuote(symbol, quote);
    return this.executeHits(this.index().takeAtQuote(symbol, quote));
  }

  /**
   * A trade or a mark price has changed: a doubted quote is used if it lies near it, a present one is doubted
   * if not.
   */
  confirm(symbol: string): string {
    const quote = this.#doubted.get(symbol) ?? this.market.quote(symbol);
    if (quote === null) return "nothing";
    return this.#doubted.has(symbol) || !this.#isPlausible(symbol, quote)
      ? this.quote(symbol, quote)
      : "nothing";
  }

  /** As the feed judges: by the last trade, of a contract by its mark price too. */
  #isPlausible(symbol: string, quote: Quote): boolean {
    const { market } = this;
    const references = [market.lastPrice(symbol) ?? market.averagePrice(symbol), market.markPrice(symbol)];
    return isPlausibleQuote(quote, references, priceBoundsOf(market.rules(symbol)));
  }

  /** The trigger index of the account. */
  index(): TriggerIndex {
    const index = new TriggerIndex();
    const termsOf = (symbol: string) => this.market.rules(symbol)?.contract ?? null;
    for (const trigger of triggersOf(this.account, termsOf)) index.add(trigger);
    return index;
  }
}

const STEPS: Readonly<Record<string, Step>> = {
  quote: (bench, [symbol = "", bid = "", ask = ""]) =>
    bench.quote(symbol, { bid: decimal(bid), ask: decimal(ask) }),
  empty: (bench, [symbol = "", side]) => {
    const { bid = null, ask = null } = bench.market.quote(symbol) ?? {};
    return bench.quote(symbol, side === "bid" ? { bid: null, ask } : { bid, ask: null });
  },
  silent: quietly((market, [symbol = ""]) => market.setQuote(symbol, null)),
  halt: quietly((market, [symbol = ""]) => market.setStatus(symbol, "HALT")),
  resume: quietly((market, [symbol = ""]) => market.setStatus(symbol, "TRADING")),
  tick: quietly((market, [symbol = "", tickSize = ""]) =>
    market.changeRules(symbol, {
      priceFilter: { minPrice: ZERO, maxPrice: ZERO, tickSize: decimal(tickSize) },
    }),
  ),
  lot: quietly((market, [symbol = "", minQuantity = "", maxQuantity = "", stepSize = ""]) =>
    market.changeRules(symbol, {
      lotSize: {
        minQuantity: decimal(minQuantity),
        maxQuantity: decimal(maxQuantity),
        stepSize: decimal(stepSize),
      },
    }),
  ),
  cancel: (bench, [what = "", of = ""]) => bench.carryOut(cancellation(what, of)),
  busy: ({ account, at }, [placed = ""]) => {
    const inTenSeconds = wholeNumber(placed);
    account.orderCounts = {
      tenSeconds: Math.floor(at / TEN_SECONDS_MS),
      inTenSeconds,
      minute: Math.floor(at / MINUTE_MS),
      inMinute: inTenSeconds,
    };
    return "nothing";
  },
  close: (bench) => bench.carryOut({ type: "CloseStrategy" }),
};

/** A step that only changes the market. */
export function quietly(change: (market: MarketStub, words: readonly string[]) => void): Step {
  return ({ market }, words) => {
    change(market, words);
    return "nothing";
  };
}

/** The price after a word of a step, or null if there is none. */
export function priceAfter(word: string, words: readonly string[]): Price | null {
  const at = words.indexOf(word);
  return at === -1 ? null : decimal<Price>(words[at + 1] ?? "");
}

/** The time in force among the words of a step; GTC where there is none. */
export function timeInForceIn(words: readonly string[]): TimeInForce {
  return TIMES_IN_FORCE.find((each) => words.includes(each)) ?? "GTC";
}

function cancellation(what: string, of: string): Command {
  switch (what) {
    case "all":
      return { type: "CancelOpenOrders", symbol: of };
    case "leg":
      return { type: "CancelLeg", legId: wholeNumber(of) };
    case "legs":
      return { type: "CancelOpenLegs", symbol: of };
    default:
      return { type: "CancelOrder", orderId: wholeNumber(what) };
  }
}

export function wholeNumber(text: string): number {
  return Number.parseInt(text, 10);
}

function isPlacement({ type }: Command): boolean {
  return type === "PlaceOrder" || type === "PlaceLeg" || type === "ExecuteSignal";
}

export function inOrder(outcomes: readonly string[]): string {
  const told = outcomes.filter((outcome) => outcome !== "nothing");
  return told.length === 0 ? "nothing" : told.join(", then ");
}

/** Invariants of every account after every step. */
function checkLedgerAccounts({ balances, openOrders, positions }: Account): void {
  for (const [asset, ledgerAccounts] of balances) {
    const sum = [...OWN_LEDGER_ACCOUNTS, ...WORLD_LEDGER_ACCOUNTS].reduce(
      (total, ledgerAccount) => total + ledgerAccounts[ledgerAccount],
      0n,
    );
    if (sum !== 0n) throw new Error(`money moves only between ledger accounts: ${asset} is off by ${sum}`);
    const reserved = [...openOrders.values()]
      .filter(({ reservedAsset }) => reservedAsset === asset)
      .reduce((total, order) => total + order.reserved, 0n);
    if (reserved !== ledgerAccounts.locked) throw new Error(`locked is what orders reserve: ${asset}`);
  }
  const isolated = [...balances.values()].reduce(
    (total, ledgerAccounts) => total + ledgerAccounts.isolated,
    0n,
  );
  const wallets = [...positions.values()].reduce((total, { isolatedWallet }) => total + isolatedWallet, 0n);
  if (wallets !== isolated) throw new Error("isolated is what the wallets of positions hold");
}
