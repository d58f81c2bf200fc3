// Notifies servers on one database of each other's commits. Each process listens on a channel of its own,
// over a connection of its own, which is opened again when it is lost. After a commit the strategies that
// concern others are sent in a transaction of their own: one with NOTIFY takes a lock of the whole PostgreSQL
// server while it commits, which no order may wait for. A notification is a delay at most: a process that
// cannot send one retries, and when one has died the others load the triggers of their slots again
// (`triggers/slot-owner.ts`); who watches a strategy polls its version.
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { StrategyType } from "../../domain/account.ts";
import type { DomainEvent } from "../../domain/event.ts";
import { isOpen } from "../../domain/order.ts";
import { slotSql } from "../dialect.ts";
import type { Commit, CommittedElsewhere, ElsewhereListener } from "../ports/trading.ts";
import { Addresses } from "./addresses.ts";
import type { Connections } from "./connections.ts";

/** The channel of a process. A name without capitals needs no quotes. */
const CHANNEL = "lyrebird_";
/** Strategies in one payload. PostgreSQL takes fewer than 8,000 bytes, and an id of ours has at most 36. */
const PAYLOAD_STRATEGIES_MAX = 100;
/** Strategies that are sent in one transaction. */
const SENT_AT_ONCE_MAX = 1_000;
/**
 * How long commits are gathered, ms: each notification costs a transaction here and a read at its receiver.
 */
const GATHER_MS = 50;
/** How long after a failure strategies are sent again, ms. */
const RESEND_MS = 200;

/** In a payload each strategy is named by the letter of its type and its id. */
const LETTERS: { readonly [T in StrategyType]: string } = { SPOT: "S", FUTURES: "F" };

/** How long a new connection may take, ms. */
const CONNECT_MS_MAX = 5_000;
/** How long after a loss the next connection is tried, ms. */
const RECONNECT_MS = 500;
/**
 * How often the connection is tried, and how long its answer may take, ms: a loss is noticed after three
 * seconds.
 */
const PING_INTERVAL_MS = 1_000;
const PING_MS_MAX = 2_000;

/**
 * Sends strategies to the processes that they concern: the owner of a strategy's slot, and those that watch
 * it. The owner is read after the commit, so that one which takes the slot later finds the commit when it
 * loads. Without such processes nothing is sent, and no lock is taken.
 */
const NOTIFY = `
  WITH given AS (
    SELECT name, substr(name, 2) AS id, for_owner FROM unnest($1::text[], $3::boolean[]) AS given (name, for_owner)
  ),
  concerned AS (
    SELECT server, name FROM given JOIN slots ON slot = ${slotSql("id")} WHERE for_owner
    UNION SELECT server, name FROM given JOIN watches ON strategy_id = id
  ),
  numbered AS (
    SELECT server, name, (row_number() OVER (PARTITION BY server) - 1) / ${PAYLOAD_STRATEGIES_MAX} AS part
    FROM concerned WHERE server NOT IN ('', $2)
  )
  SELECT count(pg_notify('${CHANNEL}' || server, payload)) FROM (
    SELECT server, json_agg(name)::text AS payload FROM numbered GROUP BY server, part
  ) AS payloads`;

/**
 * A strategy that was committed to, and whether that concerns the owner of its slot, or only those that watch
 * it.
 */
type Changed = CommittedElsewhere & { readonly isForOwner: boolean };

/**
 * Sends strategies that this process has committed to, in the background, one transaction after the other.
 */
export class CommitNotifier {
  readonly #connections: Pick<Connections, "query">;
  readonly #process: string;
  /** By strategy id: what is not sent yet. */
  readonly #pending = new Map<string, Changed>();
  #sending: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(connections: Pick<Connections, "query">, process: string) {
    this.#connections = connections;
    this.#process = process;
  }

  add(strategies: readonly Changed[]): void {
    if (strategies.length === 0) return;
    this.#keep(strategies);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  /** Resolves when everything is sent, or one more attempt has failed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
  }

  /** Resolves after a pause, or on `close`. */
  async #gather(): Promise<void> {
    await pause(GATHER_MS, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {});
  }

  #keep(strategies: readonly Changed[]): void {
    for (const each of strategies) {
      const isForOwner = each.isForOwner || this.#pending.get(each.strategyId)?.isForOwner === true;
      this.#pending.set(each.strategyId, { ...each, isForOwner });
    }
  }

  /** Never rejects. */
  async #send(): Promise<void> {
    while (this.#pending.size > 0) {
      await this.#gather();
      const sent = [...this.#pending.values()].slice(0, SENT_AT_ONCE_MAX);
      for (const { strategyId } of sent) this.#pending.delete(strategyId);
      const names = sent.map(({ strategyId, type }) => `${LETTERS[type]}${strategyId}`);
      const values = [names, this.#process, sent.map(({ isForOwner }) => isForOwner)];
      try {
        await this.#connections.query({ name: "notify", text: NOTIFY, values });
      } catch {
        this.#keep(sent);
        if (this.#closing.signal.aborted) return;
        await pause(RESEND_MS, undefined, { ref: false });
      }
    }
  }
}

/**
 * Whether a commit concerns the owner of its strategy's slot: open orders or legs, a position or the status
 * have changed. An order that was placed and is over within one entry was never open.
 */
export function concernsOwner({ entry: { events }, orders, legs }: Commit): boolean {
  const placed = new Set(
    events.flatMap((event) => (event.type === "OrderPlaced" ? event.order.orderId : [])),
  );
  return (
    legs.length > 0 ||
    orders.some((order) => isOpen(order) || !placed.has(order.orderId)) ||
    events.some(changesWhatIsHeld)
  );
}

function changesWhatIsHeld(event: DomainEvent): boolean {
  switch (event.type) {
    case "OrderFilled":
      return event.position !== undefined;
    case "FundingSettled":
    case "StrategyClosing":
    case "StrategyClosed":
      return true;
    default:
      return false;
  }
}

/**
 * Notifies the listener of the commits that are sent to the process of this name, from when this resolves.
 * Returns how to end it. Rejects with PostgreSQL's or the network's error if it cannot begin.
 */
export async function listenForCommits(
  url: string,
  process: string,
  listener: ElsewhereListener,
): Promise<() => Promise<void>> {
  const listening = new Listening(url, process, listener);
  await listening.open();
  return () => listening.close();
}

class Listening {
  readonly #addresses: Addresses;
  readonly #process: string;
  readonly #listener: ElsewhereListener;
  /** Null while there is no connection that listens. */
  #client: Client | null = null;
  #isPinging = false;
  #nextConnection: NodeJS.Timeout | null = null;
  readonly #pings: NodeJS.Timeout;
  #isClosed = false;

  constructor(url: string, process: string, listener: ElsewhereListener) {
    this.#addresses = new Addresses(url);
    this.#process = process;
    this.#listener = listener;
    this.#pings = setInterval(() => void this.#ping(), PING_INTERVAL_MS);
  }

  async open(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pings);
    if (this.#nextConnection !== null) clearTimeout(this.#nextConnection);
    const client = this.#client;
    this.#client = null;
    // Nothing is lost with a connection that does not even end.
    if (client !== null) await Promise.race([client.end(), pause(PING_MS_MAX, undefined, { ref: false })]);
  }

  /** Connects to the first of the addresses that is a primary's: a standby refuses to listen. */
  async #connect(): Promise<void> {
    const errors: unknown[] = [];
    for (const address of this.#addresses.inOrder()) {
      try {
        await this.#connectTo(address);
        this.#addresses.connected(address);
        return;
      } catch (error) {
        errors.push(error);
      }
    }
    throw errors.length === 1 ? errors[0] : new AggregateError(errors);
  }

  async #connectTo(address: string): Promise<void> {
    const client = new Client({
      application_name: "lyrebird listener",
      connectionString: address,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: CONNECT_MS_MAX,
    });
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}${this.#process}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    if (this.#isClosed) await client.end();
    else this.#client = client;
  }

  #hear(payload: string): void {
    const strategies = readPayload(payload);
    if (strategies !== null && !this.#isClosed) this.#listener.committed(strategies);
  }

  /** A connection that is cut says so; behind a network that swallows everything only a question shows it. */
  async #ping(): Promise<void> {
    const client = this.#client;
    if (client === null || this.#isPinging) return;
    this.#isPinging = true;
    // Of a process that was held up itself the answer may be there already: it is read before the verdict.
    const patience = setTimeout(() => setImmediate(() => this.#isPinging && this.#lose(client)), PING_MS_MAX);
    try {
      await client.query("SELECT");
    } catch {
      this.#lose(client);
    } finally {
      clearTimeout(patience);
      this.#isPinging = false;
    }
  }

  #lose(client: Client): void {
    if (client !== this.#client) return;
    this.#client = null;
    client.end().catch(() => {});
    this.#listener.lost();
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    if (this.#isClosed) return;
    this.#nextConnection = setTimeout(async () => {
      try {
        await this.#connect();
      } catch {
        this.#reconnectLater();
        return;
      }
      if (!this.#isClosed) this.#listener.resumed();
    }, RECONNECT_MS);
  }
}

/** Null for what no server of ours has sent. */
function readPayload(payload: string): readonly CommittedElsewhere[] | null {
  try {
    const named: string[] = JSON.parse(payload);
    return named.map(readName);
  } catch {
    return null;
  }
}

function readName(named: string): CommittedElsewhere {
  return { strategyId: named.slice(1), type: named.startsWith(LETTERS.FUTURES) ? "FUTURES" : "SPOT" };
}
