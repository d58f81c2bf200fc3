import { expect, test } from "vitest";
import { createListeners } from "./listeners.ts";

test("listeners are called until they end their subscription", () => {
  const { subscribe, notify } = createListeners();
  const called: string[] = [];
  const end = subscribe(() => called.push("one"));
  subscribe(() => called.push("other"));
  notify();
  end();
  notify();
  expect(called).toEqual(["one", "other", "other"]);
});
