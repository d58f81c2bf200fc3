// The smallest client of the WebSocket API: it signs, pairs answers with requests by their ids, and keeps
// what came without one.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import WebSocket from "ws";
import type { Credentials } from "../servers/gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
export type ApiAnswer = any;
type Params = Readonly<Record<string, unknown>>;

export class ApiSocket {
  readonly socket: WebSocket;
  /** Messages in the order of their arrival, parsed. */
  readonly messages: ApiAnswer[] = [];
  readonly #waiting = new Map<unknown, (answer: ApiAnswer) => void>();
  readonly #awaited: { isWanted: (message: ApiAnswer) => boolean; resolve: (message: ApiAnswer) => void }[] =
    [];
  closeCode: number | null = null;
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      this.messages.push(message);
      this.#waiting.get(message.id)?.(message);
      for (const each of this.#awaited.splice(0)) {
        if (each.isWanted(message)) each.resolve(message);
        else this.#awaited.push(each);
      }
    });
    socket.on("close", (code) => {
      this.closeCode = code;
    });
    socket.on("error", () => {});
  }

  /** Connects to a gateway's `http://…` address. */
  static async open(url: string, path = "/ws-api/v3"): Promise<ApiSocket> {
    const client = new ApiSocket(new WebSocket(url.replace(/^http/, "ws") + path));
    await once(client.socket, "open");
    return client;
  }

  /** Sends a request and resolves with its answer. */
  async request(method: string, params?: Params, id: unknown = this.#newId()): Promise<ApiAnswer> {
    return await this.sendText(JSON.stringify({ id, method, ...(params && { params }) }), id);
  }

  /** Sends text as it is; resolves with the answer that has this id. */
  async sendText(text: string, id: unknown): Promise<ApiAnswer> {
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.socket.send(text);
    return await answer;
  }

  /** A request with key, timestamp and signature. */
  async signed(method: string, credentials: Pick<Credentials, "apiKey" | "apiSecret">, params: Params = {}) {
    return await this.request(method, signedParams(credentials, params));
  }

  /** Resolves with the first message, of those that came or come, that is wanted. */
  async message(isWanted: (message: ApiAnswer) => boolean): Promise<ApiAnswer> {
    const found = this.messages.find(isWanted);
    if (found !== undefined) return found;
    return await new Promise((resolve) => this.#awaited.push({ isWanted, resolve }));
  }

  close(): void {
    this.socket.terminate();
  }

  #newId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

/** Signs parameters as the exchange's documentation says: sorted by name, values as they are. */
export function signedParams(
  { apiKey, apiSecret }: Pick<Credentials, "apiKey" | "apiSecret">,
  params: Params,
): Params {
  const all: Record<string, unknown> = { timestamp: Date.now(), ...params, apiKey };
  const text = Object.keys(all)
    .sort()
    .map((name) => `${name}=${all[name]}`)
    .join("&");
  return { ...all, signature: createHmac("sha256", apiSecret).update(text).digest("hex") };
}
