/** The look of a link within a text or a table. */
export const TEXT_LINK = "font-medium text-accent-ink underline underline-offset-2";
