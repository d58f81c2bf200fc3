import { expect, test } from "vitest";
import { familyOfPath, liveHosts, restUrlOf, spotStreamUrl } from "./hosts.ts";

test("streams and questions have their addresses, whether or not a slash ends them", () => {
  expect(spotStreamUrl(liveHosts)).toBe("wss://stream.binance.com:9443/stream");
  expect(restUrlOf({ ...liveHosts, spotRestUrl: "http://127.0.0.1:1/" }, "spot")).toBe("http://127.0.0.1:1");
});

test("a path belongs to the family that its prefix names", () => {
  expect(["/api/v3/depth", "/fapi/v1/depth"].map(familyOfPath)).toEqual(["spot", "futures"]);
});
