import { expect, test } from "vitest";
import { mirrorClientId } from "./client-ids.ts";

const OF_ORDER = { collectiveId: "1f0c-7", copyId: "copy-a", purpose: "order" } as const;

test("an id is the same for the same order and copy, and never changes", () => {
  // SHA-256 of [["order","1f0c-7"],"copy-a","order"]; an id that changes is an order that doubles.
  expect(mirrorClientId(OF_ORDER)).toBe("lyre5a71827005cf1b9bf9b1aedd7762");
  expect(mirrorClientId({ ...OF_ORDER })).toBe(mirrorClientId(OF_ORDER));
});

test("every venue takes it: at most 36 characters of the legal ones", () => {
  expect(mirrorClientId(OF_ORDER)).toMatch(/^lyre[0-9a-f]{28}$/);
});

test("another order, copy, purpose, request, symbol or action has another id", () => {
  const ids = [
    mirrorClientId(OF_ORDER),
    mirrorClientId({ ...OF_ORDER, collectiveId: "1f0c-8" }),
    mirrorClientId({ ...OF_ORDER, copyId: "copy-b" }),
    mirrorClientId({ ...OF_ORDER, purpose: "leg" }),
    mirrorClientId({ ...OF_ORDER, purpose: "close" }),
    mirrorClientId({ requestId: "1f0c-7", symbol: "BTCUSDT", copyId: "copy-a", purpose: "order" }),
    mirrorClientId({ requestId: "1f0c-7", symbol: "ETHUSDT", copyId: "copy-a", purpose: "order" }),
    // The borders between the parts count.
    mirrorClientId({ collectiveId: "ab", copyId: "c", purpose: "order" }),
    mirrorClientId({ collectiveId: "a", copyId: "bc", purpose: "order" }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
