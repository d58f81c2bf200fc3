// A proxy to a venue that injects planned faults: the next request that matches a fault meets it, all others
// pass.
//   CUT_BEFORE   the connection is cut; the venue sees nothing of the request
//   CUT_AFTER    the venue executes it, and its answer is lost
//   ERROR_AFTER  the venue executes it, and the answer is replaced
//   ANSWER       the proxy answers; the venue sees nothing of the request
//   HOLD, LATE   held until it is released; LATE also cuts the client's connection at once
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Fault =
  | { readonly kind: "CUT_BEFORE" | "CUT_AFTER" | "HOLD" | "LATE" }
  | {
      readonly kind: "ERROR_AFTER" | "ANSWER";
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

type Passage = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

export class FaultyProxy implements AsyncDisposable {
  readonly #target: URL;
  readonly #planned: { readonly route: string; readonly fault: Fault }[] = [];
  readonly #held: { readonly pass: () => Promise<Passage>; readonly told: () => void }[] = [];
  readonly #server = createServer((incoming, outgoing) => {
    // The venue, or the copier, has hung up: so does the other side.
    this.#take(incoming, outgoing).catch(() => outgoing.destroy());
  });
  #holding = Promise.withResolvers<void>();
  /** The requested routes, such as `POST /api/v3/order`, in order. */
  readonly seen: string[] = [];
  /** Those of them that the venue has answered with success. */
  readonly taken: string[] = [];

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  static async open(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    // Longer than a client keeps an idle connection: only what is planned is cut.
    proxy.#server.keepAliveTimeout = 75_000;
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next request of a route that none is planned for yet meets this. */
  plan(route: string, fault: Fault): void {
    this.#planned.push({ route, fault });
  }

  /** Resolves when a request is held. */
  async held(): Promise<void> {
    await this.#holding.promise;
  }

  /** Forwards the held requests to the venue, and returns its answers. */
  async release(): Promise<readonly Passage[]> {
    this.#holding = Promise.withResolvers();
    const passages: Passage[] = [];
    for (const { pass, told } of this.#held.splice(0)) {
      passages.push(await pass());
      told();
    }
    return passages;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = incoming;
    const body = await text(incoming);
    const route = `${method} ${url.split("?")[0]}`;
    this.seen.push(route);
    const index = this.#planned.findIndex((each) => each.route === route);
    const fault = index === -1 ? null : (this.#planned.splice(index, 1)[0]?.fault ?? null);
    const pass = () => this.#pass(method, url, incoming.headers, body);
    switch (fault?.kind) {
      case "CUT_BEFORE":
        incoming.socket.destroy();
        return;
      case "CUT_AFTER":
        await pass();
        incoming.socket.destroy();
        return;
      case "HOLD":
        this.#held.push({ pass, told: () => incoming.socket.destroy() });
        this.#holding.resolve();
        return;
      case "LATE":
        this.#held.push({ pass, told: () => {} });
        incoming.socket.destroy();
        return;
      case "ERROR_AFTER":
        await pass();
        outgoing.writeHead(fault.status, fault.headers).end(fault.body);
        return;
      case "ANSWER":
        outgoing.writeHead(fault.status, fault.headers).end(fault.body);
        return;
      default: {
        const { status, headers, body: answer } = await pass();
        outgoing.writeHead(status, headers).end(answer);
      }
    }
  }

  async #pass(
    method: string,
    path: string,
    headers: IncomingMessage["headers"],
    body: string,
  ): Promise<Passage> {
    const { hostname, port } = this.#target;
    const { connection: _, host: __, ...others } = headers;
    const asked = request({ hostname, port, method, path, headers: others, agent: false });
    asked.end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    if (answer.statusCode === 200) this.taken.push(`${method} ${path.split("?")[0]}`);
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
  }
}
