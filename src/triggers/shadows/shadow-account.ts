// An order on other terms, in an account of its own: alone, and with funds for whatever it costs. The engine
// decides it as it decides every order, so that no rule is written twice; nothing of it is committed. Source:
// strict fills, section 12.
import { type Account, emptyAccount, type Position, type StrategyType } from "../../domain/account.ts";
import type { Command, PlaceOrder } from "../../domain/command.ts";
import type { ConsumedLot } from "../../domain/consumed.ts";
import type { Alternative } from "../../domain/counterfactual.ts";
import { type FillProfile, STANDARD } from "../../domain/fill-profile.ts";
import type { Market } from "../../domain/market.ts";
import { isOpen, type Order, type OrderStatus } from "../../domain/order.ts";
import { isRefusal } from "../../domain/refusal.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { apply } from "../../engine/apply.ts";
import { decide } from "../../engine/decide.ts";
import type { CountedFill } from "../../engine/matching/counterfactual.ts";
import { type Amount, asAmount, decimal } from "../../money/decimal.ts";
import { emptyLedgerAccounts, type LedgerAccounts } from "../../money/posting.ts";

/** More of an asset than any order costs. */
const FUNDS = decimal<Amount>("1000000000000");

/** What the order finds of its strategy's account. */
export type Holdings = {
  /** Of the symbol: it decides what a futures order reduces. */
  readonly position: Position | null;
  readonly leverages: ReadonlyMap<string, number>;
  /** What the strategy took of the symbol's book lately. */
  readonly lots: readonly ConsumedLot[];
};

/** The market of a decision, and its time. */
export type ShadowMarket = Market & { now(): number };

export class ShadowAccount {
  /** Names the account, also among all others of a symbol. */
  readonly name: string;
  readonly alternative: Alternative;
  /** When the order is at the exchange, market time in Unix ms. */
  readonly arrivesAt: number;
  /** What it took of the book. */
  readonly lots: ConsumedLot[] = [];
  readonly fills: CountedFill[] = [];
  /** Since when it is decided, market time in Unix ms; null before. */
  placedAt: number | null = null;
  /** Null before its arrival, and for one that is refused. */
  order: Order | null = null;
  readonly #type: StrategyType;
  readonly #profile: FillProfile;
  #account: Account | null = null;

  constructor(name: string, type: StrategyType, own: FillProfile, alternative: Alternative, sentAt: number) {
    this.name = name;
    this.alternative = alternative;
    this.arrivesAt = sentAt + alternative.latencyMs;
    this.#type = type;
    this.#profile = alternative.profile === "standard" ? STANDARD[type] : own;
  }

  /** Whether the order waits in a queue, or for a price. */
  get isOpen(): boolean {
    return this.order !== null && isOpen(this.order);
  }

  /** REJECTED: it was refused. */
  get status(): OrderStatus {
    return this.order?.status ?? "REJECTED";
  }

  /** The order arrives. */
  place(command: PlaceOrder, holdings: Holdings, market: ShadowMarket): void {
    this.placedAt = market.now();
    const rules = market.rules(command.symbol);
    if (rules === null) return;
    this.#account = this.#accountFor(command, holdings, rules);
    const { latencyMs } = this.alternative;
    // Legs begin at the exchange, and are orders of their own.
    const entry = command.entry && { ...command.entry, attached: null };
    const { entry: _own, ...rest } = command;
    this.execute(
      { ...rest, ...(entry !== undefined && { entry }), latencyMs, arrivedAt: this.arrivesAt },
      market,
    );
  }

  /** Executes what happens to the order; what is refused changes nothing. */
  execute(command: Command, market: ShadowMarket): void {
    const account = this.#account;
    if (account === null) return;
    const decision = decide(account, command, { market, at: market.now() });
    if (isRefusal(decision)) return;
    for (const event of decision.events) {
      const { order } = apply(account, event);
      if (order !== null) this.order = order;
      if (event.type !== "OrderFilled") continue;
      const { price, quantity, quoteQuantity, fee, feeAsset, at } = event.trade;
      this.fills.push({ price, quantity, quoteQuantity, fee, feeAsset, at });
      if (event.consumed !== undefined) this.lots.push(event.consumed);
    }
  }

  #accountFor(
    { symbol, side, size }: PlaceOrder,
    { position, leverages, lots }: Holdings,
    { baseAsset, quoteAsset, contract }: SymbolRules,
  ): Account {
    const account = emptyAccount(this.name, this.#type);
    const give = (asset: string, given: Partial<LedgerAccounts>) =>
      account.balances.set(asset, { ...emptyLedgerAccounts(), ...given });
    account.profile = this.#profile;
    account.consumed = new Map([[symbol, lots]]);
    if (this.#type === "FUTURES") {
      account.leverages = leverages;
      if (position !== null) account.positions = new Map([[symbol, position]]);
      const isolated = position === null ? {} : { isolated: position.isolatedWallet };
      give(contract?.marginAsset ?? quoteAsset, { free: FUNDS, ...isolated });
    } else if (side === "BUY") give(quoteAsset, { free: FUNDS });
    // Only as much as it sells: a limit on what an account may hold is for buyers.
    else give(baseAsset, { free: "quantity" in size ? asAmount(size.quantity) : FUNDS });
    return account;
  }
}
