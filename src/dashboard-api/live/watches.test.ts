// The watches of viewers: each viewer has a limit, and each id has the viewers that watch it now.
import { expect, test } from "vitest";
import type { Viewer } from "./viewers.ts";
import { Watches } from "./watches.ts";

test("a viewer watches so much, what is watched already again, and another when one is left", () => {
  const watches = new Watches<Viewer>(2);
  const [one, two] = [{}, {}] as [Viewer, Viewer];
  expect(["a", "b", "c", "a"].map((id) => watches.watch(one, id))).toEqual([true, true, false, true]);
  expect(watches.watch(two, "c")).toBe(true);
  watches.unwatch(one, "a");
  watches.unwatch(one, "a");
  expect([watches.watch(one, "c"), watches.watch(one, "a")]).toEqual([true, false]);
  expect([...watches.watchersOf("c")]).toEqual([two, one]);
  expect(watches.watched()).toEqual(["b", "c"]);
});

test("of who has gone nothing is left", () => {
  const watches = new Watches<Viewer>(2);
  const [one, two] = [{}, {}] as [Viewer, Viewer];
  for (const id of ["a", "b"]) watches.watch(one, id);
  watches.watch(two, "b");
  watches.drop(one);
  expect([watches.isWatched("a"), watches.isWatched("b")]).toEqual([false, true]);
  watches.drop(two);
  expect(watches.watched()).toEqual([]);
  expect([...watches.watchersOf("b")]).toEqual([]);
});
