// What the pages before the sign-in say alike.

/** The server decides; this spares a round trip. */
export const PASSWORD_LENGTH = { minLength: 10, maxLength: 200 } as const;
export const PASSWORD_HINT = "At least 10 characters. A few words that don't belong together are good.";

/** A link within a text. */
export const TEXT_LINK = "font-medium text-accent-ink underline underline-offset-2";
