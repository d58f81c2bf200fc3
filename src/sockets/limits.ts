// The bounds of the exchange's sockets. Each server counts its own connections.
// Source: reference sockets, sections 2 and 14.

/** Connections of all clients to one server. */
export const CONNECTIONS_MAX = 10_000;
/** How long attempts of an address to connect are counted, ms; those beyond its bound are refused 429. */
export const ATTEMPTS_WINDOW_MS = 5 * 60_000;
/** Addresses whose attempts are counted; the one that tried least recently is dropped. */
export const ATTEMPT_ADDRESSES_MAX = 10_000;

/** Bytes of a message from a client; a longer one ends the connection (close code 1009). */
export const MESSAGE_BYTES_MAX = 64 * 1_024;
/** Control messages (pings, pongs and text alike) that a connection may send at once ... */
export const CONTROL_BURST = 50;
/** ... and how many of them it gets back each second; one that sends more is closed (1008). */
export const CONTROL_PER_SECOND = 10;
/** Streams that one connection may be subscribed to. */
export const STREAMS_PER_CONNECTION_MAX = 1_024;
/**
 * Different market streams of a type that all clients together may be subscribed to; a SUBSCRIBE beyond it
 * is refused. The feed's connections for clients take as many of each kind.
 */
export const MARKET_STREAMS_MAX = 2_048;
/** How many of them the clients of one address may be alone with, so that no address uses all of them up. */
export const MARKET_STREAMS_PER_ADDRESS_MAX = 1_024;

/**
 * Bytes that wait in the send buffer of a connection before messages that a newer one makes worthless are
 * conflated: only the newest of a stream is sent when the client reads again.
 */
export const CONFLATE_ABOVE_BYTES = 256 * 1_024;
/**
 * Bytes that may wait in all, answers to requests not counted; a client that reads too slowly is cut, so it
 * loses no message without knowing. Answers cut no client: while so many bytes of them wait, further ones
 * are not encoded.
 */
export const BUFFERED_BYTES_MAX = 4 * 1_024 * 1_024;

/** A connection is closed after this long. */
export const LIFETIME_MS = 24 * 60 * 60_000;
/** How often spot connections are pinged, and how long the answer may take, ms. */
export const SPOT_PING = { everyMs: 20_000, pongWithinMs: 60_000 } as const;
/** The same of futures connections. */
export const FUTURES_PING = { everyMs: 180_000, pongWithinMs: 600_000 } as const;
/** How long a server that ends waits for the answers of a connection, ms: longer than a commit takes. */
export const ANSWERS_MS_MAX = 5_000;
/** How long a client may take for the closing handshake, ms. */
export const GOODBYE_MS_MAX = 1_000;

/** Requests of one connection that are in flight; nothing more is read from it until an answer has left. */
export const REQUESTS_IN_FLIGHT_MAX = 100;
/**
 * Bytes of answers that wait for clients of the WebSocket API, of all connections together. Beyond it reads
 * are refused (503) to clients that have not read an earlier answer; everything else is answered.
 */
export const ANSWERS_WAITING_BYTES_MAX = 128 * 1_024 * 1_024;
/** Signatures that a server remembers, so that none of them logs on; the oldest are forgotten. */
export const USED_SIGNATURES_MAX = 10_000;
/** User data subscriptions of one connection over its whole life, and of one key on one server at a time. */
export const SUBSCRIPTIONS_PER_CONNECTION_MAX = 1_000;
export const USER_STREAMS_PER_KEY_MAX = 100;
/**
 * How long a handshake, or the answer to a SUBSCRIBE, waits until the streams of its listen keys are open,
 * ms; those that are not open by then end their connection (1011). Less than `UNHEARD_MS_MAX`, and no more
 * than `ANSWERS_MS_MAX`.
 */
export const STREAMS_OPENING_MS_MAX = 5_000;
/** Listen keys that are looked up in one query. */
export const LISTEN_KEYS_AT_ONCE = 500;
/** How often the versions of followed accounts are polled where several servers share the database, ms. */
export const FOLLOWED_POLL_MS = 250;
/** Entries of a journal that are read at a time to catch up. */
export const CATCH_UP_ENTRIES = 500;
/** Announced entries that wait for an earlier one; beyond it they are read from the store instead. */
export const ENTRIES_AHEAD_MAX = 1_000;
/** How long a followed account may stay behind its journal, ms; then its connections are closed. */
export const BEHIND_MS_MAX = 30_000;
/**
 * A journal position is a lower bound for entries that are committed this much later, ms: longer than a
 * commit can take.
 */
export const POSITION_AGE_MS = 30_000;
/** How long an account that was opened is followed before somebody listens, ms. */
export const UNHEARD_MS_MAX = 10_000;
/** How often positions of followed accounts are compared with the mark price for margin calls, ms. */
export const MARGIN_CHECK_MS = 1_000;
