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

/** The address of a path of combined streams; SUBSCRIBE messages choose the streams afterwards. */
export function streamUrlOf(hosts: UpstreamHosts, family: Family, path: string): string {
  return `${withoutSlash(family === "spot" ? hosts.spotWsUrl : hosts.futuresWsUrl)}${path}`;
}

export function restUrlOf(hosts: UpstreamHosts, family: Family): string {
  return withoutSlash(family === "spot" ? hosts.spotRestUrl : hosts.futuresRestUrl);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
