// The settings of a copy as a form has them, texts with shares in per cent, and as the server takes them,
// shares of one. Exact both ways. An empty text sets no limit.
import type { CopySettingsJson, StrategyType } from "../../../src/dashboard-api/schemas.ts";
import { compare, isDecimal, multiply, perCent, signOf, trimZeros } from "../ui/figures/decimals.ts";

export type SizeBy = CopySettingsJson["size"]["by"];

export type SettingsForm = {
  /** Per cent of the balance. */
  readonly share: string;
  /** USDT. */
  readonly maxPerOrder: string;
  /** Per cent of the equity that the copy began with. */
  readonly stopLoss: string;
  readonly takeProfit: string;
  readonly sizeBy: SizeBy;
  /**
   * A multiple of the strategy's quantity, or USDT, as `sizeBy` says; without meaning where that is RATIO.
   */
  readonly sizeFigure: string;
  /** USDT. */
  readonly budget: string;
  readonly leverageMax: string;
  /** Multiples of the copy's equity. */
  readonly positionMax: string;
  readonly exposureMax: string;
  readonly ordersPerMinuteMax: string;
  /** Per cent of the equity at 00:00 UTC. */
  readonly lossPerDayMax: string;
  /** Separated by spaces or commas. */
  readonly symbols: string;
  /** Per cent of the strategy's price. */
  readonly slippageMajor: string;
  readonly slippageOther: string;
  readonly copyExisting: boolean;
  readonly closeAfterSeconds: string;
};

export type SettingsErrors = { readonly [Name in keyof SettingsForm]?: string };

/** What a preset decides: everything but how much money is used and what is copied of it at the start. */
type Preset = Omit<SettingsForm, "share" | "budget" | "copyExisting">;
const EXACT: Preset = {
  maxPerOrder: "",
  stopLoss: "",
  takeProfit: "",
  sizeBy: "RATIO",
  sizeFigure: "",
  leverageMax: "",
  positionMax: "",
  exposureMax: "",
  ordersPerMinuteMax: "",
  lossPerDayMax: "",
  symbols: "",
  slippageMajor: "",
  slippageOther: "",
  closeAfterSeconds: "",
};
const PROTECTED_SPOT: Preset = {
  ...EXACT,
  stopLoss: "20",
  ordersPerMinuteMax: "30",
  lossPerDayMax: "10",
  slippageMajor: "0.5",
  slippageOther: "1.5",
};
/** On spot nothing is borrowed: its equity bounds what a copy holds. */
const PROTECTED_FUTURES: Preset = { ...PROTECTED_SPOT, leverageMax: "5", positionMax: "2", exposureMax: "5" };

/** In the order in which they are offered. */
export const PRESET_NAMES = ["PROTECTED", "EXACT"] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

export function presetFor(type: StrategyType, name: PresetName): Preset {
  if (name === "EXACT") return EXACT;
  return type === "FUTURES" ? PROTECTED_FUTURES : PROTECTED_SPOT;
}

/** What the form of a new copy begins with. */
export function newSettings(type: StrategyType): SettingsForm {
  return { share: "100", budget: "", copyExisting: false, ...presetFor(type, "PROTECTED") };
}

/** The preset that a form is at; null if a setting was changed by hand. */
export function presetOf(type: StrategyType, form: SettingsForm): PresetName | null {
  return PRESET_NAMES.find((name) => isAt(form, presetFor(type, name))) ?? null;
}

function isAt(form: SettingsForm, preset: Preset): boolean {
  const fields = Object.keys(preset) as (keyof Preset)[];
  return fields.every((field) => form[field] === preset[field]);
}

/** So many of the strategy's contracts may be had for one's own money at most. */
const LEVERAGE_MAX = "125";
const GAIN_PERCENT_MAX = "10000";
const RATIO_MAX = "1000";

/** What the server takes, or, by field, why it would not. */
export function settingsOf(
  typed: SettingsForm,
): { readonly settings: CopySettingsJson } | { readonly errors: SettingsErrors } {
  const form = trimmed(typed);
  const errors: SettingsErrors = {
    ...(isPercent(form.share) ? {} : { share: "A number above 0 and at most 100." }),
    ...faultsOf(form, ["maxPerOrder", "budget"], isAboveZero, "An amount above 0, or empty for no limit."),
    ...faultsOf(form, ["stopLoss"], isPercent, "A number above 0 and at most 100, or empty for none."),
    ...faultsOf(
      form,
      ["lossPerDayMax", "slippageMajor", "slippageOther"],
      isPercent,
      "A number above 0 and at most 100, or empty for no limit.",
    ),
    ...faultsOf(form, ["takeProfit"], isUpTo(GAIN_PERCENT_MAX), "A number above 0, or empty for none."),
    ...faultsOf(
      form,
      ["positionMax", "exposureMax"],
      isUpTo(LEVERAGE_MAX),
      `A number above 0 and at most ${LEVERAGE_MAX}, or empty for no limit.`,
    ),
    ...wholeFaultsOf(form, "leverageMax", LEVERAGE_MAX),
    ...wholeFaultsOf(form, "ordersPerMinuteMax", "10000"),
    ...wholeFaultsOf(form, "closeAfterSeconds", "86400"),
    ...slippageFaults(form),
    ...sizeFaults(form),
    ...(symbolsOf(form.symbols).every((symbol) => /^[A-Z0-9]{2,30}$/.test(symbol))
      ? {}
      : { symbols: "Symbols such as BTCUSDT, separated by spaces, or empty for all." }),
  };
  if (Object.keys(errors).length > 0) return { errors };
  return { settings: settingsIn(form) };
}

/** Limits of one text, by what the server takes: a share of one, a decimal or a whole number. */
const SHARES = ["stopLoss", "takeProfit", "lossPerDayMax"] as const;
const DECIMALS = ["maxPerOrder", "budget", "positionMax", "exposureMax"] as const;
const COUNTS = ["leverageMax", "ordersPerMinuteMax", "closeAfterSeconds"] as const;

function each<Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as { [N in Name]: Value };
}

function settingsIn(form: SettingsForm): CopySettingsJson {
  const symbols = symbolsOf(form.symbols);
  const { slippageMajor, slippageOther } = form;
  return {
    share: shareOf(form.share),
    ...each(SHARES, (name) => (form[name] === "" ? null : shareOf(form[name]))),
    ...each(DECIMALS, (name) => (form[name] === "" ? null : trimZeros(form[name]))),
    ...each(COUNTS, (name) => (form[name] === "" ? null : Number(form[name]))),
    size: sizeIn(form),
    symbols: symbols.length === 0 ? null : symbols,
    slippageMax:
      slippageMajor === "" ? null : { major: shareOf(slippageMajor), other: shareOf(slippageOther) },
    copyExisting: form.copyExisting,
  };
}

export function formOf(settings: CopySettingsJson): SettingsForm {
  const { size, slippageMax } = settings;
  return {
    share: perCent(settings.share),
    ...each(SHARES, (name) => percentText(settings[name])),
    ...each(DECIMALS, (name) => (settings[name] === null ? "" : trimZeros(settings[name]))),
    ...each(COUNTS, (name) => String(settings[name] ?? "")),
    sizeBy: size.by,
    sizeFigure: size.by === "RATIO" ? "" : trimZeros(size.by === "FIXED_RATIO" ? size.ratio : size.amount),
    symbols: settings.symbols?.join(" ") ?? "",
    slippageMajor: percentText(slippageMax?.major ?? null),
    slippageOther: percentText(slippageMax?.other ?? null),
    copyExisting: settings.copyExisting,
  };
}

/** The server's faults by the names of the form's fields. */
export function errorsOf(fields: Readonly<Record<string, string | undefined>>): SettingsErrors {
  const names = Object.entries(fields).map(([name, fault]) => {
    const field = name.replace(/^settings\./, "");
    if (field === "slippageMax.major") return ["slippageMajor", fault];
    if (field === "slippageMax.other") return ["slippageOther", fault];
    return [field.startsWith("size.") ? "sizeFigure" : field.replace(/\..*/, ""), fault];
  });
  return Object.fromEntries(names);
}

/**
 * In a sentence of a few words: "50 % of the balance, at most 200 USDT an order, stop loss at −20 %". Limits
 * that are not set are left out.
 */
export function settingsInWords(settings: CopySettingsJson): string {
  const form = formOf(settings);
  const set = (text: string, words: string) => (text === "" ? [] : [words]);
  return [
    `${form.share} % of the balance`,
    ...set(form.budget, `a budget of ${form.budget} USDT`),
    ...(form.sizeBy === "FIXED_RATIO" ? [`${form.sizeFigure} times the strategy’s quantity`] : []),
    ...(form.sizeBy === "FIXED_AMOUNT" ? [`${form.sizeFigure} USDT an opening order`] : []),
    form.maxPerOrder === "" ? "no limit per order" : `at most ${form.maxPerOrder} USDT an order`,
    form.stopLoss === "" ? "no stop loss" : `stop loss at −${form.stopLoss} %`,
    ...set(form.takeProfit, `take profit at +${form.takeProfit} %`),
    ...set(form.leverageMax, `leverage up to ${form.leverageMax}`),
    ...set(form.positionMax, `a position up to ${form.positionMax} times the equity`),
    ...set(form.exposureMax, `all positions up to ${form.exposureMax} times the equity`),
    ...set(form.lossPerDayMax, `a loss per day up to ${form.lossPerDayMax} %`),
    ...set(
      form.slippageMajor,
      `slippage up to ${form.slippageMajor} % (BTC, ETH) and ${form.slippageOther} %`,
    ),
    ...set(form.ordersPerMinuteMax, `up to ${form.ordersPerMinuteMax} opening orders a minute`),
    ...set(form.symbols, `only ${form.symbols}`),
    ...set(form.closeAfterSeconds, `missed exits closed after ${form.closeAfterSeconds} s`),
  ].join(", ");
}

/** "12.5" is "0.125". */
function shareOf(percent: string): string {
  return trimZeros(multiply(percent, "0.01"));
}

function percentText(share: string | null): string {
  return share === null ? "" : perCent(share);
}

function sizeIn({ sizeBy, sizeFigure }: SettingsForm): CopySettingsJson["size"] {
  const figure = sizeBy === "RATIO" ? "" : trimZeros(sizeFigure);
  if (sizeBy === "FIXED_RATIO") return { by: sizeBy, ratio: figure };
  return sizeBy === "FIXED_AMOUNT" ? { by: sizeBy, amount: figure } : { by: sizeBy };
}

function symbolsOf(text: string): readonly string[] {
  return [...new Set(text.toUpperCase().split(/[\s,]+/))].filter((symbol) => symbol !== "");
}

type TextField = {
  [Name in keyof SettingsForm]: SettingsForm[Name] extends string ? Name : never;
}[keyof SettingsForm];

/** A fault of each of these fields that has a text that will not do. */
function faultsOf(
  form: SettingsForm,
  fields: readonly TextField[],
  isFit: (text: string) => boolean,
  fault: string,
): SettingsErrors {
  const unfit = fields.filter((field) => form[field] !== "" && !isFit(form[field]));
  return Object.fromEntries(unfit.map((field) => [field, fault]));
}

function wholeFaultsOf(form: SettingsForm, field: TextField, most: string): SettingsErrors {
  const isFit = (text: string) => /^[0-9]{1,6}$/.test(text) && isUpTo(most)(text);
  return faultsOf(form, [field], isFit, `A whole number from 1 to ${most}, or empty for no limit.`);
}

function slippageFaults({ slippageMajor, slippageOther }: SettingsForm): SettingsErrors {
  if ((slippageMajor === "") === (slippageOther === "")) return {};
  const fault = "Fill both slippage limits, or none.";
  return slippageMajor === "" ? { slippageMajor: fault } : { slippageOther: fault };
}

function sizeFaults({ sizeBy, sizeFigure }: SettingsForm): SettingsErrors {
  if (sizeBy === "RATIO") return {};
  if (sizeBy === "FIXED_AMOUNT") return isAboveZero(sizeFigure) ? {} : { sizeFigure: "An amount above 0." };
  return isUpTo(RATIO_MAX)(sizeFigure) ? {} : { sizeFigure: `A number above 0 and at most ${RATIO_MAX}.` };
}

function trimmed(form: SettingsForm): SettingsForm {
  const fields = Object.entries(form).map(([name, value]) => [
    name,
    typeof value === "string" ? value.trim() : value,
  ]);
  return Object.fromEntries(fields);
}

function isUpTo(most: string): (text: string) => boolean {
  return (text) => isAboveZero(text) && compare(text, most) <= 0;
}

function isPercent(text: string): boolean {
  return isUpTo("100")(text);
}

function isAboveZero(text: string): boolean {
  return isDecimal(text) && signOf(text) > 0;
}
