// The endpoints of the exchange's market streams: spot at `/ws` and `/stream`, futures at `/public` and
// `/market`, each of which serves every futures stream. User data has endpoints of its own, which go first.
// Source: reference sockets, sections 1 and 3.
import type { StrategyType } from "../domain/account.ts";
import { isWellFormed } from "../market/exchange/control-messages.ts";
import { addressHolder } from "../rate-limits/holder.ts";
import { FUTURES_PING, SPOT_PING } from "./limits.ts";
import { decoded, type ListenKeyNames } from "./private-streams.ts";
import { type Endpoint, unservedIn } from "./server.ts";
import { SharedStreams, type StreamsMarket } from "./shared-streams.ts";
import { serveStreams } from "./stream-session.ts";

export type MarketEndpointsParts = {
  readonly markets: { readonly [T in StrategyType]: StreamsMarket };
  /** Listen keys of futures, which older clients use on the addresses that are spot's here. */
  readonly listenKeysOf?: (query: string) => ListenKeyNames;
};

/** `/stream/ws` is for clients that tell spot from futures by `/stream` in the address. */
const SPOT_PATH = /^(?:\/stream)?\/ws(?:\/(?<names>.*))?$|^\/(?<combined>stream)\/?$/;
const FUTURES_PATH = /^\/(?:public|market)\/(?:ws(?:\/(?<names>.*))?|(?<combined>stream)\/?)$/;

/** One endpoint per type. */
export function createMarketEndpoints({ markets, listenKeysOf }: MarketEndpointsParts): readonly Endpoint[] {
  const endpointOf = (type: StrategyType, paths: RegExp, ping: Endpoint["ping"]): Endpoint => {
    const market = new SharedStreams(markets[type]);
    return {
      ping,
      takes: (path) => paths.test(path),
      // On the exchange too, streams of futures have no other times.
      refusalOf: ({ query }) => (type === "SPOT" ? unservedIn(query, { timeUnit: "MILLISECOND" }) : null),
      open({ path, query, address }) {
        const { names, combined } = paths.exec(path)?.groups ?? {};
        const isCombined = combined !== undefined;
        const listenKeys = type === "SPOT" ? listenKeysOf?.(query) : undefined;
        const { asked = [], ownNames } = listenKeys ?? {};
        const inAddress = namesIn(isCombined ? streamsIn(query) : (names ?? ""));
        return serveStreams([...asked, ...inAddress], {
          ...{ address: addressHolder(address), isCombined, market },
          ...(ownNames && { ownNames }),
        });
      },
    };
  };
  return [endpointOf("SPOT", SPOT_PATH, SPOT_PING), endpointOf("FUTURES", FUTURES_PATH, FUTURES_PING)];
}

/** The value of `streams` in a query, as received: a plus sign in a name is itself. */
function streamsIn(query: string): string {
  const found = query.split("&").find((parameter) => parameter.startsWith("streams="));
  return found === undefined ? "" : found.slice("streams=".length);
}

/** The names in `a/b/c`; they may be percent-encoded. What cannot be a name is ignored. */
function namesIn(list: string): readonly string[] {
  return decoded(list).split("/").filter(isWellFormed);
}
