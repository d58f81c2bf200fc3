// A server that answers what the test has laid out for its routes, as bodies were published or recorded.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Laid = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
};

export class BodiesServer implements AsyncDisposable {
  readonly #laid = new Map<string, Laid[]>();
  readonly #server;
  /** The requests: method, path, and all parameters but those of every signed request. */
  readonly asked: string[] = [];
  connections = 0;

  private constructor(instead: RequestListener | null) {
    this.#server = createServer(instead ?? ((incoming, outgoing) => void this.#answer(incoming, outgoing)));
    this.#server.on("connection", () => {
      this.connections += 1;
    });
  }

  /** `instead`: answers everything by itself. */
  static async open(instead: RequestListener | null = null): Promise<BodiesServer> {
    const opened = new BodiesServer(instead);
    opened.#server.listen(0, "127.0.0.1");
    await once(opened.#server, "listening");
    opened.lay("GET /api/v3/time", { body: { serverTime: Date.now() } });
    return opened;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next answer of a route; the last that was laid out is repeated. */
  lay(route: string, ...answers: readonly Laid[]): void {
    this.#laid.set(route, [...answers]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(
    incoming: Parameters<RequestListener>[0],
    outgoing: Parameters<RequestListener>[1],
  ): Promise<void> {
    const [path = "", query = ""] = (incoming.url ?? "").split("?");
    const parameters = new URLSearchParams(query + (await text(incoming)));
    for (const name of ["timestamp", "recvWindow", "signature"]) parameters.delete(name);
    this.asked.push(`${incoming.method} ${path} ${parameters}`.trim());
    const laid = this.#laid.get(`${incoming.method} ${path}`) ?? [];
    const {
      status = 200,
      headers = {},
      body,
    } = (laid.length > 1 ? laid.shift() : laid[0]) ?? {
      status: 404,
      body: "",
    };
    outgoing.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  }
}
