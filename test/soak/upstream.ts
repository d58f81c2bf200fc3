// The market of a soak: a simulated exchange behind a proxy of its own, which cuts the stream connections through it and may
// turn new ones away for a while. Loopback only.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";

export type SoakUpstream = {
  /** Where a gateway finds it. */
  readonly env: Readonly<Record<string, string>>;
  /** The pairs that are traded. */
  readonly pairs: readonly string[];
  /** How many stream connections of spot go through the proxy now. */
  readonly connections: number;
  /** Cuts all of them without a goodbye. */
  cut(): void;
  /** Away: new connections are cut at once, and spot's REST answers 503. */
  setAway(isAway: boolean): void;
  close(): Promise<void>;
};

const HOST = "127.0.0.1";
/** More than a gateway ever opens; what is above is turned away. */
const CONNECTIONS_MAX = 64;

export async function openSoakUpstream(seed: number): Promise<SoakUpstream> {
  const exchange = await openSimulatedExchange({ seed });
  const exchangePort = Number(new URL(exchange.spotWsUrl).port);
  const open = new Map<Socket, Socket>();
  let isAway = false;
  const proxy = createServer((client) => {
    // A socket that is cut has nothing to say of it.
    client.on("error", () => client.destroy());
    if (isAway || open.size >= CONNECTIONS_MAX) return void client.destroy();
    const server = connect(exchangePort, HOST);
    server.on("error", () => server.destroy());
    open.set(client, server);
    client.pipe(server).pipe(client);
    const end = () => {
      open.delete(client);
      client.destroy();
      server.destroy();
    };
    client.once("close", end);
    server.once("close", end);
  });
  await new Promise<void>((resolve) => proxy.listen(0, HOST, resolve));
  const { port } = proxy.address() as AddressInfo;
  const cut = () => {
    for (const [client, server] of open) {
      client.destroy();
      server.destroy();
    }
    open.clear();
  };
  return {
    env: {
      UPSTREAM_SPOT_REST_URL: exchange.spotRestUrl,
      UPSTREAM_SPOT_WS_URL: `ws://${HOST}:${port}`,
      UPSTREAM_FUTURES_REST_URL: exchange.futuresRestUrl,
      UPSTREAM_FUTURES_WS_URL: exchange.futuresWsUrl,
    },
    pairs: await pairsOf(exchange.spotRestUrl),
    get connections() {
      return open.size;
    },
    cut,
    setAway(willBeAway) {
      isAway = willBeAway;
      if (isAway) exchange.refuseRest("spot");
      else exchange.resumeRest("spot");
    },
    async close() {
      cut();
      await new Promise((resolve) => proxy.close(resolve));
      await exchange.close();
    },
  };
}

async function pairsOf(restUrl: string): Promise<string[]> {
  const response = await fetch(`${restUrl}/api/v3/exchangeInfo`);
  const { symbols } = (await response.json()) as {
    symbols: readonly { symbol: string; status: string; isSpotTradingAllowed: boolean }[];
  };
  return symbols
    .filter(({ status, isSpotTradingAllowed }) => status === "TRADING" && isSpotTradingAllowed)
    .map(({ symbol }) => symbol);
}
