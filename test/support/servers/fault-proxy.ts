// The proxy of all tests: it forwards requests and WebSockets to a server, and has each request meet the
// faults of a rule. A request that it has taken reaches the server whatever becomes of its sender, unless the
// rule says otherwise.
import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";

export type Passing = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Method and path, such as `POST /api/v3/order`. */
  readonly route: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The sender's connection. */
  readonly socket: Socket;
};
export type Answer = {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body: string | Buffer;
};
export type Send = (passing: Omit<Passing, "route" | "socket">) => Promise<Answer>;

/** The faults that one request meets; an empty rule forwards it. */
export type Rule = {
  /** How long it waits before the server gets it: ms, or until something has happened. */
  readonly hold?: number | Promise<unknown>;
  /**
   * When its sender is hung up on.
   *
   *   BEFORE    the server gets nothing of it
   *   AT_ONCE   the server gets all of it, after `hold`
   *   WITHIN    the server has the given part of it
   *   FORWARDED the server has all of it: `cutMs` later, or when it answers before
   *   AFTER     the server has answered
   *   ANSWERING the sender has the given part of the answer
   */
  readonly cut?: "BEFORE" | "AT_ONCE" | "WITHIN" | "FORWARDED" | "AFTER" | "ANSWERING";
  readonly cutMs?: number;
  /** From 0 to less than 1. */
  readonly part?: number;
  /** What is answered in the server's stead, which gets the request only if it `isForwarded`. */
  readonly answer?: Answer;
  readonly isForwarded?: boolean;
  /** How long the answer waits, ms. */
  readonly delayMs?: number;
};

export type ProxyOptions = {
  readonly rule?: (passing: Passing) => Rule | Promise<Rule>;
  /** Called between the rule and the server; its answer replaces the server's. */
  readonly through?: (passing: Passing, send: Send) => Promise<Answer>;
  /** Whether a new connection is taken; one that is not is hung up on. */
  readonly admits?: (socket: Socket) => boolean;
  /** Takes an upgrade to WebSocket; if it answers false, the upgrade is forwarded. */
  readonly join?: (incoming: IncomingMessage, socket: Socket, head: Buffer) => boolean;
};

/** Longer than a client keeps an idle connection: only rules cut. */
const KEEP_ALIVE_MS = 75_000;
const CONNECTIONS_MAX = 2_000;
/** Of an answer that does not say what it is. */
const JSON_TYPE = { "content-type": "application/json;charset=UTF-8" };

export class FaultProxy implements AsyncDisposable {
  readonly #options: ProxyOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((incoming, outgoing) => {
    // The server, or the sender, has hung up: so does the other side.
    this.#take(incoming, outgoing).catch(() => outgoing.destroy());
  });
  #target: URL | null = null;
  readonly #planned: { readonly route: string; readonly rule: Rule }[] = [];
  /** The routes that were asked for, in order. */
  readonly seen: string[] = [];
  /** Requests that were taken and are not answered, nor hung up on. */
  pending = 0;
  /** WebSockets that are open. */
  webSockets = 0;

  private constructor(options: ProxyOptions) {
    this.#options = options;
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.on("connection", (socket: Socket) => {
      this.#keep(socket);
      const isTaken = this.#target !== null && this.#sockets.size <= CONNECTIONS_MAX;
      if (!isTaken || options.admits?.(socket) === false) socket.destroy();
    });
    this.#server.on("upgrade", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      if (options.join?.(incoming, socket, head) !== true) this.#join(incoming, socket, head);
    });
  }

  /** Opens a proxy on a free port of the loopback address. Without a target it hangs up on everybody. */
  static async open(target: string | null, options: ProxyOptions = {}): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    proxy.aim(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forwards to this server from now on, or to none. */
  aim(target: string | null): void {
    this.#target = target === null ? null : new URL(target);
  }

  /** The next request of a route that nothing is planned for yet meets this rule. */
  plan(route: string, rule: Rule): void {
    this.#planned.push({ route, rule });
  }

  /** Cuts all connections now. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    this.#agent.destroy();
    await closed;
  }

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers, socket } = incoming;
    this.pending += 1;
    outgoing.once("close", () => {
      this.pending -= 1;
    });
    const [path = "", query = ""] = url.split("?", 2);
    const passing = {
      method,
      path,
      query,
      route: `${method} ${path}`,
      headers,
      body: await buffer(incoming),
      socket,
    };
    this.seen.push(passing.route);
    const index = this.#planned.findIndex(({ route }) => route === passing.route);
    const [planned] = index === -1 ? [] : this.#planned.splice(index, 1);
    const rule = planned?.rule ?? (await this.#options.rule?.(passing)) ?? {};
    const { hold, cut, answer, isForwarded = answer === undefined } = rule;
    if (cut === "AT_ONCE") outgoing.destroy();
    if (hold !== undefined) await (typeof hold === "number" ? pause(hold) : hold);
    if (cut === "BEFORE") return void outgoing.destroy();
    if (cut === "WITHIN") return this.#forwardPart(incoming, passing, rule.part ?? 0);
    const forwarded = new AbortController();
    if (cut === "FORWARDED") {
      setTimeout(() => {
        forwarded.abort();
        outgoing.destroy();
      }, rule.cutMs);
    }
    const theirs = isForwarded ? await this.#pass(passing, forwarded.signal) : undefined;
    const answered = answer ?? theirs;
    if (answered === undefined || cut === "AFTER" || cut === "FORWARDED") return void outgoing.destroy();
    if (rule.delayMs !== undefined) await pause(rule.delayMs);
    if (outgoing.destroyed) return;
    const body = Buffer.from(answered.body);
    outgoing.writeHead(answered.status, { ...JSON_TYPE, ...answered.headers, "content-length": body.length });
    if (cut !== "ANSWERING") return void outgoing.end(body);
    const part = body.subarray(0, Math.floor((rule.part ?? 0) * body.length));
    outgoing.write(part, () => outgoing.destroy());
  }

  async #pass(passing: Passing, signal: AbortSignal): Promise<Answer> {
    const send: Send = (sent) => this.#send(sent, signal);
    return await (this.#options.through?.(passing, send) ?? send(passing));
  }

  async #send(
    { method, path, query, headers, body }: Parameters<Send>[0],
    signal: AbortSignal,
  ): Promise<Answer> {
    if (this.#target === null) throw new Error("there is no server to forward to");
    const { hostname, port } = this.#target;
    // Those of the body follow from what is sent from here; compressed answers could not be read.
    const left = new Set(["connection", "host", "transfer-encoding", "content-length", "accept-encoding"]);
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
    const hasBody = body.length > 0 || method === "POST" || method === "PUT";
    const sent = request({
      ...{ agent: this.#agent, hostname, port, method, signal },
      path: query === "" ? path : `${path}?${query}`,
      headers: hasBody ? { ...kept, "content-length": body.length } : kept,
    });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    const { connection: _c, "transfer-encoding": _t, "keep-alive": _k, ...told } = answer.headers;
    return { status: answer.statusCode ?? 0, headers: told, body: await buffer(answer) };
  }

  /** Sends the server a part of a request, which is at least a byte short, and hangs up on both. */
  #forwardPart(incoming: IncomingMessage, { body, socket }: Passing, part: number): void {
    const whole = Buffer.concat([headOf(incoming), body]);
    const server = this.#connect(socket);
    server.end(whole.subarray(0, Math.floor(part * whole.length)), () => {
      socket.destroy();
      server.destroy();
    });
  }

  #join(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    const server = this.#connect(socket);
    this.webSockets += 1;
    socket.once("close", () => {
      this.webSockets -= 1;
    });
    server.write(Buffer.concat([headOf(incoming), head]));
    socket.pipe(server).pipe(socket);
  }

  /** A connection to the server that ends with its sender's, and the other way round. */
  #connect(sender: Socket): Socket {
    if (this.#target === null) return sender.destroy();
    const server = connect(Number(this.#target.port), this.#target.hostname);
    this.#keep(server);
    server.once("close", () => sender.destroy());
    sender.once("close", () => server.destroy());
    return server;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // A socket that fails is closed next.
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

/** The head of a request as it came. */
function headOf({ method, url, rawHeaders }: IncomingMessage): Buffer {
  const fields = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return Buffer.from(`${method} ${url} HTTP/1.1\r\n${fields.join("")}\r\n`, "latin1");
}

/** Does not keep the process. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
