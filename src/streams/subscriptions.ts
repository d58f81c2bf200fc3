// The subscriptions of one namespace. A topic is followed at its source from its first subscriber until its
// last one leaves; the source's messages go to all of them, encoded once. Source: specification 3.4, 6.1 and
// 6.2.
import { named, type StreamError, streamError } from "./errors.ts";
import { encode } from "./fan-out.ts";
import { NAMESPACE_STREAMS_MAX } from "./limits.ts";
import type { Charge, Session } from "./sessions.ts";
import type { StreamKind } from "./stream-kinds.ts";
import type { Audience, Source } from "./topics.ts";

type Followed<Topic> = {
  readonly topic: Topic;
  readonly charge: Charge;
  readonly subscribers: Set<Session>;
  release: () => void;
  /** Its source has reported that it is out of reach. */
  isUnavailable: boolean;
};

export class Subscriptions<Topic extends object, Payload extends object> implements Audience<Topic, Payload> {
  readonly #kind: StreamKind<Topic, Payload>;
  readonly #source: Source<Topic>;
  /** By the name of the topic. */
  readonly #followed = new Map<string, Followed<Topic>>();
  readonly #ofSession = new Map<Session, Set<Followed<Topic>>>();

  constructor(
    kind: StreamKind<Topic, Payload>,
    openSource: (audience: Audience<Topic, Payload>) => Source<Topic>,
  ) {
    this.#kind = kind;
    this.#source = openSource(this);
  }

  /**
   * Subscribes and confirms, also if it was subscribed already, or returns the exceeded budget: that of the
   * session, or `NAMESPACE_STREAMS_MAX`.
   */
  subscribe(session: Session, topic: Topic): StreamError | null {
    const name = this.#kind.nameOf(topic);
    const known = this.#followed.get(name);
    if (known?.subscribers.has(session)) {
      session.answer("subscribed", topic);
      return null;
    }
    if (known === undefined && this.#followed.size >= NAMESPACE_STREAMS_MAX) return tooManyStreams(topic);
    const charge = known?.charge ?? this.#chargeOf(name, topic);
    const excess = session.charge(charge);
    if (excess !== null) return excess;

    const followed = known ?? {
      topic,
      charge,
      subscribers: new Set(),
      release: () => {},
      isUnavailable: false,
    };
    followed.subscribers.add(session);
    this.#topicsOf(session).add(followed);
    if (known === undefined) {
      this.#followed.set(name, followed);
      this.#follow(session, followed);
    }
    session.answer("subscribed", topic);
    return known?.isUnavailable ? this.#unavailable(topic) : null;
  }

  /**
   * Removes every subscription with the given fields, and confirms each, or returns an error if there is
   * none.
   */
  unsubscribe(session: Session, fields: Partial<Topic>): StreamError | null {
    const wanted = Object.entries(fields);
    const removed = [...(this.#ofSession.get(session) ?? [])].filter(({ topic }) =>
      wanted.every(([field, value]) => topic[field as keyof Topic] === value),
    );
    if (removed.length === 0) {
      return streamError("SUB_INVALID_PAYLOAD", {
        message: `There is no subscription to ${named(fields)} on this connection.`,
      });
    }
    for (const followed of removed) {
      this.#remove(session, followed);
      session.answer("unsubscribed", followed.topic);
    }
    return null;
  }

  /** Removes all subscriptions of a session that has ended. */
  drop(session: Session): void {
    for (const followed of [...(this.#ofSession.get(session) ?? [])]) this.#remove(session, followed);
  }

  send(topic: Topic, payload: Payload): void {
    const name = this.#kind.nameOf(topic);
    const followed = this.#followed.get(name);
    if (followed === undefined) return;
    followed.isUnavailable = false;
    const message = encode(this.#kind.namespace, this.#kind.event, payload);
    const isKept = this.#kind.isKept(payload);
    for (const { line } of followed.subscribers) {
      if (isKept) line.sendKept(name, message);
      else line.sendNewest(name, message);
    }
  }

  unavailable(topic: Topic): void {
    const followed = this.#followed.get(this.#kind.nameOf(topic));
    if (followed === undefined) return;
    followed.isUnavailable = true;
    const message = encode(this.#kind.namespace, "error", this.#unavailable(topic));
    for (const { line } of followed.subscribers) line.sendKept(null, message);
  }

  available(topic: Topic): void {
    const followed = this.#followed.get(this.#kind.nameOf(topic));
    if (followed !== undefined) followed.isUnavailable = false;
  }

  broken(topic: Topic): void {
    const followed = this.#followed.get(this.#kind.nameOf(topic));
    for (const session of [...(followed?.subscribers ?? [])]) session.drop();
  }

  close(): void {
    this.#source.close();
  }

  /**
   * Rethrows an error of the source; nothing is left of the subscription then, so the next one starts over.
   */
  #follow(session: Session, followed: Followed<Topic>): void {
    try {
      followed.release = this.#source.follow(followed.topic);
    } catch (error) {
      this.#remove(session, followed);
      throw error;
    }
  }

  #remove(session: Session, followed: Followed<Topic>): void {
    const { charge, subscribers } = followed;
    subscribers.delete(session);
    session.release(charge);
    const topics = this.#topicsOf(session);
    topics.delete(followed);
    if (topics.size === 0) this.#ofSession.delete(session);
    if (subscribers.size > 0) return;
    this.#followed.delete(this.#kind.nameOf(followed.topic));
    followed.release();
  }

  #topicsOf(session: Session): Set<Followed<Topic>> {
    const known = this.#ofSession.get(session);
    if (known !== undefined) return known;
    const topics = new Set<Followed<Topic>>();
    this.#ofSession.set(session, topics);
    return topics;
  }

  #chargeOf(name: string, topic: Topic): Charge {
    const { namespace, weightOf, isFast } = this.#kind;
    return {
      name: `${namespace} ${name}`,
      title: named(topic),
      weight: weightOf(topic),
      isFast: isFast(topic),
    };
  }

  #unavailable(topic: Topic): StreamError {
    return streamError("UPSTREAM_UNAVAILABLE", {
      message: `The source of ${named(topic)} is out of reach.`,
    });
  }
}

function tooManyStreams(topic: object): StreamError {
  return streamError("SUB_LIMIT_EXCEEDED", {
    message: `All clients together have the ${NAMESPACE_STREAMS_MAX} streams that the server takes: ${named(topic)} is one too many.`,
  });
}
