// The market of a soak: a simulated exchange behind a proxy of its own, which cuts the stream connections
// through it and may turn new ones away for a while. Loopback only.
import { openSimulatedExchange } from "../../../src/market/simulated/open.ts";
import { FaultProxy } from "../../support/servers/fault-proxy.ts";
import { upstreamEnv } from "../../support/servers/gateway.ts";

export type SoakUpstream = Awaited<ReturnType<typeof openSoakUpstream>>;

export async function openSoakUpstream(seed: number) {
  const exchange = await openSimulatedExchange({ seed });
  let isAway = false;
  const streams = new URL(exchange.spotWsUrl.replace("ws:", "http:")).origin;
  const proxy = await FaultProxy.open(streams, { admits: () => !isAway });
  return {
    /** Where a gateway finds it. */
    env: { ...upstreamEnv(exchange), UPSTREAM_SPOT_WS_URL: proxy.url.replace("http:", "ws:") },
    /** The pairs that are traded. */
    pairs: await pairsOf(exchange.spotRestUrl),
    /** How many stream connections of spot go through the proxy now. */
    get connections(): number {
      return proxy.webSockets;
    },
    /** Cuts all of them without a goodbye. */
    cut: () => proxy.cut(),
    /** Away: new connections are cut at once, and spot's REST answers 503. */
    setAway(willBeAway: boolean): void {
      isAway = willBeAway;
      if (isAway) exchange.refuseRest("SPOT");
      else exchange.resumeRest("SPOT");
    },
    async close(): Promise<void> {
      await proxy[Symbol.asyncDispose]();
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
