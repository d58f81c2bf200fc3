import { expect, test } from "vitest";
import { EMPTY_BOOK } from "../domain/copying.ts";
import type { CopyProgress } from "../store/ports/copies.ts";
import { StoreUnavailable } from "../store/store.ts";
import { GROUP_MAX, ProgressWriter } from "./copies.ts";
import { ClaimLost } from "./session/failures.ts";

type Answer = () => Promise<boolean>;

function createFixture(answer: Answer = () => Promise.resolve(true)) {
  const groups: (readonly string[])[] = [];
  const recorded: (readonly string[])[] = [];
  let pauses = 0;
  const recordProgress = (_: string, __: string, progress: readonly CopyProgress[]) => {
    groups.push(progress.map(({ copyId }) => copyId));
    return answer();
  };
  const writer = new ProgressWriter({
    store: { recordProgress },
    strategyId: "strategy",
    holder: "me",
    mayRun: () => true,
    pause: () => {
      pauses += 1;
      return Promise.resolve();
    },
    onRecorded: (copyIds) => recorded.push(copyIds),
    onStoreFailure() {},
  });
  return { writer, groups, recorded, pauses: () => pauses };
}

function progressOf(copyId: string): CopyProgress {
  return { copyId, entries: [], book: EMPTY_BOOK, doneSeq: 1, moves: null, finishes: [] };
}

test("what comes in together is written together, up to a bound", async () => {
  const { writer, groups, recorded } = createFixture();
  const ids = Array.from({ length: 2 * GROUP_MAX + 1 }, (_, index) => `copy-${index}`);
  await Promise.all(ids.map((id) => writer.record(progressOf(id))));
  expect(groups.map(({ length }) => length)).toEqual([GROUP_MAX, GROUP_MAX, 1]);
  expect(groups.flat()).toEqual(ids);
  expect(recorded).toEqual(groups);
});

test("under another's claim nothing counts as recorded", async () => {
  const { writer } = createFixture(() => Promise.resolve(false));
  await expect(writer.record(progressOf("copy"))).rejects.toBeInstanceOf(ClaimLost);
});

test("a store out of reach is waited for; any other error is passed on", async () => {
  const answers: Answer[] = [
    () => Promise.reject(new StoreUnavailable("away")),
    () => Promise.resolve(true),
    () => Promise.reject(new Error("broken")),
    () => Promise.resolve(true),
  ];
  const { writer, groups, pauses } = createFixture(() =>
    (answers.shift() ?? (() => Promise.resolve(true)))(),
  );
  await writer.record(progressOf("one"));
  expect(groups).toEqual([["one"], ["one"]]);
  expect(pauses()).toBe(1);
  await expect(writer.record(progressOf("two"))).rejects.toThrow("broken");
  await writer.record(progressOf("three"));
});
