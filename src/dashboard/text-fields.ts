// Texts that people write and that are kept: names and labels.
import { z } from "zod";

/** Nothing that cannot be shown or kept, is invisible, or turns around what stands beside it: others see it too. */
export const SHOWN_TEXT = /^\P{C}*$/u;
export const NOT_SHOWN = "has characters that cannot be shown";

/** A line of text of so many characters at most, without what surrounds it. */
export function lineField(most: number) {
  return z.string().trim().min(1).max(most).regex(SHOWN_TEXT, NOT_SHOWN);
}
