// Where the reference exchange's public data is, and which address carries what.

export type Family = "spot" | "futures";

export type UpstreamHosts = {
  readonly spotRestUrl: string;
  readonly spotWsUrl: string;
  readonly futuresRestUrl: string;
  readonly futuresWsUrl: string;
};

/** The reference exchange itself. */
export const liveHosts: UpstreamHosts = {
  spotRestUrl: "https://api.binance.com",
  spotWsUrl: "wss://stream.binance.com:9443",
  futuresRestUrl: "https://fapi.binance.com",
  futuresWsUrl: "wss://fstream.binance.com",
};

/** One WebSocket connection serves one route; futures streams are split over two. Source: reference exchange, section 17. */
export type StreamRoute = "spot" | "futuresPublic" | "futuresMarket";

/** The address of the combined streams of a route; what is streamed is said by SUBSCRIBE messages afterwards. */
export function combinedStreamUrl(hosts: UpstreamHosts, route: StreamRoute): string {
  if (route === "spot") return `${withoutSlash(hosts.spotWsUrl)}/stream`;
  return `${withoutSlash(hosts.futuresWsUrl)}/${route === "futuresPublic" ? "public" : "market"}/stream`;
}

/** Books are public streams on the futures side, everything else there is market. Source: reference exchange, section 17.2. */
export function streamRouteOf(family: Family, stream: string): StreamRoute {
  if (family === "spot") return "spot";
  return /^!bookTicker$|@bookTicker$|@depth|@rpiDepth/.test(stream) ? "futuresPublic" : "futuresMarket";
}

/** The REST host of a path: `/fapi/…` is futures, everything else spot. */
export function familyOfPath(path: string): Family {
  return path.startsWith("/fapi/") ? "futures" : "spot";
}

export function restUrlOf(hosts: UpstreamHosts, family: Family): string {
  return withoutSlash(family === "spot" ? hosts.spotRestUrl : hosts.futuresRestUrl);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
