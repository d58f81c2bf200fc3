// Market-data topics and their viewers. A topic is subscribed at its source from its first viewer until its
// last viewer leaves. A message is serialized once for all viewers, and the newest is cached for viewers that
// join later.
import type { Clock } from "../../concurrency/time.ts";
import type { Message } from "../../streams/fan-out.ts";
import type { ServerMessages, Topic } from "../schemas/live.ts";
import { STALE_AFTER_MS, TOPICS_MAX, TOPICS_OF_ALL_MAX, TOPICS_PER_PERSON_MAX } from "./limits.ts";
import { type Bound, messageOf, nameOf } from "./messages.ts";
import type { Viewer } from "./viewers.ts";
import { Watches } from "./watches.ts";

/** Subscribes to a topic until released. The source passes its data to the `Topics` that it was made for. */
export type Follow = (topic: Topic) => () => void;

type Followed = {
  readonly topic: Topic;
  release: () => void;
  newest: Message | null;
  /** The `stale` message, while the topic is stale. */
  outage: Message | null;
};

export class Topics {
  readonly #wallClock: Clock;
  readonly #follow: Follow;
  readonly #followed = new Map<string, Followed>();
  /** Who follows what, by the names of the topics. */
  readonly #watches = new Watches<Viewer>(TOPICS_MAX);

  constructor(parts: { readonly wallClock: Clock; readonly follow: Follow }) {
    this.#wallClock = parts.wallClock;
    this.#follow = parts.follow;
  }

  /** Subscribes a viewer to a topic. Answers the bound that this would exceed, or null. */
  follow(viewer: Viewer, topic: Topic): Bound | null {
    const name = nameOf(topic);
    if (this.#watches.watchedBy(viewer).includes(name)) return null;
    const bound = this.#boundOf(viewer, name);
    if (bound !== null) return bound;
    this.#watches.watch(viewer, name);
    const known = this.#followed.get(name);
    if (known !== undefined) {
      const { newest, outage } = known;
      if (newest !== null) viewer.line.sendNewest(name, newest);
      if (outage !== null) viewer.line.sendNewest(outageOf(name), outage);
      return null;
    }
    const followed: Followed = { topic, release: () => {}, newest: null, outage: null };
    this.#followed.set(name, followed);
    try {
      followed.release = this.#follow(topic);
    } catch (error) {
      this.#leave(viewer, name);
      throw error;
    }
    return null;
  }

  unfollow(viewer: Viewer, topic: Topic): void {
    this.#leave(viewer, nameOf(topic));
  }

  /** Removes all topics of a viewer that disconnected. */
  drop(viewer: Viewer): void {
    for (const name of this.#watches.watchedBy(viewer)) this.#leave(viewer, name);
  }

  /** Sends a message of a topic. A slow viewer gets all final messages and the newest of the others. */
  send<Name extends "candle" | "book" | "price">(
    topic: Topic,
    event: Name,
    payload: ServerMessages[Name],
    { isFinal = false }: { readonly isFinal?: boolean } = {},
  ): void {
    const name = nameOf(topic);
    const followed = this.#followed.get(name);
    if (followed === undefined) return;
    const message = messageOf(event, payload);
    followed.newest = message;
    followed.outage = null;
    for (const { line } of this.#watches.watchersOf(name)) {
      if (isFinal) line.sendKept(name, message);
      else line.sendNewest(name, message);
    }
  }

  /** Sends `stale`: the topic had no data for `STALE_AFTER_MS`. */
  stale(topic: Topic): void {
    const name = nameOf(topic);
    const followed = this.#followed.get(name);
    if (followed === undefined) return;
    const message = messageOf("stale", { topic, since: this.#wallClock.now() - STALE_AFTER_MS });
    followed.outage = message;
    for (const { line } of this.#watches.watchersOf(name)) line.sendNewest(outageOf(name), message);
  }

  /** The source is available again without new data: sends the newest message again, since it is current. */
  available(topic: Topic): void {
    const name = nameOf(topic);
    const followed = this.#followed.get(name);
    if (followed?.outage == null) return;
    followed.outage = null;
    if (followed.newest === null) return;
    for (const { line } of this.#watches.watchersOf(name)) line.sendNewest(name, followed.newest);
  }

  /** Renews the subscription of a topic that cannot continue. */
  restart(topic: Topic): void {
    const followed = this.#followed.get(nameOf(topic));
    if (followed === undefined) return;
    followed.release();
    followed.release = this.#follow(topic);
  }

  /** The bound that one more topic of a viewer would exceed, or null. */
  #boundOf(viewer: Viewer, name: string): Bound | null {
    if (this.#watches.watchedBy(viewer).length >= TOPICS_MAX) return "TOPICS_MAX";
    const isOfPerson = ({ personId }: Viewer) => personId === viewer.personId;
    const ofPerson = this.#watches
      .watched()
      .filter((each) => [...this.#watches.watchersOf(each)].some(isOfPerson));
    if (ofPerson.length >= TOPICS_PER_PERSON_MAX && !ofPerson.includes(name)) return "TOPICS_PER_PERSON_MAX";
    const isFull = this.#followed.size >= TOPICS_OF_ALL_MAX && !this.#followed.has(name);
    return isFull ? "TOPICS_OF_ALL_MAX" : null;
  }

  #leave(viewer: Viewer, name: string): void {
    this.#watches.unwatch(viewer, name);
    const followed = this.#followed.get(name);
    if (followed === undefined || this.#watches.isWatched(name)) return;
    this.#followed.delete(name);
    followed.release();
  }
}

/** The send-buffer slot of an outage: a slot of its own, so that it does not replace a message. */
function outageOf(name: string): string {
  return `stale ${name}`;
}
