// A market feed without sockets, for thousands of runs: stream messages arrive at once, answers are the
// test's.
import type { UpstreamAnswer } from "../../market/client/rest/rest.ts";

export type StubMarket = {
  subscribe(stream: string, listener: (data: unknown) => void): () => void;
  isStreaming(stream: string): boolean;
  query(path: string, search: URLSearchParams | string): Promise<UpstreamAnswer>;
  isUp: boolean;
  say(stream: string, data: unknown): void;
};

export function createStubMarket(
  answer: (search: URLSearchParams) => UpstreamAnswer | Promise<UpstreamAnswer>,
): StubMarket {
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  const market: StubMarket = {
    isUp: true,
    subscribe(stream, listener) {
      const ofStream = listeners.get(stream) ?? new Set();
      listeners.set(stream, ofStream.add(listener));
      return () => ofStream.delete(listener);
    },
    isStreaming: () => market.isUp,
    query: async (_path, search) => answer(new URLSearchParams(search)),
    say(stream, data) {
      for (const listener of listeners.get(stream) ?? []) listener(data);
    },
  };
  return market;
}
