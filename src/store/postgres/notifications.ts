// Notifies servers on one database of each other's commits. NOTIFY runs within the transaction of the commit,
// so it is delivered after the commit, and only if the commit takes effect. LISTEN has its own connection,
// which is opened again when it is lost.
// A transaction with NOTIFY takes a lock of the whole PostgreSQL server while it commits. So a transaction
// notifies only if it has to: most market orders, which never become open orders, do not.
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { StrategyType } from "../../domain/account.ts";
import type { DomainEvent } from "../../domain/event.ts";
import { isOpen } from "../../domain/order.ts";
import type { Commit, CommittedElsewhere, ElsewhereListener } from "../ports/trading.ts";

/** A name without capitals needs no quotes. */
const CHANNEL = "lyrebird_commits";
/** PostgreSQL takes payloads of fewer than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_999;

/** In a payload each strategy is named by the letter of its type and its id. */
const LETTERS: { readonly [T in StrategyType]: string } = { SPOT: "S", FUTURES: "F" };

/** How long a new connection may take, ms. */
const CONNECT_MS_MAX = 5_000;
/** How long after a loss the next connection is tried, ms. */
const RECONNECT_MS = 500;
/** How often the connection is tried, and how long its answer may take, ms: a loss is noticed after three seconds. */
const PING_INTERVAL_MS = 1_000;
const PING_MS_MAX = 2_000;

/** Payloads for `pg_notify` that tell others of a group; `process` is the name of who commits it. */
export function payloadsOf(process: string, group: readonly Commit[]): string[] {
  const payloads: string[] = [];
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  let told = [process];
  let bytes = bytesOf(told);
  for (const { account } of group.filter(concernsOthers)) {
    const named = `${LETTERS[account.type]}${account.strategyId}`;
    const added = bytesOf(named) + 1;
    if (bytes + added > PAYLOAD_BYTES_MAX) {
      payloads.push(JSON.stringify(told));
      told = [process];
      bytes = bytesOf(told);
    }
    told.push(named);
    bytes += added;
  }
  if (told.length > 1) payloads.push(JSON.stringify(told));
  return payloads;
}

/** The SQL that sends payloads, given the parameter that is an array of them. */
export function notifying(payloads: string): string {
  return `SELECT count(pg_notify('${CHANNEL}', payload)) FROM unnest(${payloads}::text[]) AS payloads (payload)`;
}

/**
 * Whether open orders or legs, a position or the status have changed: what was placed and is over within one entry was
 * never open.
 */
function concernsOthers({ entry: { events }, orders, legs }: Commit): boolean {
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
 * Tells the listener what processes of other names commit from when this resolves; answers how to end it. Rejects with
 * PostgreSQL's or the network's error if it cannot begin.
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
  readonly #url: string;
  readonly #process: string;
  readonly #listener: ElsewhereListener;
  /** Null while there is no connection that listens. */
  #client: Client | null = null;
  #isPinging = false;
  #nextConnection: NodeJS.Timeout | null = null;
  readonly #pings: NodeJS.Timeout;
  #isClosed = false;

  constructor(url: string, process: string, listener: ElsewhereListener) {
    this.#url = url;
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

  async #connect(): Promise<void> {
    const client = new Client({
      application_name: "lyrebird listener",
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: CONNECT_MS_MAX,
    });
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    if (this.#isClosed) await client.end();
    else this.#client = client;
  }

  #hear(payload: string): void {
    const told = readPayload(payload);
    if (told === null || told.process === this.#process || this.#isClosed) return;
    this.#listener.committed(told.strategies);
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
function readPayload(payload: string): { process: string; strategies: CommittedElsewhere[] } | null {
  try {
    const [process, ...named]: string[] = JSON.parse(payload);
    return process === undefined ? null : { process, strategies: named.map(readName) };
  } catch {
    return null;
  }
}

function readName(named: string): CommittedElsewhere {
  return { strategyId: named.slice(1), type: named.startsWith(LETTERS.FUTURES) ? "FUTURES" : "SPOT" };
}
