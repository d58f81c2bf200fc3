// Texts that people write and that are kept: names and labels.
import { z } from "zod";

/** No control characters and no half characters: neither can be shown, and not every database keeps them. */
export const SHOWN_TEXT = /^[^\p{Cc}\p{Cs}]*$/u;
export const NOT_SHOWN = "has characters that cannot be shown";

/** A line of text of so many characters at most, without what surrounds it. */
export function lineField(most: number) {
  return z.string().trim().min(1).max(most).regex(SHOWN_TEXT, NOT_SHOWN);
}
