// What stays shown while something else is loaded.
import { QueryObserver } from "@tanstack/react-query";
import { expect, onTestFinished, test, vi } from "vitest";
import { queryClient } from "./call.ts";
import { ordersQuery } from "./strategy.ts";

test("an answer stays while other filters are loaded, but never under the name of another strategy", async () => {
  const answers: (() => void)[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    answers.push(() => resolve(Response.json({ rows: [{ orderId: address }], next: null })));
    return promise;
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    queryClient.clear();
  });
  const queries = new QueryObserver(queryClient, ordersQuery("one", { symbol: "BTCUSDT" }));
  onTestFinished(queries.subscribe(() => {}));
  const shown = () => {
    const { data, isPlaceholderData } = queries.getCurrentResult();
    return { of: data?.rows[0]?.orderId, isPlaceholderData };
  };
  expect(shown().of).toBeUndefined();
  answers.shift()?.();
  const ofBitcoin = "/dashboard/api/strategies/one/orders?symbol=BTCUSDT";
  await vi.waitFor(() => expect(shown()).toEqual({ of: ofBitcoin, isPlaceholderData: false }));
  queries.setOptions(ordersQuery("one", { symbol: "ETHUSDT" }));
  expect(shown()).toEqual({ of: ofBitcoin, isPlaceholderData: true });
  queries.setOptions(ordersQuery("two", { symbol: "ETHUSDT" }));
  expect(shown().of).toBeUndefined();
});
