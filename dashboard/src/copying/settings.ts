// The settings of a copy as a form has them, texts in per cent, and as the server takes them, shares of one. Exact both ways.
import type { CopySettingsShape } from "../../../src/dashboard/shapes.ts";
import { compare, isDecimal, multiply, perCent, signOf, trimZeros } from "../ui/decimals.ts";

export type SettingsForm = {
  /** Per cent of the balance. */
  readonly share: string;
  /** USDT; empty for no bound. */
  readonly maxPerOrder: string;
  /** Per cent of the equity that the copy began with; empty for none. */
  readonly stopLoss: string;
};

export type SettingsErrors = { readonly [Name in keyof SettingsForm]?: string };

export const NEW_SETTINGS: SettingsForm = { share: "100", maxPerOrder: "", stopLoss: "" };

/** What the server takes, or, by field, why it would not. */
export function settingsOf(
  form: SettingsForm,
): { readonly settings: CopySettingsShape } | { readonly errors: SettingsErrors } {
  const share = form.share.trim();
  const maxPerOrder = form.maxPerOrder.trim();
  const stopLoss = form.stopLoss.trim();
  const errors: SettingsErrors = {
    ...(isPercent(share) ? {} : { share: "A number above 0 and at most 100." }),
    ...(maxPerOrder === "" || isAboveZero(maxPerOrder)
      ? {}
      : { maxPerOrder: "An amount above 0, or empty for no limit." }),
    ...(stopLoss === "" || isPercent(stopLoss)
      ? {}
      : { stopLoss: "A number above 0 and at most 100, or empty for none." }),
  };
  if (Object.keys(errors).length > 0) return { errors };
  return {
    settings: {
      share: shareOf(share),
      maxPerOrder: maxPerOrder === "" ? null : trimZeros(maxPerOrder),
      stopLoss: stopLoss === "" ? null : shareOf(stopLoss),
    },
  };
}

export function formOf({ share, maxPerOrder, stopLoss }: CopySettingsShape): SettingsForm {
  return {
    share: perCent(share),
    maxPerOrder: maxPerOrder === null ? "" : trimZeros(maxPerOrder),
    stopLoss: stopLoss === null ? "" : perCent(stopLoss),
  };
}

/** In a sentence of a few words: "50 % of the balance, at most 200 USDT an order, stop loss at 20 %". */
export function settingsInWords(settings: CopySettingsShape): string {
  const { share, maxPerOrder, stopLoss } = formOf(settings);
  return [
    `${share} % of the balance`,
    maxPerOrder === "" ? "no limit per order" : `at most ${maxPerOrder} USDT an order`,
    stopLoss === "" ? "no stop loss" : `stop loss at −${stopLoss} %`,
  ].join(", ");
}

/** "12.5" is "0.125". */
function shareOf(percent: string): string {
  return trimZeros(multiply(percent, "0.01"));
}

function isPercent(text: string): boolean {
  return isAboveZero(text) && compare(text, "100") <= 0;
}

function isAboveZero(text: string): boolean {
  return isDecimal(text) && signOf(text) > 0;
}
