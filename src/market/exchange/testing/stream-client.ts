/** A client of the exchange's streams that stores its messages, for tests. */
import { WebSocket } from "ws";

/** Fields that tests check; a payload has some of them. */
type HeardPayload = {
  readonly e?: string;
  readonly E?: number;
  readonly s?: string;
  readonly u?: number;
  readonly t?: number;
  readonly T?: number;
  readonly p?: string;
  readonly w?: string;
  readonly b?: string;
  readonly a?: string;
  readonly lastUpdateId?: number;
  readonly bids?: readonly (readonly [string, string])[];
  readonly asks?: readonly (readonly [string, string])[];
  readonly k?: {
    readonly t: number;
    readonly T: number;
    readonly i: string;
    readonly x: boolean;
    readonly n: number;
  };
};

export type HeardMessage = { readonly stream: string; readonly data: HeardPayload };

export class StreamClient {
  readonly socket: WebSocket;
  #messages: HeardMessage[] = [];
  readonly #replies = new Map<unknown, (reply: unknown) => void>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as { id?: unknown; stream?: string; data?: HeardPayload };
      const answered = this.#replies.get(message.id);
      if (answered) {
        this.#replies.delete(message.id);
        answered(message);
      } else if (message.stream !== undefined && message.data) {
        this.#messages.push({ stream: message.stream, data: message.data });
      } else {
        this.#messages.push({ stream: "", data: message as HeardPayload });
      }
    });
  }

  /** Resolves when connected; rejects when turned away. */
  static open(url: string): Promise<StreamClient> {
    const socket = new WebSocket(url);
    const client = new StreamClient(socket);
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(client));
      socket.on("error", reject);
    });
  }

  /** Sends a control message and waits for its answer. */
  ask(method: string, params?: unknown): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#replies.set(id, resolve);
      this.socket.send(JSON.stringify({ method, ...(params === undefined ? {} : { params }), id }));
    });
  }

  /** All messages so far; an answered request proves that nothing sent before it is still in flight. */
  async received(): Promise<readonly HeardMessage[]> {
    await this.ask("LIST_SUBSCRIPTIONS");
    return this.#messages;
  }

  /** Drops the stored messages. */
  forget(): void {
    this.#messages = [];
  }

  closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.readyState === WebSocket.CLOSED) resolve();
      else this.socket.once("close", () => resolve());
    });
  }

  close(): void {
    this.socket.terminate();
  }
}
