// Recomputes what a futures strategy must have without the program's own arithmetic: positions and realized
// profit from its trades, the wallet from its incomes, and compares both with its ledger accounts.
import { ceil, floor, least, magnitude, signedUnits, sum } from "../../support/exact.ts";
import { isOpen, type StoredPosition, type StoredStrategy, type StoredTrade } from "./stored-rows.ts";

const ASSET = "USDT";
/** What a futures strategy starts with. Source: specification section 1. */
const SEED = signedUnits("1000");
/** Hundredths of a percent. Source: specification section 1. */
const FEES = { taker: 5n, maker: 2n };
const BASIS_POINTS = 10_000n;
const SCALE = 10n ** 8n;

type Held = { quantity: bigint; entryValue: bigint };

/** What is wrong with the books of a futures strategy. */
export function futuresFaults(strategy: StoredStrategy): string[] {
  return [
    ...feeFaults(strategy),
    ...positionFaults(strategy),
    ...incomeFaults(strategy),
    ...ledgerAccountFaults(strategy),
  ];
}

/** A liquidation pays no commission. */
function feeFaults({ orders, trades }: StoredStrategy): string[] {
  const liquidations = new Set(
    orders.flatMap(({ type, orderId }) => (type === "LIQUIDATION" ? [orderId] : [])),
  );
  return trades.flatMap(({ tradeId, orderId, price, quantity, fee, feeAsset, isMaker }) => {
    const rate = liquidations.has(orderId) ? 0n : isMaker ? FEES.maker : FEES.taker;
    const expected = ceil(signedUnits(price) * signedUnits(quantity) * rate, SCALE * BASIS_POINTS);
    if (signedUnits(fee) === expected && feeAsset === ASSET) return [];
    return [`trade ${tradeId} cost ${fee} ${feeAsset}, not ${expected} units of ${ASSET}`];
  });
}

/** Positions are what the trades left of them, and each trade realized what its closing part gained. */
function positionFaults({ trades, state: { positions = [] } }: StoredStrategy): string[] {
  const faults: string[] = [];
  const held = new Map<string, Held>();
  for (const trade of trades) {
    const before = held.get(trade.symbol) ?? { quantity: 0n, entryValue: 0n };
    const { after, realized } = traded(before, trade);
    held.set(trade.symbol, after);
    if (signedUnits(trade.realizedPnl ?? "0") !== realized) {
      faults.push(`trade ${trade.tradeId} realised ${trade.realizedPnl}, not ${realized} units`);
    }
  }
  const stored = new Map<string, StoredPosition>(positions.map((position) => [position.symbol, position]));
  for (const symbol of new Set([...held.keys(), ...stored.keys()])) {
    const { quantity, entryValue } = held.get(symbol) ?? { quantity: 0n, entryValue: 0n };
    const position = stored.get(symbol);
    const isSame =
      signedUnits(position?.quantity ?? "0") === quantity && BigInt(position?.entryValue ?? 0) === entryValue;
    if (!isSame) {
      faults.push(
        `of ${symbol} ${JSON.stringify(position)} is held, not ${quantity} units for ${entryValue}`,
      );
    }
  }
  return faults;
}

/** The closing part first, by its share of what was paid; whatever exceeds it opens. */
function traded({ quantity, entryValue }: Held, trade: StoredTrade): { after: Held; realized: bigint } {
  const price = signedUnits(trade.price);
  const size = signedUnits(trade.quantity);
  const direction = trade.side === "BUY" ? 1n : -1n;
  const isClosing = quantity * direction < 0n;
  const closed = isClosing ? least(size, magnitude(quantity)) : 0n;
  const share = closed === 0n ? 0n : (entryValue * closed) / magnitude(quantity);
  const gained = (price * closed - share) * (quantity > 0n ? 1n : -1n);
  return {
    after: {
      quantity: quantity + direction * size,
      entryValue: entryValue - share + price * (size - closed),
    },
    realized: closed === 0n ? 0n : floor(gained, SCALE),
  };
}

/** Incomes say what the trades say, and their sum is the wallet. */
function incomeFaults({ trades, incomes, state }: StoredStrategy): string[] {
  const of = (wanted: string) =>
    sum(incomes.filter(({ type }) => type === wanted).map(({ amount }) => signedUnits(amount)));
  const { free, locked, isolated } = ledgerAccountsOf(state.balances[ASSET]);
  const expectations: readonly (readonly [string, bigint, bigint])[] = [
    ["the seed", of("TRANSFER"), SEED],
    [
      "what was realised",
      of("REALIZED_PNL"),
      sum(trades.map((each) => signedUnits(each.realizedPnl ?? "0"))),
    ],
    ["the fees", of("COMMISSION"), -sum(trades.map(({ fee }) => signedUnits(fee)))],
    ["the wallet", sum(incomes.map(({ amount }) => signedUnits(amount))), free + locked + isolated],
  ];
  return expectations.flatMap(([what, told, expected]) =>
    told === expected ? [] : [`incomes say ${told} units for ${what}, not ${expected}`],
  );
}

function ledgerAccountFaults({ orders, state: { balances, positions = [] } }: StoredStrategy): string[] {
  const faults: string[] = [];
  for (const [asset, stored] of Object.entries(balances)) {
    const total = sum(Object.values(stored).map(signedUnits));
    if (total !== 0n) faults.push(`the ledger accounts of ${asset} add up to ${total} units`);
  }
  const { free, locked, isolated } = ledgerAccountsOf(balances[ASSET]);
  if (free < 0n || locked < 0n || isolated < 0n) faults.push("a ledger account of one's own is overdrawn");
  const reserved = sum(orders.filter(isOpen).map((order) => signedUnits(order.reserved)));
  if (locked !== reserved) faults.push(`${locked} units are locked, and orders reserve ${reserved}`);
  const wallets = sum(positions.map(({ isolatedWallet }) => signedUnits(isolatedWallet)));
  if (isolated !== wallets) faults.push(`${isolated} units are isolated, and positions have ${wallets}`);
  return faults;
}

function ledgerAccountsOf(stored: Readonly<Record<string, string>> = {}) {
  const { free = "0", locked = "0", isolated = "0" } = stored;
  return { free: signedUnits(free), locked: signedUnits(locked), isolated: signedUnits(isolated) };
}
