// What counts are kept under. Kept apart from the queries: the thread that writes loads it, and no query builder.

/** A day, ms; days are numbered from the beginning of 1970, UTC. */
export const DAY_MS = 86_400_000;
/** Stands for the reason of what was not skipped: a part of a key cannot be null. */
export const NO_REASON = "";
