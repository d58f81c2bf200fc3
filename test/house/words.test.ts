// Comments, names, texts and documents use the words of the field: home-grown words do not return. Decisions
// are left out, since they are never edited.
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDERS = ["src", "dashboard/src", "clients/typescript/src", "test", "bench"];
const DOCUMENTS = ["*.md", "docs/*.md", "docs/api/*.md", "clients/*/*.md", "scenarios/*.md"];

const BANNED =
  /\b(whom|whoever|errands?|glances?|roster|sightings?|is told|are told|looked at|anew|meanwhile|knowingly|comes again)\b/i;

test("comments, names, texts and documents use the field's words", () => {
  const filesOf = (pattern: string) =>
    globSync(pattern, { cwd: ROOT, exclude: (path) => path.includes("node_modules") });
  const programs = FOLDERS.flatMap((folder) => filesOf(`${folder}/**/*.{ts,tsx}`));
  const documents = DOCUMENTS.flatMap(filesOf);
  expect(programs.length).toBeGreaterThan(500);
  expect(documents.length).toBeGreaterThan(25);
  const others = [...programs, ...documents].filter((file) => file !== "test/house/words.test.ts");
  const left = others.sort().flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line, index) => (BANNED.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );
  expect(left, "lines with a word that is no term of the field").toEqual([]);
});
