// Which topics of the markets are followed, and by whom. A topic is followed at its source from its first viewer until its last
// has gone; a message is written once for all of them, and the newest is kept for whoever comes later.
import type { Clock } from "../../concurrency/time.ts";
import type { Message } from "../../streams/fan-out.ts";
import type { ServerMessages, Topic } from "../schemas/live.ts";
import { STALE_AFTER_MS, TOPICS_MAX, TOPICS_OF_ALL_MAX, TOPICS_PER_PERSON_MAX } from "./limits.ts";
import { type Bound, messageOf, nameOf } from "./messages.ts";
import type { Viewer } from "./viewers.ts";

/** Follows a topic until released: what comes of it is told to the `Topics` that it was made for. */
export type Follow = (topic: Topic) => () => void;

type Followed = {
  readonly topic: Topic;
  readonly viewers: Set<Viewer>;
  release: () => void;
  newest: Message | null;
  /** That it is stale, while it is. */
  outage: Message | null;
};

export class Topics {
  readonly #wallClock: Clock;
  readonly #follow: Follow;
  readonly #followed = new Map<string, Followed>();
  readonly #ofViewer = new Map<Viewer, Set<string>>();
  /** By person and topic, in how many of their windows it is followed. */
  readonly #ofPerson = new Map<string, Map<string, number>>();

  constructor(parts: { readonly wallClock: Clock; readonly follow: Follow }) {
    this.#wallClock = parts.wallClock;
    this.#follow = parts.follow;
  }

  /** Follows a topic for a viewer; the bound that is reached if that is one too many, null if not. */
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

  /** Of a viewer who has gone. */
  drop(viewer: Viewer): void {
    for (const name of [...(this.#ofViewer.get(viewer) ?? [])]) this.#leave(viewer, name);
  }

  /** Sends what there is of a topic; what is final reaches everybody, of the rest whoever is slow gets the newest. */
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

  /** Nothing has been heard of a topic for as long as makes it stale. */
  stale(topic: Topic): void {
    const name = nameOf(topic);
    const followed = this.#followed.get(name);
    if (followed === undefined) return;
    const message = messageOf("stale", { topic, since: this.#wallClock.now() - STALE_AFTER_MS });
    followed.outage = message;
    for (const { line } of followed.viewers) line.sendNewest(outageOf(name), message);
  }

  /** It is heard of again, though nothing is new: what was told last stands. */
  available(topic: Topic): void {
    const name = nameOf(topic);
    const followed = this.#followed.get(name);
    if (followed?.outage == null) return;
    followed.outage = null;
    if (followed.newest === null) return;
    for (const { line } of followed.viewers) line.sendNewest(name, followed.newest);
  }

  /** A topic that cannot go on as it was begins anew. */
  restart(topic: Topic): void {
    const followed = this.#followed.get(nameOf(topic));
    if (followed === undefined) return;
    followed.release();
    followed.release = this.#follow(topic);
  }

  /** The bound that a further topic of a viewer would pass. */
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

/** What an outage waits under in a slow line: not in the place of what was told before. */
function outageOf(name: string): string {
  return `stale ${name}`;
}
