// Where the reference exchange's public data is, and which address carries what.
import type { StrategyType } from "../../../domain/account.ts";

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
export function streamUrlOf(hosts: UpstreamHosts, type: StrategyType, path: string): string {
  return `${withoutSlash(type === "SPOT" ? hosts.spotWsUrl : hosts.futuresWsUrl)}${path}`;
}

export function restUrlOf(hosts: UpstreamHosts, type: StrategyType): string {
  return withoutSlash(type === "SPOT" ? hosts.spotRestUrl : hosts.futuresRestUrl);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
