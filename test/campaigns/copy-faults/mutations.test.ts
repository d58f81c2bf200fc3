// Every fault can still be planted: what it changes is there. That the audit finds each of them `npm run
// copy-faults -- --mutation` shows, and that it finds each kind audit.test.ts.
import { expect, test } from "vitest";
import { changedFiles, MUTATIONS, type MutationName } from "./mutations.ts";

test.each(Object.keys(MUTATIONS) as MutationName[])("%s can be planted", (name) => {
  const files = new Set(MUTATIONS[name].changes.map(({ file }) => file));
  expect(changedFiles(name)).toHaveLength(files.size);
});
