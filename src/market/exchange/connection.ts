/**
 * One client's stream connection: its subscriptions, its pongs and the bound on what waits to be sent to it.
 */
import type { WebSocket } from "ws";
import { answerTo, type Controlled, type SubscribeFault } from "./control-messages.ts";
import type { Hub } from "./hub.ts";

/** Source: reference section 17.1. */
export const streamsPerConnectionMax = 1_024;

/** Send buffer; a client that exceeds it is disconnected. */
export const bufferedBytesMax = 8 * 1024 * 1024;

/** Pings without an answer before a client counts as dead: a minute at one every 20 seconds. */
const unansweredPingsMax = 3;

/**
 * Futures streams are split by path, and a routed connection carries only those of its path (reference
 * section 17.2). A plain one carries all: on the reference it is left with the public ones, but programs
 * written before the split ask for everything on one connection, and here they get it.
 */
export type StreamRoute = "plain" | "public" | "market";

/** Books and single trades; every other futures stream is on the other route. */
const isOnPublicRoute = (stream: string) => /@(bookTicker|depth|rpiDepth|trade$)|^!bookTicker$/.test(stream);

export class Connection implements Controlled {
  isCombined: boolean;
  readonly #socket: WebSocket;
  readonly #hub: Hub;
  readonly #route: StreamRoute;
  readonly #streams = new Set<string>();
  #unansweredPings = 0;

  constructor(socket: WebSocket, options: { hub: Hub; route: StreamRoute; isCombined: boolean }) {
    this.#socket = socket;
    this.#hub = options.hub;
    this.#route = options.route;
    this.isCombined = options.isCombined;
    socket.on("pong", () => {
      this.#unansweredPings = 0;
    });
    socket.on("message", (data) => socket.send(answerTo(this, String(data))));
    socket.on("close", () => this.unsubscribe([...this.#streams]));
    // A broken socket closes; there is nothing else to do about it.
    socket.on("error", () => socket.terminate());
  }

  subscribe(streams: readonly string[]): SubscribeFault | null {
    const added = new Set(streams.filter((stream) => !this.#streams.has(stream)));
    if (this.#streams.size + added.size > streamsPerConnectionMax) return "too many streams";
    for (const stream of added) {
      this.#streams.add(stream);
      if (this.#carries(stream)) this.#hub.add(this, stream);
    }
    return null;
  }

  unsubscribe(streams: readonly string[]): void {
    for (const stream of streams) {
      if (this.#streams.delete(stream)) this.#hub.remove(this, stream);
    }
  }

  subscriptions(): readonly string[] {
    return [...this.#streams];
  }

  send(stream: string, payload: string): void {
    if (this.#socket.bufferedAmount > bufferedBytesMax) {
      this.#socket.terminate();
      return;
    }
    this.#socket.send(this.isCombined ? `{"stream":"${stream}","data":${payload}}` : payload);
  }

  /** Pings the client, or disconnects it after too many unanswered pings. */
  ping(): void {
    if (this.#unansweredPings >= unansweredPingsMax) {
      this.#socket.terminate();
      return;
    }
    this.#unansweredPings += 1;
    this.#socket.ping();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  // A stream that a route does not carry may be subscribed to and stays silent.
  #carries(stream: string): boolean {
    if (this.#route === "plain") return true;
    return isOnPublicRoute(stream) === (this.#route === "public");
  }
}
