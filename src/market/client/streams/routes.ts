// Presents the stream connections of all paths as one; each path has connections of its own.
// `connectionsMax` is divided equally among the paths, at least one each.
import { createReconnectPacer } from "../rest/backoff.ts";
import { streamUrlOf, type UpstreamHosts } from "../rest/hosts.ts";
import { type Connections, type ConnectionsOptions, createConnections } from "./connections.ts";
import type { FamilyProtocol } from "./protocol.ts";

export type RoutesOptions = Omit<ConnectionsOptions, "url" | "reconnects"> & {
  readonly hosts: UpstreamHosts;
  readonly protocol: Pick<FamilyProtocol, "family" | "streamPaths" | "streamPathOf">;
};

export function createRoutes({ hosts, protocol, connectionsMax, ...options }: RoutesOptions): Connections {
  const { family, streamPaths, streamPathOf } = protocol;
  const reconnects = createReconnectPacer(options.wallClock, options.timers);
  const shareMax = Math.max(1, Math.floor(connectionsMax / streamPaths.length));
  const byPath = new Map(
    streamPaths.map((path) => {
      const url = streamUrlOf(hosts, family, path);
      return [path, createConnections({ ...options, url, reconnects, connectionsMax: shareMax })];
    }),
  );
  const all = [...byPath.values()];

  function routeOf(stream: string): Connections {
    const route = byPath.get(streamPathOf(stream));
    if (route === undefined) throw new Error(`a stream must have a path of its family: ${stream}`);
    return route;
  }

  return {
    open() {
      for (const route of all) route.open();
    },
    want: (stream) => routeOf(stream).want(stream),
    unwant: (stream) => routeOf(stream).unwant(stream),
    isConfirmed: (stream) => routeOf(stream).isConfirmed(stream),
    isOpenFor: (stream) => routeOf(stream).isOpenFor(stream),
    status() {
      const each = all.map((route) => route.status());
      return {
        connected: each.every(({ connected }) => connected),
        lastMessageAt: Math.max(...each.map(({ lastMessageAt }) => lastMessageAt)),
        connects: each.reduce((total, { connects }) => total + connects, 0),
        streams: each.reduce((total, { streams }) => total + streams, 0),
      };
    },
    async close() {
      reconnects.close();
      await Promise.all(all.map((route) => route.close()));
    },
  };
}
