// How copies, their logs and what leads did are written into rows: JSON with decimals as brief decimal text, and maps as lists of
// pairs, which keep their order whatever a symbol is called. What is null is left out of an entry: most of its parts are.
import {
  type CopyBook,
  type CopySettings,
  EXACT_SETTINGS,
  type Holding,
  type LeadAction,
  type LeadDeed,
  type LeadState,
  type MirrorEntry,
  type Scale,
  type Skip,
  type VenueSnapshot,
} from "../../domain/copying.ts";
import { type Amount, type Decimal, decimal, formatBriefly, type Rate } from "../../money/decimal.ts";

/** A value with its own names, and something else under each of them: the compiler asks for every name that there is. */
type Named<T> = { readonly [K in keyof T]: unknown };
// biome-ignore lint/suspicious/noExplicitAny: what is parsed was written here.
type Parsed = any;

/** The parts of settings that are decimals. */
const SETTINGS_DECIMALS: { readonly [K in DecimalPart<CopySettings>]: true } = {
  share: true,
  maxPerOrder: true,
  stopLoss: true,
  takeProfit: true,
  budget: true,
  positionMax: true,
  exposureMax: true,
  lossPerDayMax: true,
};
const SIZE_DECIMALS = { ratio: true, amount: true };
const SLIPPAGE_DECIMALS = { major: true, other: true };

export function encodeSettings(settings: CopySettings): string {
  const { size, slippageMax } = settings;
  return JSON.stringify({
    ...withTexts(settings),
    size: withTexts(size),
    slippageMax: slippageMax && withTexts(slippageMax),
  });
}

/** What a row that was written before a setting existed lacks, is as in a copy that follows exactly. */
export function decodeSettings(text: string): CopySettings {
  const { size, slippageMax, ...parts }: Parsed = JSON.parse(text);
  return {
    ...EXACT_SETTINGS,
    ...withDecimals(parts, SETTINGS_DECIMALS),
    ...(size !== undefined && { size: withDecimals(size, SIZE_DECIMALS) as CopySettings["size"] }),
    ...(slippageMax != null && {
      slippageMax: withDecimals(slippageMax, SLIPPAGE_DECIMALS) as CopySettings["slippageMax"],
    }),
  };
}

export function encodeBook(book: CopyBook): string {
  const {
    holdings,
    realized,
    fees,
    startEquity,
    startShare,
    stopBase,
    snapshot,
    nextEntryId,
    takenSeq,
    profitMark,
    dayStart,
  } = book;
  return JSON.stringify({
    holdings: [...holdings].map(([symbol, holding]) => [symbol, storedHolding(holding)]),
    realized: formatBriefly(realized),
    fees: formatBriefly(fees),
    startEquity: textOrNull(startEquity),
    startShare: textOrNull(startShare),
    stopBase: textOrNull(stopBase),
    snapshot: snapshot && storedSnapshot(snapshot),
    nextEntryId,
    takenSeq,
    profitMark: profitMark && { ...profitMark, mark: formatBriefly(profitMark.mark) },
    dayStart: dayStart && { ...dayStart, equity: formatBriefly(dayStart.equity) },
  } satisfies Named<CopyBook>);
}

export function decodeBook(text: string): CopyBook {
  const {
    holdings,
    realized,
    fees,
    startEquity,
    startShare,
    stopBase,
    snapshot,
    nextEntryId,
    takenSeq,
    profitMark,
    dayStart,
  }: Parsed = JSON.parse(text);
  return {
    holdings: new Map(holdings.map(([symbol, stored]: Parsed) => [symbol, reviveHolding(stored)])),
    realized: decimal(realized),
    fees: decimal(fees),
    startEquity: decimalOrNull<Amount>(startEquity),
    // Books that were written before it was noted have none.
    startShare: decimalOrNull<Rate>(startShare ?? null),
    stopBase: decimalOrNull<Amount>(stopBase ?? null),
    snapshot: snapshot && reviveSnapshot(snapshot),
    nextEntryId,
    ...(takenSeq !== undefined && { takenSeq }),
    ...(profitMark !== undefined && {
      profitMark: { ...profitMark, mark: decimal<Amount>(profitMark.mark) },
    }),
    ...(dayStart !== undefined && { dayStart: { ...dayStart, equity: decimal<Amount>(dayStart.equity) } }),
  };
}

function storedHolding({ quantity, cost, target }: Holding): Named<Holding> {
  return {
    quantity: formatBriefly(quantity),
    cost: formatBriefly(cost),
    ...(target !== undefined && { target: formatBriefly(target) }),
  };
}

function reviveHolding({ quantity, cost, target }: Parsed): Holding {
  return {
    quantity: decimal(quantity),
    cost: decimal(cost),
    ...(target !== undefined && { target: decimal(target) }),
  };
}

function storedSnapshot({ at, wallet, available, equity, held }: VenueSnapshot): Named<VenueSnapshot> {
  return {
    at,
    wallet: formatBriefly(wallet),
    available: formatBriefly(available),
    equity: formatBriefly(equity),
    held: pairsOf(held),
  };
}

function reviveSnapshot({ at, wallet, available, equity, held }: Parsed): VenueSnapshot {
  return {
    at,
    wallet: decimal(wallet),
    available: decimal(available),
    equity: decimal(equity),
    held: mapOf(held),
  };
}

/** The parts of an entry that are decimals. */
const ENTRY_DECIMALS: { readonly [K in DecimalPart<MirrorEntry>]: true } = {
  leadQuantity: true,
  leadPrice: true,
  scaledQuantity: true,
  quantity: true,
  price: true,
  stopPrice: true,
  executedQuantity: true,
  executedQuote: true,
  fee: true,
};
const PROFIT_SHARE_DECIMALS = { profit: true, mark: true, share: true };
type DecimalPart<T> = { [K in keyof T]-?: T[K] extends bigint | null ? K : never }[keyof T];

/** The parts of an entry that there need not be. */
const ENTRY_WITHOUT: { readonly [K in NullablePart<MirrorEntry>]: null } = {
  seq: null,
  requestId: null,
  collectiveId: null,
  symbol: null,
  skip: null,
  side: null,
  orderType: null,
  leadQuantity: null,
  leadPrice: null,
  scale: null,
  scaledQuantity: null,
  quantity: null,
  price: null,
  stopPrice: null,
  clientOrderId: null,
  venueOrderId: null,
  sentAt: null,
  acknowledgedAt: null,
};
type NullablePart<T> = { [K in keyof T]-?: null extends T[K] ? K : never }[keyof T];

/** The part of an entry that its row's body carries: all but its place in the log. */
export function encodeEntry(entry: MirrorEntry): string {
  const { copyId: _copy, entryId: _place, skip, scale, profitShare, ...parts } = entry;
  const known = Object.entries(parts).filter(([, part]) => part !== null);
  return JSON.stringify({
    ...withTexts(Object.fromEntries(known)),
    ...(skip !== null && { skip: storedSkip(skip) }),
    ...(scale !== null && { scale: storedScale(scale) }),
    ...(profitShare !== undefined && { profitShare: withTexts(profitShare) }),
  });
}

export function decodeEntry(place: Pick<MirrorEntry, "copyId" | "entryId">, body: string): MirrorEntry {
  const { skip, scale, retained, profitShare, ...parts }: Parsed = JSON.parse(body);
  return {
    ...ENTRY_WITHOUT,
    ...withDecimals(parts, ENTRY_DECIMALS),
    ...(retained !== undefined && { retained: decimal(retained) }),
    ...(skip !== undefined && { skip: reviveSkip(skip) }),
    ...(scale !== undefined && { scale: reviveScale(scale) }),
    ...(profitShare !== undefined && { profitShare: withDecimals(profitShare, PROFIT_SHARE_DECIMALS) }),
    ...place,
  } as MirrorEntry;
}

function storedSkip({ wanted, had, bound, ...others }: Skip): Named<Skip> {
  return {
    ...others,
    wanted: textOrNull(wanted),
    had: textOrNull(had),
    ...(bound !== undefined && { bound: formatBriefly(bound) }),
  };
}

function reviveSkip({ wanted, had, bound, ...others }: Parsed): Skip {
  return {
    ...others,
    wanted: decimalOrNull(wanted),
    had: decimalOrNull(had),
    ...(bound !== undefined && { bound: decimal(bound) }),
  };
}

/** Both sides of a scale are whole numbers of whatever unit they share. */
function storedScale({ by, ours, theirs }: Scale): Named<Scale> {
  return { by, ours: String(ours), theirs: String(theirs) };
}

function reviveScale({ by, ours, theirs }: Parsed): Scale {
  return { by, ours: BigInt(ours), theirs: BigInt(theirs) };
}

/** The parts of deeds that are decimals. */
const DEED_DECIMALS: { readonly [K in DecimalPartOfAny<LeadDeed>]: true } = {
  quantity: true,
  price: true,
  stopPrice: true,
  triggerPrice: true,
};
type DecimalPartOfAny<T> = T extends unknown ? DecimalPart<T> : never;
const FILLED_DECIMALS = { quantity: true, price: true };

/** The part of an action that its row's body carries: all but its place among the actions. */
export function encodeAction({ seq: _seq, version: _version, lead, ...deed }: LeadAction): string {
  const filled = "filled" in deed && { filled: deed.filled && withTexts(deed.filled) };
  return JSON.stringify({ ...withTexts(deed), ...filled, lead: storedLead(lead) });
}

export function decodeAction(place: Pick<LeadAction, "seq" | "version">, body: string): LeadAction {
  const { lead, filled, ...deed }: Parsed = JSON.parse(body);
  return {
    ...withDecimals(deed, DEED_DECIMALS),
    ...(filled !== undefined && { filled: filled && withDecimals(filled, FILLED_DECIMALS) }),
    lead: reviveLead(lead),
    ...place,
  } as LeadAction;
}

function storedLead({ wallet, held, lastPrices, promised }: LeadState): Named<LeadState> {
  return {
    wallet: formatBriefly(wallet),
    held: pairsOf(held),
    lastPrices: pairsOf(lastPrices),
    promised: pairsOf(promised),
  };
}

function reviveLead({ wallet, held, lastPrices, promised }: Parsed): LeadState {
  return {
    wallet: decimal(wallet),
    held: mapOf(held),
    lastPrices: mapOf(lastPrices),
    // Of actions that were written before it was noted nothing is known to be promised.
    promised: mapOf(promised ?? []),
  };
}

/** With text for every decimal. */
function withTexts(parts: object): Record<string, unknown> {
  const texts = Object.entries(parts).map(([name, part]) => [
    name,
    typeof part === "bigint" ? formatBriefly(part) : part,
  ]);
  return Object.fromEntries(texts);
}

/** With decimals again for those texts that are. */
function withDecimals(parts: Parsed, decimals: Readonly<Record<string, true | boolean>>): object {
  for (const name of Object.keys(decimals)) {
    if (typeof parts[name] === "string") parts[name] = decimal(parts[name]);
  }
  return parts;
}

function pairsOf(values: ReadonlyMap<string, Decimal>): (readonly [string, string])[] {
  return [...values].map(([name, value]) => [name, formatBriefly(value)] as const);
}

function mapOf<D extends Decimal>(pairs: readonly (readonly [string, string])[]): Map<string, D> {
  return new Map(pairs.map(([name, text]) => [name, decimal<D>(text)]));
}

function textOrNull(value: Decimal | null): string | null {
  return value === null ? null : formatBriefly(value);
}

function decimalOrNull<D extends Decimal>(text: string | null): D | null {
  return text === null ? null : decimal(text);
}
