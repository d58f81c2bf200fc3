// A way to a venue that counts weight by address, as the reference exchange does: all accounts behind it have
// one budget a minute, and what goes beyond it is answered 429. On the way single routes may be made to
// answer something else. Source: reference exchange, section 4.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { StrategyType } from "../../domain/account.ts";

const MINUTE_MS = 60_000;
const KEEP_ALIVE_MS = 75_000;
const LIMITS: Readonly<Record<StrategyType, number>> = { SPOT: 6_000, FUTURES: 2_400 };
/** With a symbol, and without. */
const WEIGHTS: Readonly<Record<string, readonly [ofOne: number, ofAll: number]>> = {
  "GET /api/v3/account": [20, 20],
  "GET /api/v3/openOrders": [6, 80],
  "GET /api/v3/order": [4, 4],
  "GET /api/v3/myTrades": [20, 20],
  "GET /api/v3/ticker/price": [2, 4],
  "GET /api/v3/exchangeInfo": [20, 20],
  "GET /fapi/v3/account": [5, 5],
  "GET /fapi/v1/openOrders": [1, 40],
  "GET /fapi/v1/openAlgoOrders": [1, 40],
  "GET /fapi/v1/userTrades": [5, 5],
  "GET /fapi/v1/premiumIndex": [1, 10],
  "GET /fapi/v1/income": [30, 30],
};

export type Answer = { readonly status: number; readonly body: string };

export class CountingVenue implements AsyncDisposable {
  readonly #target: URL;
  readonly #server = createServer((incoming, outgoing) => {
    // The venue, or the copier, has hung up: so does the other side.
    this.#take(incoming, outgoing).catch(() => outgoing.destroy());
  });
  #minute = -1;
  /** The weight that it grants in a minute. */
  readonly limit: number;
  /** Wall time, Unix ms; set once there is a clock. */
  now: () => number = () => 0;
  /**
   * What a route, such as `GET /api/v3/account`, answers instead; null lets it pass. HELD: it never answers.
   */
  instead: (route: string) => Answer | "HELD" | null = () => null;
  /** Called before a route is answered. */
  before: (route: string) => Promise<void> = async () => {};
  /** The weight of the present minute. */
  used = 0;
  /** Requests that were refused for going beyond it. */
  refused = 0;
  /** When orders were taken, wall time, Unix ms. */
  readonly ordersAt: number[] = [];
  /** The requested routes. */
  readonly seen: string[] = [];
  /** Requests that are neither answered nor held. */
  pending = 0;

  private constructor(target: string, family: StrategyType) {
    this.#target = new URL(target);
    this.limit = LIMITS[family];
  }

  static async open(target: string, family: StrategyType): Promise<CountingVenue> {
    const venue = new CountingVenue(target, family);
    // Longer than a client keeps an idle connection: a request that meets the close of one is lost.
    venue.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    venue.#server.listen(0, "127.0.0.1");
    await once(venue.#server, "listening");
    return venue;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.pending += 1;
    outgoing.once("close", () => {
      this.pending -= 1;
    });
    const body = await text(incoming);
    const { pathname, searchParams } = new URL(incoming.url ?? "/", this.#target);
    const route = `${incoming.method} ${pathname}`;
    this.seen.push(route);
    const counted = { "x-mbx-used-weight-1m": String(this.#count(route, searchParams.has("symbol"))) };
    await this.before(route);
    const own = this.used > this.limit ? this.#tooMuch() : this.instead(route);
    if (own === "HELD") {
      outgoing.removeAllListeners("close");
      this.pending -= 1;
      return;
    }
    if (own !== null) {
      outgoing.writeHead(own.status, { "content-type": "application/json", ...counted }).end(own.body);
      return;
    }
    if (incoming.method === "POST" && pathname.endsWith("/order")) this.ordersAt.push(this.now());
    const { status, headers, answer } = await this.#pass(incoming, body);
    const isRules = pathname.endsWith("/exchangeInfo");
    const { "content-length": _, "transfer-encoding": __, ...kept } = headers;
    outgoing.writeHead(status, { ...kept, ...counted }).end(isRules ? this.#published(answer) : answer);
  }

  #count(route: string, hasSymbol: boolean): number {
    const minute = Math.floor(this.now() / MINUTE_MS);
    if (minute !== this.#minute) this.used = 0;
    this.#minute = minute;
    const [ofOne, ofAll] = WEIGHTS[route] ?? [1, 1];
    this.used += hasSymbol ? ofOne : ofAll;
    return this.used;
  }

  #tooMuch(): Answer {
    this.refused += 1;
    return { status: 429, body: JSON.stringify({ code: -1003, msg: "Too many requests." }) };
  }

  /** Its rules with the weight that it grants. */
  #published(answer: string): string {
    const rules = JSON.parse(answer);
    for (const each of rules.rateLimits) {
      if (each.rateLimitType === "REQUEST_WEIGHT") each.limit = this.limit;
    }
    return JSON.stringify(rules);
  }

  async #pass({ method, url, headers }: IncomingMessage, body: string) {
    const { hostname, port } = this.#target;
    const sent = request({ hostname, port, method, path: url, headers });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return { status: answer.statusCode ?? 500, headers: answer.headers, answer: await text(answer) };
  }
}
