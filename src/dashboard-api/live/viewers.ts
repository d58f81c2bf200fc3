// Who is connected: a viewer for each connection of a person's browser, and which strategies each of them
// watches.
import type { Socket } from "socket.io";
import type { Cancel } from "../../concurrency/time.ts";
import { Line } from "../../streams/fan-out.ts";
import { MINUTE_MS, SlidingWindow } from "../../streams/limits.ts";
import type { ServerMessages } from "../schemas/live.ts";
import { MESSAGES_PER_MINUTE, SOCKETS_MAX, SOCKETS_PER_PERSON_MAX, WATCHES_MAX } from "./limits.ts";
import { type Bound, messageOf } from "./messages.ts";
import { Watches } from "./watches.ts";

export class Viewer {
  readonly personId: string;
  readonly sessionId: string;
  /**
   * Sends in order, keeps of everything the newest for who reads slowly, and gives who does not read at all
   * up.
   */
  readonly line: Line;
  readonly #socket: Socket;
  readonly #messages = new SlidingWindow(MESSAGES_PER_MINUTE, MINUTE_MS);

  constructor(socket: Socket, { personId, sessionId }: { personId: string; sessionId: string }) {
    this.personId = personId;
    this.sessionId = sessionId;
    this.#socket = socket;
    this.line = new Line(socket.conn, () => socket.conn.request.socket.destroy());
  }

  get isConnected(): boolean {
    return this.#socket.connected;
  }

  /** Counts a message; false if it is one too many. */
  admits(now: number): boolean {
    return this.#messages.admit(now) === null;
  }

  refuse(refusal: ServerMessages["refused"]): void {
    this.line.sendKept(null, messageOf("refused", refusal));
  }

  /** Says why, and ends the connection to the namespace. */
  end(refusal: ServerMessages["refused"]): void {
    this.line.sendLast(messageOf("refused", refusal));
    this.#socket.disconnect();
  }
}

export class Viewers {
  readonly #all = new Set<Viewer>();
  /** Who watches which strategy. */
  readonly strategies: Watches<Viewer>;

  /** `watch` has commits of other servers to a strategy notified here, as long as anybody watches it. */
  constructor(watch: (strategyId: string) => Cancel) {
    this.strategies = new Watches(WATCHES_MAX, watch);
  }

  /** Takes a connection on; the bound that is reached if it is one too many. */
  open(socket: Socket, who: { personId: string; sessionId: string }): Viewer | Bound {
    if (this.ofPerson(who.personId).length >= SOCKETS_PER_PERSON_MAX) return "SOCKETS_PER_PERSON_MAX";
    if (this.#all.size >= SOCKETS_MAX) return "SOCKETS_MAX";
    const viewer = new Viewer(socket, who);
    this.#all.add(viewer);
    return viewer;
  }

  /** Forgets a viewer whose connection has ended. */
  close(viewer: Viewer): void {
    viewer.line.end();
    this.#all.delete(viewer);
    this.strategies.drop(viewer);
  }

  all(): readonly Viewer[] {
    return [...this.#all];
  }

  ofPerson(personId: string): readonly Viewer[] {
    return this.all().filter((viewer) => viewer.personId === personId);
  }
}
