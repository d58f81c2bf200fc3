// Market-data topics and their viewers. A topic is subscribed at its source from its first viewer until its
// last viewer leaves. A message is serialized once for all viewers, and the newest is cached for viewers that
// join later.
import type { Clock } from "../../concurrency/time.ts";
import type { Message } from "../../streams/fan-out.ts";
import type { ServerMessages, Topic } from "../schemas/live.ts";
import { STALE_AFTER_MS, TOPICS_MAX, TOPICS_OF_ALL_MAX, TOPICS_PER_PERSON_MAX } from "./limits.ts";
import { type Bound, messageOf, nameOf } from "./messages.ts";
import type { Viewer } from "./viewers.ts";

/** Subscribes to a topic until released. The source passes its data to the `Topics` that it was made for. */
export type Follow = (topic: Topic) => () => void;

type Followed = {
  readonly topic: Topic;
  readonly viewers: Set<Viewer>;
  release: () => void;
  newest: Message | null;
  /** The `stale` message, while the topic is stale. */
  outage: Message | null;
};

export class Topics {
  readonly #wallClock: Clock;
  readonly #follow: Follow;
  readonly #followed = new Map<string, Followed>();
  readonly #ofViewer = new Map<Viewer, Set<string>>();
  /** By person and topic, the number of the person's connections that follow it. */
  readonly #ofPerson = new Map<string, Map<string, number>>();

  constructor(parts: { readonly wallClock: Clock; readonly follow: Follow }) {
    this.#wallClock = parts.wallClock;
    this.#follow = parts.follow;
  }

  /** Subscribes a viewer to a topic. Answers the bound that this would exceed, or null. */
  follow(viewer: Viewer, topic: Topic): Bound | null {
    const name = nameOf(topic);
    if (this.#ofViewer.get(viewer)?.has(name)) return null;
    const bound = this.#boundOf(viewer, name);
    if (bound !== null) return bound;
    this.#join(viewer, name);
    const known = this.#followed.get(name);
    if (known !== undefined) {
      known.viewers.add(viewer);
      const { newest, outage } = known;
      if (newest !== null) viewer.line.sendNewest(name, newest);
      if (outage !== null) viewer.line.sendNewest(outageOf(name), outage);
      return null;
    }
    const followed: Followed = {
      topic,
      viewers: new Set([viewer]),
      release: () => {},
      newest: null,
      outage: null,
    };
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
    for (const name of [...(this.#ofViewer.get(viewer) ?? [])]) this.#leave(viewer, name);
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
    for (const { line } of followed.viewers) {
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
    for (const { line } of followed.viewers) line.sendNewest(outageOf(name), message);
  }

  /** The source is available again without new data: sends the newest message again, since it is current. */
  available(topic: Topic): void {
    const name = nameOf(topic);
    const followed = this.#followed.get(name);
    if (followed?.outage == null) return;
    followed.outage = null;
    if (followed.newest === null) return;
    for (const { line } of followed.viewers) line.sendNewest(name, followed.newest);
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
    if ((this.#ofViewer.get(viewer)?.size ?? 0) >= TOPICS_MAX) return "TOPICS_MAX";
    const ofPerson = this.#ofPerson.get(viewer.personId);
    if (ofPerson !== undefined && ofPerson.size >= TOPICS_PER_PERSON_MAX && !ofPerson.has(name))
      return "TOPICS_PER_PERSON_MAX";
    const isFull = this.#followed.size >= TOPICS_OF_ALL_MAX && !this.#followed.has(name);
    return isFull ? "TOPICS_OF_ALL_MAX" : null;
  }

  #join(viewer: Viewer, name: string): void {
    const own = this.#ofViewer.get(viewer) ?? new Set();
    this.#ofViewer.set(viewer, own.add(name));
    const ofPerson = this.#ofPerson.get(viewer.personId) ?? new Map<string, number>();
    this.#ofPerson.set(viewer.personId, ofPerson.set(name, (ofPerson.get(name) ?? 0) + 1));
  }

  #leave(viewer: Viewer, name: string): void {
    const own = this.#ofViewer.get(viewer);
    if (own === undefined || !own.delete(name)) return;
    if (own.size === 0) this.#ofViewer.delete(viewer);
    this.#leaveOfPerson(viewer.personId, name);
    const followed = this.#followed.get(name);
    if (followed === undefined) return;
    followed.viewers.delete(viewer);
    if (followed.viewers.size > 0) return;
    this.#followed.delete(name);
    followed.release();
  }

  #leaveOfPerson(personId: string, name: string): void {
    const ofPerson = this.#ofPerson.get(personId);
    const left = (ofPerson?.get(name) ?? 0) - 1;
    if (left > 0) ofPerson?.set(name, left);
    else ofPerson?.delete(name);
    if (ofPerson?.size === 0) this.#ofPerson.delete(personId);
  }
}

/** The send-buffer slot of an outage: a slot of its own, so that it does not replace a message. */
function outageOf(name: string): string {
  return `stale ${name}`;
}
