import { expect, test } from "vitest";
import { combinedStreamUrl, familyOfPath, liveHosts, restUrlOf, streamRouteOf } from "./hosts.ts";

test("every route has its address", () => {
  expect(combinedStreamUrl(liveHosts, "spot")).toBe("wss://stream.binance.com:9443/stream");
  expect(combinedStreamUrl(liveHosts, "futuresPublic")).toBe("wss://fstream.binance.com/public/stream");
  expect(combinedStreamUrl(liveHosts, "futuresMarket")).toBe("wss://fstream.binance.com/market/stream");
  expect(restUrlOf({ ...liveHosts, spotRestUrl: "http://127.0.0.1:1/" }, "spot")).toBe("http://127.0.0.1:1");
});

test("a path belongs to the family that its prefix names", () => {
  expect(["/api/v3/depth", "/fapi/v1/depth"].map(familyOfPath)).toEqual(["spot", "futures"]);
});

test("books of futures are public streams, the rest is market", () => {
  const route = (stream: string) => streamRouteOf("futures", stream);
  expect(["btcusdt@bookTicker", "btcusdt@depth20@100ms", "!bookTicker"].map(route)).toEqual(
    Array(3).fill("futuresPublic"),
  );
  expect(["btcusdt@kline_1m", "btcusdt@markPrice@1s"].map(route)).toEqual(Array(2).fill("futuresMarket"));
  expect(streamRouteOf("spot", "btcusdt@kline_1m")).toBe("spot");
});
