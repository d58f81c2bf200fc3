import { expect, test } from "vitest";
import { parseSearch, stringifySearch } from "./search.ts";

test("a token of digits stays the text that it is", () => {
  expect(parseSearch("?token=00123456789012345678&next=%2Fkeys")).toEqual({
    token: "00123456789012345678",
    next: "/keys",
  });
});

test("what is written is read back, and nothing is written of what is absent", () => {
  expect(stringifySearch({})).toBe("");
  expect(stringifySearch({ a: undefined, b: null })).toBe("");
  expect(parseSearch(stringifySearch({ next: "/a?b=c&d", page: "2" }))).toEqual({
    next: "/a?b=c&d",
    page: "2",
  });
});
