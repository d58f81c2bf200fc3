// House rules that no linter knows: who may import whom, and what the core must not do. A check that finds nothing to
// check fails.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const SRC = join(ROOT, "src");

/** Each folder of `src/`, and the folders it may import from besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  money: [],
  concurrency: [],
  domain: ["money"],
  engine: ["domain", "money"],
  store: ["concurrency", "domain", "money"],
  desk: ["engine", "store", "concurrency", "domain", "money"],
  watch: ["desk", "engine", "store", "concurrency", "domain", "money"],
  clock: ["desk", "store", "concurrency", "domain"],
  market: ["concurrency", "domain", "money"],
  identity: ["store", "engine", "concurrency", "domain", "money"],
  limits: ["store", "concurrency", "domain"],
  cli: ["config.ts", "data-directory.ts", "people", "copy", "identity", "store", "domain"],
  signals: ["desk", "store", "concurrency", "domain", "money"],
  streams: ["store", "market", "identity", "limits", "concurrency", "domain"],
  docs: ["config.ts", "http", "signals", "streams", "domain"],
  copy: ["identity", "store", "engine", "market", "concurrency", "domain", "money"],
  people: ["config.ts", "identity", "store", "concurrency", "domain"],
  performance: ["market", "store", "engine", "concurrency", "domain", "money"],
  inspection: ["market", "store", "identity", "limits", "concurrency", "domain"],
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
    "concurrency",
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

/** Each folder of `src/copy/`, and what of `src/copy/` it may import besides itself. */
const COPY_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  sizing: [],
  venue: [],
  leads: ["venue"],
  orders: ["executor", "session", "sizing", "venue"],
  session: ["credentials.ts", "orders", "sizing", "venue"],
  reconcile: ["executor", "leads", "orders", "session", "sizing", "venue"],
  executor: ["client-ids.ts", "leads", "orders", "reconcile", "session", "sizing", "venue"],
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

test("every folder of src/ and of src/copy/ has import rules", () => {
  const foldersOf = (parent: string) =>
    readdirSync(parent).filter((name) => name !== "testing" && statSync(join(parent, name)).isDirectory());
  expect(foldersOf(SRC).sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  expect(foldersOf(join(SRC, "copy")).sort()).toEqual(Object.keys(COPY_MAY_IMPORT).sort());
});

test("a folder imports only from those it may", () => {
  const offenders = files.flatMap(({ place, imports }) => {
    const [folder = "", part = ""] = place.split("/");
    if (folder === place) return [];
    const allowed = [folder, ...(MAY_IMPORT[folder] ?? [])];
    const strangers = imports.filter((target) => !allowed.includes(target.split("/")[0] ?? ""));
    if (folder !== "copy" || part.endsWith(".ts"))
      return strangers.map((target) => `${place} imports ${target}`);
    const parts = [part, ...(COPY_MAY_IMPORT[part] ?? [])];
    const others = imports.filter((target) => {
      const [root = "", of = ""] = target.split("/");
      return root === "copy" && !parts.includes(of);
    });
    return [...strangers, ...others].map((target) => `${place} imports ${target}`);
  });
  expect(offenders).toEqual([]);
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
    .filter((name) => !name.startsWith(join("store", "contract")))
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
