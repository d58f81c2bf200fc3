// How copies, their logs and what leads did are written into rows: JSON with decimals as brief decimal text,
// and maps as lists of pairs, which keep their order whatever a symbol is called. What is null is left out of
// an entry: most of its parts are.
import {
  BLANK_ENTRY,
  type CopyBook,
  type CopySettings,
  EXACT_SETTINGS,
  type LeadAction,
  type MirrorEntry,
} from "../../domain/copying.ts";
import { decimal, formatBriefly, type Quantity } from "../../money/decimal.ts";

/**
 * How a part is read that JSON has in another form: DECIMAL, or WHOLE for a bigint that counts something; of a
 * map how its values are. The compiler demands an entry for every such part, of each member of a union.
 * `never`: JSON holds the value unchanged.
 */
type Form<T> = [bigint] extends [T]
  ? "WHOLE"
  : [T] extends [bigint]
    ? "DECIMAL"
    : [T] extends [ReadonlyMap<string, infer Value>]
      ? { readonly mapOf: Form<Value> }
      : [T] extends [readonly unknown[]]
        ? never
        : [T] extends [object]
          ? Some<{
              readonly [K in KeyOf<T> as [Form<Part<T, K>>] extends [never] ? never : K]: Form<Part<T, K>>;
            }>
          : never;
type KeyOf<T> = T extends unknown ? keyof T : never;
type Part<T, K> = T extends unknown ? (K extends keyof T ? NonNullable<T[K]> : never) : never;
type Some<T> = [keyof T] extends [never] ? never : T;
type AnyForm = "DECIMAL" | "WHOLE" | { readonly [name: string]: AnyForm };
// biome-ignore lint/suspicious/noExplicitAny: what is parsed was written here.
type Parsed = any;

const SETTINGS: Form<CopySettings> = {
  share: "DECIMAL",
  maxPerOrder: "DECIMAL",
  stopLoss: "DECIMAL",
  takeProfit: "DECIMAL",
  size: { ratio: "DECIMAL", amount: "DECIMAL" },
  budget: "DECIMAL",
  positionMax: "DECIMAL",
  exposureMax: "DECIMAL",
  lossPerDayMax: "DECIMAL",
  slippageMax: { major: "DECIMAL", other: "DECIMAL" },
};

const BOOK: Form<CopyBook> = {
  holdings: { mapOf: { quantity: "DECIMAL", cost: "DECIMAL", target: "DECIMAL" } },
  realized: "DECIMAL",
  fees: "DECIMAL",
  startEquity: "DECIMAL",
  startShare: "DECIMAL",
  stopBase: "DECIMAL",
  snapshot: {
    ...{ wallet: "DECIMAL", available: "DECIMAL", equity: "DECIMAL" },
    ...{ held: { mapOf: "DECIMAL" }, foreign: { mapOf: "DECIMAL" } },
  },
  profitMark: { mark: "DECIMAL" },
  dayStart: { equity: "DECIMAL" },
};

const ENTRY: Form<MirrorEntry> = {
  skip: { wanted: "DECIMAL", had: "DECIMAL", bound: "DECIMAL" },
  leadQuantity: "DECIMAL",
  leadPrice: "DECIMAL",
  // Both sides are whole numbers of whatever unit they share.
  scale: { ours: "WHOLE", theirs: "WHOLE" },
  scaledQuantity: "DECIMAL",
  quantity: "DECIMAL",
  price: "DECIMAL",
  stopPrice: "DECIMAL",
  executedQuantity: "DECIMAL",
  executedQuote: "DECIMAL",
  fee: "DECIMAL",
  retained: "DECIMAL",
  profitShare: { profit: "DECIMAL", mark: "DECIMAL", share: "DECIMAL" },
};

const ACTION: Form<LeadAction> = {
  quantity: "DECIMAL",
  price: "DECIMAL",
  stopPrice: "DECIMAL",
  triggerPrice: "DECIMAL",
  filled: { quantity: "DECIMAL", price: "DECIMAL" },
  lead: {
    wallet: "DECIMAL",
    held: { mapOf: "DECIMAL" },
    lastPrices: { mapOf: "DECIMAL" },
    promised: { mapOf: "DECIMAL" },
  },
};

export function encodeSettings(settings: CopySettings): string {
  return encoded(settings);
}

/** What a row that was written before a setting existed lacks, is as in a copy that follows exactly. */
export function decodeSettings(text: string): CopySettings {
  return { ...EXACT_SETTINGS, ...decoded(text, SETTINGS) };
}

export function encodeBook(book: CopyBook): string {
  return encoded(book);
}

/** Books stored before `startShare` and `stopBase` existed have neither. */
export function decodeBook(text: string): CopyBook {
  return { startShare: null, stopBase: null, ...decoded(text, BOOK) };
}

/** The part of an entry that its row's body carries: all but its place in the log. */
export function encodeEntry(entry: MirrorEntry): string {
  const { copyId: _copy, entryId: _place, scale, ...parts } = entry;
  const known = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null));
  if (scale === null) return encoded(known);
  return encoded({ ...known, scale: { ...scale, ours: String(scale.ours), theirs: String(scale.theirs) } });
}

export function decodeEntry(place: Pick<MirrorEntry, "copyId" | "entryId">, body: string): MirrorEntry {
  return { ...BLANK_ENTRY, ...decoded(body, ENTRY), ...place };
}

/** The part of an action that its row's body carries: all but its place among the actions. */
export function encodeAction({ seq: _seq, version: _version, ...parts }: LeadAction): string {
  return encoded(parts);
}

/** Actions stored before `promised` existed promise nothing. */
export function decodeAction(place: Pick<LeadAction, "seq" | "version">, body: string): LeadAction {
  const { lead, ...deed } = decoded(body, ACTION);
  return { ...deed, lead: { promised: new Map(), ...lead }, ...place };
}

function encoded(parts: object): string {
  return JSON.stringify(storable(parts));
}

/** A value as JSON can hold it. A replacer of `JSON.stringify` would do the same in twice the time. */
function storable(part: Parsed): Parsed {
  if (typeof part === "bigint") return formatBriefly(part as Quantity);
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map(storable);
  if (part instanceof Map) return Array.from(part, ([name, value]) => [name, storable(value)]);
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, storable(value)]));
}

function decoded(text: string, form: AnyForm): Parsed {
  return revived(JSON.parse(text), form);
}

function revived(stored: Parsed, form: AnyForm): Parsed {
  if (stored === null || stored === undefined) return stored;
  if (form === "DECIMAL") return decimal(stored);
  if (form === "WHOLE") return BigInt(stored);
  const { mapOf } = form;
  if (mapOf !== undefined)
    return new Map(stored.map(([name, value]: Parsed) => [name, revived(value, mapOf)]));
  for (const [name, part] of Object.entries(form)) {
    if (stored[name] !== undefined) stored[name] = revived(stored[name], part);
  }
  return stored;
}
