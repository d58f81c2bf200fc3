// The worst case that a copy's settings permit, as numbers and in words: the smallest price move that
// liquidates a position of the largest permitted size at the copied leverage, and the value of all positions
// together. Pure. It is no forecast: fees, funding, price jumps and slippage make a loss larger. Source:
// reference exchange, section 15 (isolated margin), by `engine/futures/margin.ts`.

import type { StrategyType } from "../../domain/account.ts";
import { COPY_QUOTE_ASSET, type CopySettings } from "../../domain/copying.ts";
import type { ContractTerms, SymbolRules } from "../../domain/symbol.ts";
import { initialMargin, liquidationPrice, notionalMaxAt } from "../../engine/futures/margin.ts";
import {
  type Amount,
  atLeastZero,
  divideDown,
  formatBriefly,
  least,
  magnitude,
  type Price,
  product,
  type Quantity,
  type Rate,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { copiedLeverage } from "./scale-order.ts";

export type WorstCaseInput = {
  readonly type: StrategyType;
  readonly settings: CopySettings;
  /** The copy's funds, in the quote asset. */
  readonly equity: Amount;
  /** Contracts that the strategy holds or has traded: the venue's rules, and the strategy's leverage. */
  readonly contracts: readonly { readonly rules: SymbolRules; readonly leverage: number }[];
};

export type WorstCase = {
  /**
   * The contract whose position is liquidated by the smallest move; null on spot, and where no contract is
   * known.
   */
  readonly liquidation: Liquidation | null;
  /**
   * The highest value of all positions, as a multiple of the equity and in the quote asset; null where no
   * leverage is known.
   */
  readonly exposure: { readonly multiple: Rate; readonly value: Amount } | null;
};
export type Liquidation = {
  readonly symbol: string;
  /** The copied leverage, and the strategy's own. */
  readonly leverage: number;
  readonly leadLeverage: number;
  /** The adverse move, as a share of the entry price. */
  readonly move: Rate;
  /** The loss: the margin of the position. */
  readonly loss: Amount;
};

/** How far a price moves does not depend on the price. */
const ENTRY = SCALE as Price;
const ONE = SCALE as Rate;

export function worstCase(input: WorstCaseInput): WorstCase {
  const { type, settings, equity } = input;
  if (type === "SPOT") return { liquidation: null, exposure: exposureOf(settings, equity, 1) };
  const found = input.contracts
    .flatMap((contract) => liquidationOf(input, contract))
    .sort((one, other) => (one.move < other.move ? -1 : one.move > other.move ? 1 : 0));
  const highest = found.reduce((most, { leverage }) => Math.max(most, leverage), 0);
  return {
    liquidation: found[0] ?? null,
    exposure: highest === 0 ? null : exposureOf(settings, equity, highest),
  };
}

/** Of the largest permitted position, with at most the whole equity as its margin. */
function liquidationOf(
  { settings, equity }: WorstCaseInput,
  { rules, leverage: leadLeverage }: WorstCaseInput["contracts"][number],
): readonly Liquidation[] {
  const leverage = copiedLeverage({ leverage: leadLeverage }, rules, settings);
  if (leverage === null || rules.contract === null) return [];
  const multiple = lowestOf([BigInt(leverage) * SCALE, settings.positionMax, settings.exposureMax]);
  const permitted = divideDown(equity * multiple, SCALE) as Amount;
  // Without money any size will do: the rate of the first bracket.
  const size = permitted > 0n ? least(permitted, notionalMaxAt(leverage, rules.contract)) : (ENTRY as bigint);
  const quantity = size as Quantity;
  const loss = permitted > 0n ? initialMargin(ENTRY, quantity, leverage) : ZERO;
  const moves = [quantity, -quantity as Quantity].map((each) => moveOf(each, leverage, rules.contract));
  return [{ symbol: rules.symbol, leverage, leadLeverage, move: lowestOf(moves), loss }];
}

/** How far the price may move against a position before it is liquidated. */
function moveOf(quantity: Quantity, leverage: number, contract: ContractTerms | null): Rate {
  const size = magnitude(quantity);
  const position = {
    ...{ symbol: "", quantity, entryValue: product(ENTRY, size), burden: ZERO, openedAt: 0, updatedAt: 0 },
    isolatedWallet: initialMargin(ENTRY, size, leverage),
  };
  const price = contract === null ? null : liquidationPrice(position, contract);
  // Without borrowed money a long is lost with the whole price only.
  if (price === null) return ONE;
  const move = quantity > 0n ? subtract(ENTRY, price) : subtract(price, ENTRY);
  return atLeastZero(move) as bigint as Rate;
}

function exposureOf(settings: CopySettings, equity: Amount, leverage: number): WorstCase["exposure"] {
  const multiple = lowestOf([BigInt(leverage) * SCALE, settings.exposureMax]);
  return { multiple, value: divideDown(equity * multiple, SCALE) as Amount };
}

function lowestOf(rates: readonly (bigint | null)[]): Rate {
  const known = rates.filter((rate) => rate !== null);
  return known.reduce((one, other) => (one < other ? one : other)) as Rate;
}

/** One sentence each, for the person choosing the settings. */
export function worstCaseWords(
  { liquidation, exposure }: WorstCase,
  { type, settings }: Pick<WorstCaseInput, "type" | "settings">,
): readonly string[] {
  const { stopLoss } = settings;
  return [
    ...(liquidation === null ? [] : [liquidationWords(liquidation, settings)]),
    ...(exposure === null ? [] : [exposureWords(exposure, type)]),
    stopLoss === null
      ? "There is no stop loss: the copy can lose all that it uses."
      : `The stop loss closes everything once ${perCent(stopLoss)} % are lost; in a fast market the loss can be larger.`,
  ];
}

function liquidationWords(
  { symbol, leverage, leadLeverage, move, loss }: Liquidation,
  { leverageMax }: CopySettings,
): string {
  const isCapped = leverage < leadLeverage && leverage === leverageMax;
  const at = isCapped
    ? `At leverage ${leverage}, your maximum (the strategy uses ${leadLeverage})`
    : leverageMax === null
      ? `At leverage ${leverage} without a cap`
      : `At leverage ${leverage}, the strategy's own`;
  return `${at}, a move of about ${perCent(move)} % would liquidate the position in ${symbol}: ${moneyOf(loss)} would be lost.`;
}

function exposureWords({ multiple, value }: NonNullable<WorstCase["exposure"]>, type: StrategyType): string {
  const times = formatBriefly(multiple);
  return type === "SPOT"
    ? `On spot nothing is borrowed: the copy can hold coins for up to ${moneyOf(value)}, and cannot be liquidated.`
    : `All positions together may be worth up to ${times} times the equity, ${moneyOf(value)}: a move of 1 % against all of them costs ${times} % of it.`;
}

function moneyOf(amount: Amount): string {
  return `${formatBriefly(divideDown(amount, CENT) * CENT)} ${COPY_QUOTE_ASSET}`;
}
const CENT = 1_000_000n;

/** In per cent, to the nearest tenth. */
function perCent(rate: Rate): string {
  return formatBriefly(divideDown(rate * 100n + TENTH / 2n, TENTH) * TENTH);
}
const TENTH = 10_000_000n;
