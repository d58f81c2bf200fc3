// How much the browsers of people may have open and send, each bound by its name. Sockets are counted where they are connected:
// with several servers each counts its own.

/** Connections of all people to one server. */
export const SOCKETS_MAX = 1_000;
/** Those of one person: a window each. */
export const SOCKETS_PER_PERSON_MAX = 20;
/** Strategies that a connection may watch. */
export const WATCHES_MAX = 150;
/** Copies that a connection may watch: more than one person follows. */
export const COPY_WATCHES_MAX = 150;
/** Topics of markets that a connection may follow, */
export const TOPICS_MAX = 20;
/** those of one person together, each counted once: a few people cannot take all that there is room for, */
export const TOPICS_PER_PERSON_MAX = 60;
/** and those of a server. */
export const TOPICS_OF_ALL_MAX = 500;
/** Messages of a connection within a minute: enough to watch and follow all of that again, and again. */
export const MESSAGES_PER_MINUTE = 600;

/** How often sessions are looked up: one that has ended is not told more for longer than this. */
export const SESSIONS_CHECKED_EVERY_MS = 3_000;
/** How often the versions of what is watched are looked up: a commit of another server is told of within this time. */
export const VERSIONS_CHECKED_EVERY_MS = 2_000;
/** How often the revisions of copies that are watched are looked up: what was done to them elsewhere is told within this time. */
export const COPIES_CHECKED_EVERY_MS = 1_000;
/** How often a connection gets a heartbeat. */
export const HEARTBEAT_EVERY_MS = 1_000;
/** A strategy's changes are told together, at most once in this time. */
export const CHANGES_TOLD_EVERY_MS = 250;
/** A price is told at most so often. */
export const PRICES_TOLD_EVERY_MS = 1_000;
/** A price that stands still is told again after this long, so that silence means that nothing is known. */
export const PRICES_REPEATED_AFTER_MS = 3_000;
/** Nothing has been heard of a topic for so long: it is stale. */
export const STALE_AFTER_MS = 5_000;
/** What the candles, and the books, of a family may ask upstream for: well below what bots' streams may. */
export const WEIGHT_PER_MINUTE = 200;
