// Two ways to send one trade to all clients of its stream: the gateway's own sockets, fed by the bench, and
// `ws` alone. Both send the same bytes.
import { createServer } from "node:http";
import { pino } from "pino";
import { type WebSocket, WebSocketServer } from "ws";
import { systemTimers } from "../../src/concurrency/time.ts";
import { ConnectionBound } from "../../src/rate-limits/connections.ts";
import { createMarketEndpoints } from "../../src/sockets/market-streams.ts";
import { Sockets } from "../../src/sockets/server.ts";
import type { StreamsMarket } from "../../src/sockets/shared-streams.ts";
import type { Broadcaster } from "../streams/broadcasters.ts";

export const TRADE_BROADCASTERS = ["bareTrades", "trades"] as const;
export type TradeBroadcasterName = (typeof TRADE_BROADCASTERS)[number];

const PATH = "/ws/btcusdt@trade";
const SYMBOL = "BTCUSDT";
const FIRST_ID = 4_800_000_000;
const FIRST_AT = 1_795_000_000_000;
const ANSWER = '{"id":1,"status":200,"result":{"subscriptionId":0}}';

/** As the exchange sends it: the trade of this number, of the same length for each. */
function tradeOf(number: number): object {
  return {
    e: "trade",
    E: FIRST_AT + number,
    s: SYMBOL,
    t: FIRST_ID + number,
    p: `${60_000 + (number % 10_000)}.45000000`,
    q: "0.01250000",
    T: FIRST_AT + number,
    m: number % 2 === 0,
    M: true,
  };
}

/** The text is encoded once and sent to each. Requests are answered, and nothing is checked. */
export function bareTrades(): Broadcaster {
  const server = createServer();
  const clients = new Set<WebSocket>();
  const acceptor = new WebSocketServer({ server, perMessageDeflate: false });
  acceptor.on("connection", (socket) => {
    clients.add(socket);
    socket.on("close", () => clients.delete(socket));
    socket.on("error", () => socket.terminate());
    socket.on("message", () => socket.send(ANSWER));
  });
  return {
    server,
    credentials: [],
    path: PATH,
    publish(number) {
      const bytes = Buffer.from(JSON.stringify(tradeOf(number)));
      for (const client of clients) client.send(bytes, { binary: false });
    },
  };
}

/** Upgrades, limits, sessions and the fan-out are the gateway's own; its market is the bench. */
export function gatewayTrades(): Broadcaster {
  const server = createServer();
  const upstream = new Set<(data: unknown) => void>();
  const market: StreamsMarket = {
    family: "spot",
    exchangeInfo: () => ({ head: {}, symbols: new Map([[SYMBOL, {}]]), version: 1 }),
    clientStreams: {
      subscribe(_stream, listener) {
        upstream.add(listener);
        return () => void upstream.delete(listener);
      },
      joined: () => {},
      isStreaming: () => true,
    },
  };
  new Sockets({
    server,
    endpoints: createMarketEndpoints({ markets: { SPOT: market, FUTURES: market } }),
    perAddress: new ConnectionBound(Number.POSITIVE_INFINITY),
    addressOf: ({ socket }) => socket.remoteAddress ?? "",
    timers: systemTimers,
    wallNow: () => Date.now(),
    log: pino({ level: "error" }),
  });
  return {
    server,
    credentials: [],
    path: PATH,
    publish(number) {
      const trade = tradeOf(number);
      for (const listener of upstream) listener(trade);
    },
  };
}
