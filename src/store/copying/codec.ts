// How copies, their logs and what leads did are written into rows (`stored-forms.ts`). What is null is left
// out of an entry: most of its parts are.
import {
  BLANK_ENTRY,
  type CopyBook,
  type CopySettings,
  EXACT_SETTINGS,
  type LeadAction,
  type MirrorEntry,
} from "../../domain/copying.ts";
import { decoded, encoded, type Form } from "../stored-forms.ts";

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
  holdings: { mapOf: { quantity: "DECIMAL", cost: "DECIMAL", target: "DECIMAL", ahead: "DECIMAL" } },
  realized: "DECIMAL",
  fees: "DECIMAL",
  startEquity: "DECIMAL",
  startShare: "DECIMAL",
  startBudget: "DECIMAL",
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
  leadExecuted: "DECIMAL",
  profitShare: { profit: "DECIMAL", mark: "DECIMAL", share: "DECIMAL" },
};

const ACTION: Form<LeadAction> = {
  quantity: "DECIMAL",
  executed: "DECIMAL",
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
  return encoded(settings, SETTINGS);
}

/** What a row that was written before a setting existed lacks, is as in a copy that follows exactly. */
export function decodeSettings(text: string): CopySettings {
  return { ...EXACT_SETTINGS, ...decoded(text, SETTINGS) };
}

export function encodeBook(book: CopyBook): string {
  return encoded(book, BOOK);
}

/** Books stored before `startShare` and `stopBase` existed have neither. */
export function decodeBook(text: string): CopyBook {
  return { startShare: null, stopBase: null, ...decoded(text, BOOK) };
}

/** The part of an entry that its row's body carries: all but its place in the log. */
export function encodeEntry(entry: MirrorEntry): string {
  const { copyId: _copy, entryId: _place, ...parts } = entry;
  return encoded(Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null)), ENTRY);
}

export function decodeEntry(place: Pick<MirrorEntry, "copyId" | "entryId">, body: string): MirrorEntry {
  return { ...BLANK_ENTRY, ...decoded(body, ENTRY), ...place };
}

/** The part of an action that its row's body carries: all but its place among the actions. */
export function encodeAction({ seq: _seq, version: _version, ...parts }: LeadAction): string {
  return encoded(parts, ACTION);
}

/** Actions stored before `promised` existed promise nothing. */
export function decodeAction(place: Pick<LeadAction, "seq" | "version">, body: string): LeadAction {
  const { lead, ...intent } = decoded(body, ACTION);
  return { ...intent, lead: { promised: new Map(), ...lead }, ...place };
}
