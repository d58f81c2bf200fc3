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

/** The address of the combined spot streams; what is streamed is said by SUBSCRIBE messages afterwards. */
export function spotStreamUrl(hosts: UpstreamHosts): string {
  return `${withoutSlash(hosts.spotWsUrl)}/stream`;
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
