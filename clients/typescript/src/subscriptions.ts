// A program's subscriptions, repeated on every new connection.
// One message is in flight at a time: errors do not name their message, so an answer always belongs to the
// last one. A topic that is invalid is dropped. One that exceeds a limit at the moment is requested again
// later, and so is a message that came too fast. A program that subscribes faster than the server permits is
// slowed down here. Source: specification 3.4, 6.1, 7.3 and 8.3.

import type { Cancel, Timers } from "./environment.ts";
import type { LyrebirdStreamError } from "./errors.ts";

export type SubscriptionsParts<Topic> = {
  readonly timers: Timers;
  readonly keyOf: (topic: Topic) => string;
  readonly send: (name: "subscribe" | "unsubscribe", topic: Topic) => void;
  readonly onSubscribed: (topic: Topic) => void;
  /** A message was not answered: the connection is of no use. */
  readonly onUnanswered: () => void;
};

type Entry<Topic> = {
  readonly topic: Topic;
  isConfirmed: boolean;
  /** The server has taken it before, on this connection or another. */
  wasTaken: boolean;
  isPaused: boolean;
};

type Message<Topic> = { readonly name: "subscribe" | "unsubscribe"; readonly topic: Topic };

/**
 * Source: specification 8.3; the second more is for messages that arrive closer together than they were sent.
 */
const MESSAGES_MAX = 30;
const MESSAGES_MS = 61_000;
/** How long an answer may take, ms. */
const ANSWER_MS_MAX = 10_000;
/** Delay before a topic beyond a limit is requested again, or a message that was too fast is repeated. */
const ROOM_RETRY_MS = 30_000;
const RATE_RETRY_MS = 10_000;
const ROOM_CODES: readonly string[] = ["SUB_LIMIT_EXCEEDED", "SUB_SPEED_LIMIT_EXCEEDED"];

export class Subscriptions<Topic> {
  readonly #parts: SubscriptionsParts<Topic>;
  readonly #entries = new Map<string, Entry<Topic>>();
  /** Subscribed on this connection, and wanted no more. */
  readonly #unwanted = new Map<string, Topic>();
  readonly #waits = new Set<Cancel>();
  #isConnected = false;
  #isHeld = false;
  #messagesLeft = MESSAGES_MAX;
  #underWay: { readonly message: Message<Topic>; readonly cancel: Cancel } | null = null;

  constructor(parts: SubscriptionsParts<Topic>) {
    this.#parts = parts;
  }

  get topics(): readonly Topic[] {
    return [...this.#entries.values()].map(({ topic }) => topic);
  }

  get hasConfirmed(): boolean {
    return [...this.#entries.values()].some(({ isConfirmed }) => isConfirmed);
  }

  has(topic: Topic): boolean {
    return this.#entries.has(this.#parts.keyOf(topic));
  }

  /** Whether messages of a topic were requested on this connection. */
  isConfirmed(topic: Topic): boolean {
    return this.#entries.get(this.#parts.keyOf(topic))?.isConfirmed ?? false;
  }

  add(topic: Topic): void {
    const key = this.#parts.keyOf(topic);
    if (this.#entries.has(key)) return;
    const isConfirmed = this.#unwanted.delete(key);
    this.#entries.set(key, { topic, isConfirmed, wasTaken: isConfirmed, isPaused: false });
    this.#step();
  }

  remove(topic: Topic): void {
    const key = this.#parts.keyOf(topic);
    if (this.isConfirmed(topic)) this.#unwanted.set(key, topic);
    this.#entries.delete(key);
    this.#step();
  }

  connected(): void {
    this.#isConnected = true;
    this.#step();
  }

  disconnected(): void {
    this.#isConnected = false;
    this.#isHeld = false;
    this.#messagesLeft = MESSAGES_MAX;
    this.#answered();
    for (const cancel of this.#waits) cancel();
    this.#waits.clear();
    this.#unwanted.clear();
    for (const entry of this.#entries.values()) {
      entry.isConfirmed = false;
      entry.isPaused = false;
    }
  }

  /** `subscribed` came. */
  subscribed(topic: Topic): void {
    const key = this.#parts.keyOf(topic);
    if (this.#isUnderWay("subscribe", key)) this.#answered();
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#unwanted.set(key, topic);
    else {
      entry.isConfirmed = true;
      entry.wasTaken = true;
      this.#parts.onSubscribed(entry.topic);
    }
    this.#step();
  }

  /** `unsubscribed` came. */
  unsubscribed(topic: Topic): void {
    if (this.#isUnderWay("unsubscribe", this.#parts.keyOf(topic))) this.#answered();
    this.#step();
  }

  /** An `error` came. Answers what it is about, if it is about a message. */
  failed({ code, retryAfterMs }: Pick<LyrebirdStreamError, "code" | "retryAfterMs">): Topic | null {
    const isRate = code === "RATE_LIMITED";
    if (this.#underWay === null || !(isRate || code.startsWith("SUB_"))) return null;
    const { name, topic } = this.#underWay.message;
    const key = this.#parts.keyOf(topic);
    this.#answered();
    const entry = this.#entries.get(key);
    if (isRate) {
      if (name === "unsubscribe" && entry === undefined) this.#unwanted.set(key, topic);
      if (name === "unsubscribe" && entry !== undefined) entry.isConfirmed = true;
      this.#isHeld = true;
      this.#later(retryAfterMs ?? RATE_RETRY_MS, () => {
        this.#isHeld = false;
      });
    } else if (name === "subscribe" && entry !== undefined) {
      if (entry.wasTaken && ROOM_CODES.includes(code)) {
        entry.isPaused = true;
        this.#later(ROOM_RETRY_MS, () => {
          entry.isPaused = false;
        });
      } else {
        this.#entries.delete(key);
      }
    }
    this.#step();
    return topic;
  }

  /** Sends the next message if one is due. */
  #step(): void {
    if (!this.#isConnected || this.#isHeld || this.#messagesLeft === 0 || this.#underWay !== null) return;
    const message = this.#nextMessage();
    if (message === null) return;
    const cancel = this.#parts.timers.after(ANSWER_MS_MAX, () => this.#parts.onUnanswered());
    this.#underWay = { message, cancel };
    this.#messagesLeft -= 1;
    this.#later(MESSAGES_MS, () => {
      this.#messagesLeft += 1;
    });
    this.#parts.send(message.name, message.topic);
  }

  #nextMessage(): Message<Topic> | null {
    // First what makes room for others.
    for (const [key, topic] of this.#unwanted) {
      this.#unwanted.delete(key);
      return { name: "unsubscribe", topic };
    }
    for (const { topic, isConfirmed, isPaused } of this.#entries.values()) {
      if (!isConfirmed && !isPaused) return { name: "subscribe", topic };
    }
    return null;
  }

  #isUnderWay(name: Message<Topic>["name"], key: string): boolean {
    const message = this.#underWay?.message;
    return message !== undefined && message.name === name && this.#parts.keyOf(message.topic) === key;
  }

  #answered(): void {
    this.#underWay?.cancel();
    this.#underWay = null;
  }

  /** Runs an action after a delay on this connection, then the next step. */
  #later(delayMs: number, action: () => void): void {
    const cancel = this.#parts.timers.after(delayMs, () => {
      this.#waits.delete(cancel);
      action();
      this.#step();
    });
    this.#waits.add(cancel);
  }
}
