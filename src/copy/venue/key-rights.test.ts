import { expect, test } from "vitest";
import { spotOriginOf } from "./key-rights.ts";

// Source of the names: reference exchange, section 2.
test.each([
  ["https://fapi.example.com", "https://api.example.com"],
  ["https://demo-fapi.example.com:8443", "https://demo-api.example.com:8443"],
  ["https://api.example.com", null],
  ["https://exchange.fapi.example.com", null],
  ["http://127.0.0.1:8090", null],
])("the spot of %s is %s", (origin, spot) => {
  expect(spotOriginOf(origin)).toBe(spot);
});
