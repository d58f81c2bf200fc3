import { expect, test } from "vitest";
import { liveHosts, restUrlOf, streamUrlOf } from "./hosts.ts";

test("streams and questions have their addresses, whether or not a slash ends them", () => {
  expect(streamUrlOf(liveHosts, "SPOT", "/stream")).toBe("wss://stream.binance.com:9443/stream");
  expect(streamUrlOf({ ...liveHosts, futuresWsUrl: "ws://127.0.0.1:1/" }, "FUTURES", "/public/stream")).toBe(
    "ws://127.0.0.1:1/public/stream",
  );
  expect(restUrlOf({ ...liveHosts, spotRestUrl: "http://127.0.0.1:1/" }, "SPOT")).toBe("http://127.0.0.1:1");
});
