// A bot under fire: one strategy, its signals, and the answers it received for each. Every answer has to
// agree with all earlier ones; the audit compares the database with them at the end.
import { isDeepStrictEqual } from "node:util";
import { botClient } from "../../support/bot-client.ts";
import type { RawAnswer } from "../../support/raw.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import { GatewayFault } from "../harness/faults.ts";
import { type Body, type DrawnOrder, otherThan } from "./orders.ts";

/** A signal as an answer shows it. Source: specification 2.8. */
export type ShownSignal = {
  readonly signalId: string;
  readonly status: "RECEIVED" | "EXECUTED" | "REJECTED" | "FAILED";
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
  readonly result: any;
  readonly collectiveId: string | null;
  readonly order: Body;
  readonly receivedAt: string;
  readonly processedAt: string | null;
};

export type Sent = DrawnOrder & {
  readonly key: string;
  /** As it was last shown; null while it was not. */
  shown: ShownSignal | null;
};

/** What an answer means: it shows the signal, or says when to come again. */
export type Told = { readonly comeAgainMs: number | null };

const ACCEPTED = 202;
const MISMATCHED = 422;
/** Says when to come again. */
const LATER: readonly number[] = [429, 503];
const MS_PER_SECOND = 1_000;
const ORDERS_PATH = "/bot/v1/spot/orders";

export class Bot {
  readonly credentials: Credentials;
  readonly name: string;
  /** By key. */
  readonly signals = new Map<string, Sent>();

  constructor(name: string, credentials: Credentials) {
    this.name = name;
    this.credentials = credentials;
  }

  /** A new signal, which is not sent yet. */
  add(drawn: DrawnOrder): Sent {
    const sent: Sent = { ...drawn, key: `${this.name}-${this.signals.size + 1}`, shown: null };
    this.signals.set(sent.key, sent);
    return sent;
  }

  /**
   * Sends a signal as it is. Rejects with GatewayFault if the answer may never be given, with another error
   * if there was none.
   */
  async submit(url: string, sent: Sent): Promise<Told> {
    const before = sent.shown;
    const answer = await this.#send(url, sent.key, sent.body);
    const { status, body } = answer;
    if (status !== ACCEPTED) return comeAgain(answer, sent);
    const { replayed, ...shown } = body;
    if (isTerminal(before) && replayed !== true) {
      throw new GatewayFault(`${sent.key} was over and is not said to be replayed: ${JSON.stringify(body)}`);
    }
    take(sent, shown);
    return { comeAgainMs: null };
  }

  /**
   * Sends another order under the key of a signal that was acknowledged: it must be refused. Rejects as
   * above.
   */
  async submitOther(url: string, sent: Sent): Promise<Told> {
    if (sent.shown === null) throw new Error(`only what was acknowledged has a key: ${sent.key}`);
    const answer = await this.#send(url, sent.key, otherThan(sent.body));
    return answer.status === MISMATCHED ? { comeAgainMs: null } : comeAgain(answer, sent);
  }

  /** The strategy's signals as the list shows them, newest first; null if it is to be asked again later. */
  async list(url: string): Promise<readonly ShownSignal[] | null> {
    const { status, body } = await botClient(url, this.credentials).get(ORDERS_PATH, CLOSE);
    if (status === 200) return body.data;
    if (LATER.includes(status)) return null;
    throw new GatewayFault(`the list was answered ${status}: ${JSON.stringify(body)}`);
  }

  #send(url: string, idempotencyKey: string, body: Body): Promise<RawAnswer> {
    return botClient(url, this.credentials).post(ORDERS_PATH, body, { idempotencyKey, ...CLOSE });
  }
}

/** A connection is for one request, so that it has a fate of its own. */
const CLOSE = { headers: { connection: "close" } } as const;

export function isTerminal(signal: Pick<ShownSignal, "status"> | null): boolean {
  return signal !== null && (signal.status === "EXECUTED" || signal.status === "REJECTED");
}

/** Takes note of a signal as it was shown. Throws GatewayFault if it was shown otherwise before. */
export function take(sent: Sent, shown: ShownSignal): void {
  const before = sent.shown;
  const text = `${sent.key} was shown as ${JSON.stringify(before)} and is now ${JSON.stringify(shown)}`;
  if (typeof shown.signalId !== "string") throw new GatewayFault(`a signal has an id: ${text}`);
  if (!isDeepStrictEqual(shown.order, sent.body)) throw new GatewayFault(`the order is echoed: ${text}`);
  if (before !== null && before.signalId !== shown.signalId) {
    throw new GatewayFault(`one key is one signal: ${text}`);
  }
  if (!isTerminal(before)) {
    sent.shown = shown;
    return;
  }
  // An answer that was given before the signal was over may come after one that was given later.
  if (isTerminal(shown) && !isDeepStrictEqual(before, shown)) {
    throw new GatewayFault(`a terminal state never changes: ${text}`);
  }
}

function comeAgain({ status, headers, body }: RawAnswer, { key }: Sent): Told {
  const seconds = Number(headers["retry-after"]);
  if (LATER.includes(status) && seconds > 0) return { comeAgainMs: seconds * MS_PER_SECOND };
  throw new GatewayFault(`${key} was answered ${status}: ${JSON.stringify(body)}`);
}
