// House rules that no linter knows: which folder may import which, as the tables of ARCHITECTURE.md say, and
// what the core must not do. Each rule lists all its offenders; a check that finds nothing to check fails.
import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const SRC = join(ROOT, "src");

/** Every folder outside the core may import it. */
const CONCURRENCY = "concurrency";
/** In the tables of ARCHITECTURE.md: the files beside a sub-folder. */
const BESIDE = "files beside it";

/** What folders may import: of `src/` by the first table, sub-folders of their own folder by the second. */
const { mayImport: MAY_IMPORT, within: WITHIN } = readTables();

/** The core: pure, synchronous, without a clock of its own. */
const CORE = ["money/", "domain/", "engine/", "copy/sizing/"];
const FORBIDDEN_IN_CORE: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a clock", /\bDate\b|\bperformance\b|\bprocess\b/],
  ["randomness", /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b/],
  [
    "waiting",
    /\basync\b|\bawait\b|\bPromise\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bqueueMicrotask\b/,
  ],
  ["the outside", /from "(?!\.|node:crypto")/],
  ["floating point", /\bparseFloat\b|\bNumber\(|\btoFixed\b/],
];

const HEADER_LINES_MAX = 6;

/** Folders of tests beside what they test. */
const NO_PROGRAMS: readonly string[] = ["testing", "contract"];

const files = sourceFiles(
  SRC,
  (name) => !name.endsWith(".test.ts") && !NO_PROGRAMS.some((part) => isPart(name, part)),
);

test("ARCHITECTURE.md says of every folder and sub-folder what it may import", () => {
  const foldersOf = (parent: string) =>
    readdirSync(join(SRC, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !NO_PROGRAMS.includes(entry.name))
      .map(({ name }) => join(parent, name));
  const folders = foldersOf("");
  expect([...MAY_IMPORT.keys()].sort()).toEqual(folders.sort());
  const divided = folders.flatMap(foldersOf).filter((folder) => folder !== join("api-docs", "browser"));
  expect([...WITHIN.keys()].sort()).toEqual(divided.sort());
  const empty = [...folders, ...divided].filter((folder) => !files.some(({ place }) => isIn(place, folder)));
  expect(empty).toEqual([]);
});

test("ARCHITECTURE.md names every file beside these folders, and none that is not there", () => {
  const table = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").matchAll(
    /^\| ((?:`[\w-]+\.ts`,? ?)+) \|/gm,
  );
  const named = [...table].flatMap(([, names = ""]) => names.match(/[\w-]+\.ts/g) ?? []);
  const beside = files.map(({ place }) => place).filter((place) => !place.includes("/"));
  expect(named.sort()).toEqual(beside.sort());
});

test("a folder imports only from those it may", () => {
  const offenders = files.flatMap(({ place, imports }) => {
    const [folder = "", part = ""] = place.split("/");
    // The files in the root of src/ compose everything.
    if (folder === place) return [];
    const allowed = MAY_IMPORT.get(folder) ?? [];
    const isCore = CORE.some((core) => place.startsWith(core));
    const own = WITHIN.get(`${folder}/${part}`) ?? null;
    const strangers = imports.filter((target) => {
      const [root = "", of = "", ...rest] = target.split("/");
      // The next test says what may be imported from outside src/.
      if (root === "..") return false;
      if (root !== folder) return !allowed.includes(root) && (isCore || root !== CONCURRENCY);
      const isBeside = rest.length === 0;
      return own !== null && of !== part && !own.includes(of) && !(isBeside && own.includes(BESIDE));
    });
    return strangers.map((target) => `${place} imports ${target}`);
  });
  expect(offenders).toEqual([]);
});

test("comments are at most 110 columns wide", () => {
  const folders = ["src", "test", "bench", "dashboard/src", "clients/typescript/src"];
  const all = folders.flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT, exclude: (path) => path.includes("node_modules") }),
  );
  expect(all.length).toBeGreaterThan(1_000);
  const offenders = all.flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        line.length > 110 && /^\s*(?:\/\/ (?!biome-ignore)|\/\*\* |\* )/.test(line)
          ? [`${file}:${index + 1}`]
          : [],
      ),
  );
  expect(offenders).toEqual([]);
});

test("the header of a file has at most six lines", () => {
  const long = globSync("{src,test,bench,clients,dashboard/src}/**/*.{ts,tsx}", { cwd: ROOT })
    .filter((place) => !place.includes("node_modules"))
    .filter((place) => {
      const lines = readFileSync(join(ROOT, place), "utf8").split("\n");
      return lines.findIndex((line) => !line.startsWith("//")) > HEADER_LINES_MAX;
    });
  expect(long).toEqual([]);
});

test("no program imports from tests, and no campaign from another", () => {
  const programs = files.flatMap(({ place, imports }) => imports.map((target) => ({ place, target })));
  const offenders = programs.filter(
    ({ target }) => target.startsWith("..") || NO_PROGRAMS.some((name) => isPart(target, name)),
  );
  expect(offenders.filter(({ target }) => target !== "../package.json")).toEqual([]);

  const CAMPAIGNS = join(ROOT, "test/campaigns");
  const strangers = sourceFiles(CAMPAIGNS, () => true).flatMap(({ place, imports }) => {
    const [own = ""] = place.split("/");
    if (!place.includes("/") || place.endsWith(".test.ts")) return [];
    const others = imports.filter(
      (target) => !target.startsWith("..") && ![own, "harness"].includes(target.split("/")[0] ?? ""),
    );
    return others.map((target) => `${place} imports ${target}`);
  });
  expect(strangers).toEqual([]);
});

test("the core has no clock, no randomness, no waiting and no floating point", () => {
  const core = files.filter(({ place }) => CORE.some((part) => place.startsWith(part)));
  const offenders = core.flatMap(({ place, text }) => {
    const code = withoutComments(text);
    return FORBIDDEN_IN_CORE.filter(([, pattern]) => pattern.test(code)).map(([what]) => `${place}: ${what}`);
  });
  expect(offenders).toEqual([]);
});

test("nothing outside desk/ and the making of strategies writes to a strategy", () => {
  const writers = files
    .filter(({ text }) => /\.(commit|createStrategies)\(/.test(withoutComments(text)))
    .map(({ place }) => place);
  expect(writers.sort()).toEqual([
    "desk/desk.ts",
    "desk/group-commit.ts",
    "keys/seed.ts",
    "store/sqlite/sqlite-store.ts",
  ]);
});

type SourceFile = {
  /** Relative to the folder. */
  readonly place: string;
  readonly text: string;
  /** Places relative to the folder that it imports. */
  readonly imports: readonly string[];
};

/** The files of code below a folder. */
function sourceFiles(folder: string, isWanted: (name: string) => boolean): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && isWanted(name))
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, target = ""]) =>
        relative(folder, resolve(dirname(join(folder, name)), target)),
      );
      return { place: name, text, imports };
    });
}

function isPart(place: string, name: string): boolean {
  return place.split("/").includes(name);
}

function isIn(place: string, folder: string): boolean {
  return place.startsWith(`${folder}/`);
}

/** The rows `| folder | … | what it may import |` of ARCHITECTURE.md, by folder. */
function readTables() {
  const tables = {
    mayImport: new Map<string, readonly string[]>(),
    within: new Map<string, readonly string[]>(),
  };
  for (const line of readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n")) {
    const [, folders = "", last = ""] = /^\| ((?:`[\w/-]+\/`,? ?)+) \| (?:.* \| )?(.*?) \|$/.exec(line) ?? [];
    const allowed = last === "nothing" ? [] : last.split(", ").map((name) => name.replaceAll("`", ""));
    for (const [, folder = ""] of folders.matchAll(/`([\w/-]+)\/`/g))
      (folder.includes("/") ? tables.within : tables.mayImport).set(folder, allowed);
  }
  return tables;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
}
