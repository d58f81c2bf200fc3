// Every fault can still be planted: what it changes is there. That the audit finds each of them `npm run copy-faults -- --plant`
// shows, and that it finds each kind audit.test.ts.
import { expect, test } from "vitest";
import { changedFiles, PLANTS, type PlantName } from "./plants.ts";

test.each(Object.keys(PLANTS) as PlantName[])("%s can be planted", (name) => {
  const files = new Set(PLANTS[name].changes.map(({ file }) => file));
  expect(changedFiles(name)).toHaveLength(files.size);
});
