// House rules that no linter knows: who may import whom, and what the core must not do. A check that finds nothing to
// check fails.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const SRC = join(ROOT, "src");

/** Each folder of `src/`, and the folders it may import from besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  money: [],
  domain: ["money"],
  engine: ["domain", "money"],
  store: ["domain", "money"],
  desk: ["engine", "store", "domain", "money"],
  watch: ["desk", "engine", "store", "domain", "money"],
  clock: ["desk", "store", "domain"],
  market: ["domain", "money"],
  identity: ["store", "engine", "domain", "money"],
  limits: ["store", "domain"],
  cli: ["config.ts", "data-directory.ts", "people", "copy", "identity", "store", "domain"],
  signals: ["desk", "store", "domain", "money"],
  streams: ["store", "market", "identity", "limits", "domain"],
  docs: ["config.ts", "http", "signals", "streams", "domain"],
  copy: ["identity", "store", "engine", "market", "domain", "money"],
  people: ["config.ts", "identity", "store", "domain"],
  performance: ["market", "store", "engine", "domain", "money"],
  inspection: ["market", "store", "identity", "limits", "domain"],
  dashboard: [
    "config.ts",
    "copy",
    "people",
    "performance",
    "inspection",
    "streams",
    "http",
    "signals",
    "desk",
    "engine",
    "store",
    "market",
    "limits",
    "identity",
    "domain",
    "money",
  ],
  http: [
    "desk",
    "engine",
    "store",
    "market",
    "identity",
    "inspection",
    "limits",
    "signals",
    "domain",
    "money",
  ],
};

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

const files = sourceFiles(SRC);

test("there are source files in every folder that has rules", () => {
  for (const folder of Object.keys(MAY_IMPORT)) {
    expect(files.filter(({ place }) => place.startsWith(`${folder}/`)).length, folder).toBeGreaterThan(0);
  }
});

test("every folder of src/ has import rules", () => {
  const folders = readdirSync(SRC).filter((name) => statSync(join(SRC, name)).isDirectory());
  expect(folders.sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

describe("a folder imports only from those it may", () => {
  for (const { place, imports } of files.filter(({ place }) => place.includes("/"))) {
    const [folder = ""] = place.split("/");
    const allowed = [folder, ...(MAY_IMPORT[folder] ?? [])];
    test(place, () => {
      const strangers = imports.filter((target) => !allowed.includes(target.split("/")[0] ?? ""));
      expect(strangers).toEqual([]);
    });
  }
});

describe("the core has no clock, no randomness, no waiting and no floating point", () => {
  for (const { place, text } of files.filter(({ place }) => CORE.some((part) => place.startsWith(part)))) {
    test(place, () => {
      const code = withoutComments(text);
      const found = FORBIDDEN_IN_CORE.filter(([, pattern]) => pattern.test(code)).map(([what]) => what);
      expect(found).toEqual([]);
    });
  }
});

test("nothing outside desk/ and the making of strategies writes to a strategy", () => {
  const writers = files
    .filter(({ text }) => /\.(commit|createStrategies)\(/.test(withoutComments(text)))
    .map(({ place }) => place);
  expect(writers.sort()).toEqual([
    "desk/desk.ts",
    "desk/group-commit.ts",
    "identity/seed.ts",
    "store/sqlite/sqlite-store.ts",
  ]);
});

type SourceFile = {
  /** Relative to src/. */
  readonly place: string;
  readonly text: string;
  /** Places in src/ that it imports. */
  readonly imports: readonly string[];
};

/** Every program file below a folder; tests may import what they like. */
function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.includes("testing/"))
    .filter((name) => dirname(name) !== join("store", "contract"))
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, target = ""]) =>
        relative(SRC, resolve(dirname(join(folder, name)), target)),
      );
      return { place: name, text, imports };
    });
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
}
