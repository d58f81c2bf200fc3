// Comments, names and texts use the words of the field: home-grown words do not return.
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDERS = ["src", "dashboard/src", "clients/typescript/src", "test", "bench"];

const BANNED =
  /\b(whom|whoever|errands?|glances?|roster|sightings?|is told|are told|looked at|anew|meanwhile|knowingly|comes again)\b/i;

test("comments, names and texts use the field's words", () => {
  const files = FOLDERS.flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,tsx}`, {
      cwd: ROOT,
      exclude: (path) => path.includes("node_modules"),
    }),
  );
  expect(files.length).toBeGreaterThan(500);
  const others = files.filter((file) => file !== "test/house/words.test.ts");
  const left = others.sort().flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line, index) => (BANNED.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );
  expect(left, "lines with a word that is no term of the field").toEqual([]);
});
