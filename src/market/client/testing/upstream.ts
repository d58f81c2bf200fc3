// A reference exchange that the test controls: REST answers by path, streams by hand, over real sockets.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { UpstreamHosts } from "../rest/hosts.ts";

type RestReply = {
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};
type Handler = (search: URLSearchParams) => RestReply | Promise<RestReply>;

type ControlMessage = {
  readonly method: string;
  readonly params: readonly string[];
  readonly id: number;
};

export type Upstream = Awaited<ReturnType<typeof openUpstream>>;

/** `autoPong: false` makes it deaf: pings of the client are not answered. */
export async function openUpstream(options: { readonly autoPong?: boolean } = {}) {
  const handlers = new Map<string, Handler>();
  const requests: string[] = [];
  const controls: ControlMessage[] = [];
  const subscriptions = new Map<WebSocket, Set<string>>();
  const clients: WebSocket[] = [];
  const paths = new Map<WebSocket, string>();
  const unconfirmed: (() => void)[] = [];
  let isAccepting = true;
  let isConfirming = true;
  let isRefusing = false;

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://upstream");
    requests.push(`${url.pathname}${url.search}`);
    const handler = handlers.get(url.pathname);
    write(
      response,
      (await handler?.(url.searchParams)) ?? { status: 404, body: { code: -5000, msg: "no such path" } },
    );
  });
  const streams = new WebSocketServer({ noServer: true, autoPong: options.autoPong ?? true });
  server.on("upgrade", (request, socket, head) => {
    if (!isAccepting) {
      socket.destroy();
      return;
    }
    streams.handleUpgrade(request, socket, head, (client) => {
      clients.push(client);
      paths.set(client, request.url ?? "");
      const subscribed = new Set<string>();
      subscriptions.set(client, subscribed);
      client.on("close", () => subscriptions.delete(client));
      client.on("message", (data) => {
        const message = JSON.parse(data.toString()) as ControlMessage;
        controls.push(message);
        if (isRefusing) {
          client.send(JSON.stringify({ code: 2, msg: "Invalid request", id: message.id }));
          return;
        }
        for (const stream of message.params) {
          if (message.method === "SUBSCRIBE") subscribed.add(stream);
          else subscribed.delete(stream);
        }
        const confirm = () => client.send(JSON.stringify({ result: null, id: message.id }));
        if (isConfirming) confirm();
        else unconfirmed.push(confirm);
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const rest = `http://127.0.0.1:${port}`;
  const ws = `ws://127.0.0.1:${port}`;

  function sendRaw(text: string): void {
    for (const client of subscriptions.keys()) client.send(text);
  }

  function dropConnections(): void {
    for (const client of subscriptions.keys()) client.terminate();
  }

  return {
    hosts: { spotRestUrl: rest, spotWsUrl: ws, futuresRestUrl: rest, futuresWsUrl: ws } as UpstreamHosts,
    /** Path and search of every REST request so far. */
    requests,
    /** Every control message so far. */
    controls,
    /** How many stream connections were opened so far. */
    connections: () => clients.length,
    /** The number of the open connection to a path, which is the only one; 0 if there is none. */
    connectionTo: (path: string): number =>
      1 + clients.findIndex((client) => subscriptions.has(client) && paths.get(client) === path),
    /** Streams that the present connections are subscribed to. */
    subscribed: (): string[] => [...subscriptions.values()].flatMap((streamsOfOne) => [...streamsOfOne]),
    /** The same of one connection alone; the first that was opened is 1. */
    subscribedOn(connection: number): string[] {
      const client = clients[connection - 1];
      return [...((client && subscriptions.get(client)) ?? [])];
    },
    reply: (path: string, handler: Handler) => void handlers.set(path, handler),
    send: (stream: string, data: unknown) => sendRaw(JSON.stringify({ stream, data })),
    sendRaw,
    dropConnections,
    setAccepting(accepting: boolean): void {
      isAccepting = accepting;
    },
    /** While it does not confirm, subscriptions take effect and their answers are held back. */
    setConfirming(confirming: boolean): void {
      isConfirming = confirming;
      if (confirming) for (const confirm of unconfirmed.splice(0)) confirm();
    },
    /** While it refuses, subscriptions are answered with an error and have no effect. */
    setRefusing(refusing: boolean): void {
      isRefusing = refusing;
    },
    /** The same as `send` on one connection alone. */
    sendOn: (connection: number, stream: string, data: unknown) =>
      clients[connection - 1]?.send(JSON.stringify({ stream, data })),
    /** Cuts one connection. */
    drop: (connection: number) => clients[connection - 1]?.terminate(),
    async close(): Promise<void> {
      dropConnections();
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
  };
}

function write(response: ServerResponse, { status = 200, body, headers = {} }: RestReply): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Runs the event loop until `isTrue`. The test's time limit is the only bound. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

/** A row of the spot `exchangeInfo`. */
export function symbolRow(
  symbol: string,
  overrides: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    symbol,
    status: "TRADING",
    baseAsset: symbol.slice(0, -4),
    quoteAsset: symbol.slice(-4),
    orderTypes: ["LIMIT", "MARKET"],
    isSpotTradingAllowed: true,
    filters: [
      {
        filterType: "PRICE_FILTER",
        minPrice: "0.01000000",
        maxPrice: "1000000.00000000",
        tickSize: "0.01000000",
      },
      { filterType: "LOT_SIZE", minQty: "0.00001000", maxQty: "9000.00000000", stepSize: "0.00001000" },
    ],
    ...overrides,
  };
}

/** A row of the futures `exchangeInfo`. */
export function contractRow(
  symbol: string,
  overrides: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    symbol,
    pair: symbol,
    contractType: "PERPETUAL",
    status: "TRADING",
    baseAsset: symbol.slice(0, -4),
    quoteAsset: symbol.slice(-4),
    marginAsset: symbol.slice(-4),
    pricePrecision: 2,
    quantityPrecision: 3,
    liquidationFee: "0.012500",
    marketTakeBound: "0.05",
    triggerProtect: "0.0500",
    orderTypes: ["LIMIT", "MARKET"],
    filters: [
      { filterType: "PRICE_FILTER", minPrice: "0.10", maxPrice: "1000000", tickSize: "0.10" },
      { filterType: "LOT_SIZE", minQty: "0.001", maxQty: "1000", stepSize: "0.001" },
    ],
    ...overrides,
  };
}
