// The bounds of live connections. Each server counts the connections that it has itself.

/** Connections of all people to one server. */
export const SOCKETS_MAX = 1_000;
/** Connections of one person to one server. A browser window has one connection. */
export const SOCKETS_PER_PERSON_MAX = 20;
/** Strategies that one connection may watch. */
export const WATCHES_MAX = 150;
/** Copies that one connection may watch. It is more than one person follows. */
export const COPY_WATCHES_MAX = 150;
/** Market-data topics that one connection may follow. */
export const TOPICS_MAX = 20;
/** Different topics of one person on one server, so that a few people cannot use up `TOPICS_OF_ALL_MAX`. */
export const TOPICS_PER_PERSON_MAX = 60;
/** Different topics of one server. */
export const TOPICS_OF_ALL_MAX = 500;
/** Messages of one connection a minute: enough to renew all its watches and topics several times. */
export const MESSAGES_PER_MINUTE = 600;

/** Interval at which sessions are checked. A connection may outlive its session by this long. */
export const SESSIONS_CHECKED_EVERY_MS = 3_000;
/** Poll interval of strategy versions. Viewers are notified of another server's commit within this time. */
export const VERSIONS_CHECKED_EVERY_MS = 2_000;
/** Poll interval of copy revisions. Viewers are notified of another process's change within this time. */
export const COPIES_CHECKED_EVERY_MS = 1_000;
/** Heartbeat interval of a connection. */
export const HEARTBEAT_EVERY_MS = 1_000;
/** Changes of a strategy are combined: one notification per interval. */
export const CHANGES_TOLD_EVERY_MS = 250;
/** Minimum interval between two messages of one price topic. */
export const PRICES_TOLD_EVERY_MS = 1_000;
/** An unchanged price is sent again after this long, so that silence means that no price is known. */
export const PRICES_REPEATED_AFTER_MS = 3_000;
/** A topic without data for this long is stale. */
export const STALE_AFTER_MS = 5_000;
/** Upstream weight for candles, and for books, per strategy type; well below that of bots' streams. */
export const WEIGHT_PER_MINUTE = 200;
