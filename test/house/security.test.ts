// docs/security.md and SECURITY.md are true: their paths, their limits, the list of ASVS sections, the
// inventory of cryptography, and what they say is nowhere in the sources.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const text = readFileSync(join(ROOT, "docs/security.md"), "utf8");
const policy = readFileSync(join(ROOT, "SECURITY.md"), "utf8");
const PATH = /`((?:src|test|docs|tools|dashboard|clients|scenarios|bench)\/[\w./-]+\.\w+)`/g;

/** Sections of ASVS 5.0 with requirements of level 1 or 2. */
const SECTIONS: Readonly<Record<number, readonly number[]>> = {
  1: [1, 2, 3, 4, 5],
  2: [1, 2, 3, 4],
  3: [2, 3, 4, 5, 7],
  4: [1, 2, 3, 4],
  5: [1, 2, 3, 4],
  6: [1, 2, 3, 4, 5, 6, 8],
  7: [1, 2, 3, 4, 5, 6],
  8: [1, 2, 3, 4],
  9: [1, 2],
  10: [1, 2, 3, 4, 5, 6, 7],
  11: [1, 2, 3, 4, 5, 6],
  12: [1, 2, 3],
  13: [1, 2, 3, 4],
  14: [1, 2, 3],
  15: [1, 2, 3],
  16: [1, 2, 3, 4, 5],
  17: [1, 2, 3],
};

const rows = text
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
const sections = rows
  .filter(([first = ""]) => /^\d+\.\d+ /.test(first))
  .map(([name = "", state = "", evidence = "", missing = ""]) => ({ name, state, evidence, missing }));
const sources = sourcesIn("src");
const pages = sourcesIn("dashboard/src");

test("every path that is named exists", () => {
  const paths = [...`${text}${policy}`.matchAll(PATH)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(150);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every defense has a test", () => {
  const start = text.indexOf("## Threats and defenses");
  const threats = text
    .slice(start, text.indexOf("## Ways in"))
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| Threat"));
  expect(threats.length).toBeGreaterThan(30);
  const isTest = (path: string) => path.startsWith("test/") || /\.test\.ts$|\/contract\//.test(path);
  const untested = threats.filter((line) => ![...line.matchAll(PATH)].some(([, path = ""]) => isTest(path)));
  expect(untested).toEqual([]);
});

test("every section of ASVS has one row, in its order", () => {
  const wanted = Object.entries(SECTIONS).flatMap(([chapter, numbers]) =>
    numbers.map((number) => `${chapter}.${number}`),
  );
  expect(sections.map(({ name }) => name.split(" ")[0])).toEqual(wanted);
});

test("a section is met with evidence, or says what is missing, or why it does not apply", () => {
  for (const { name, state, evidence, missing } of sections) {
    expect(["met", "partly", "not met", "not applicable"], name).toContain(state);
    if (state === "met" || state === "partly") expect(evidence, name).toMatch(/`|\]\(/);
    // Requirements by their numbers, so that a reader can look them up.
    if (state === "partly" || state === "not met") expect(missing, name).toMatch(/^\d+\.\d+\.\d+/);
    if (state === "not applicable") expect(missing, name).not.toBe("");
  }
});

test("the limits that are named are the program's", async () => {
  const limits = rows.flatMap(([what = "", limit = "", where = ""]) => {
    const [, constant, path] = /^`(\w+)` in `(src\/[\w/.-]+)`$/.exec(where) ?? [];
    return constant === undefined || path === undefined ? [] : [{ what, limit, constant, path }];
  });
  expect(limits.length).toBeGreaterThan(10);
  for (const { what, limit, constant, path } of limits) {
    const value: unknown = (await import(join(ROOT, path)))[constant];
    expect(typeof value, `${constant} of ${path}`).toBe("number");
    expect(limit.split(/[ ,](?!\d{3})/)[0], what).toBe(Number(value).toLocaleString("en-US"));
  }
});

test("every file that hashes, signs or encrypts is in the inventory", () => {
  const uses =
    /\b(create(Hash|Hmac|Cipheriv|Decipheriv|Sign)|hkdfSync|scryptSync)\(|from "(@node-rs\/argon2|otplib\/.*)"/;
  const inventory = text.slice(text.indexOf("## Cryptography"), text.indexOf("## OWASP"));
  const files = sources.filter(({ code }) => uses.test(code)).map(({ path }) => path);
  expect(files.length).toBeGreaterThan(15);
  // The token of the metrics and the like are named with the file that compares them.
  expect(files.filter((path) => !inventory.includes(`\`${path}\``))).toEqual([]);
});

test.each([
  ["runs text as code, or starts a process", /\beval\(|new Function\(|node:child_process|node:vm"/],
  [
    "writes markup, or takes messages of other windows",
    /innerHTML|dangerouslySetInnerHTML|document\.write|postMessage\(.*"\*"/,
  ],
  ["uses MD5, or SHA-1 by itself", /createH(ash|mac)\("(md5|sha1)"/i],
  ["redirects a client", /status: 30[12378]|writeHead\(30[12378]/],
])("nothing in the sources %s", (_what, pattern) => {
  expect(sources.length).toBeGreaterThan(200);
  expect(pages.length).toBeGreaterThan(50);
  const found = [...sources, ...pages].filter(({ code }) => pattern.test(code)).map(({ path }) => path);
  expect(found).toEqual([]);
});

test("a browser stores the theme and the mark of a reload, and nothing else", () => {
  const stores = pages.filter(({ code }) =>
    /localStorage|sessionStorage|indexedDB|document\.cookie/.test(code),
  );
  expect(stores.map(({ path }) => path)).toEqual([
    "dashboard/src/app/chunks.ts",
    "dashboard/src/ui/theme.ts",
  ]);
});

test("no secret is made by Math.random, or is a UUID", () => {
  const files = sources.filter(({ code }) => /Math\.random|randomUUID/.test(code)).map(({ path }) => path);
  // Delays of retries; ids of signals, of a copier's requests and of identity forms.
  expect(files).toEqual([
    "src/dashboard-api/routes/copies.ts",
    "src/market/client/feed.ts",
    "src/people/kyc/kyc.ts",
    "src/service.ts",
  ]);
});

test("a reporter reads how to report, how fast we reply, and what is no vulnerability", () => {
  for (const word of [
    "private security advisory",
    "Critical",
    "High",
    "Medium",
    "Low",
    "no vulnerabilities",
  ]) {
    expect(policy).toContain(word);
  }
});

/** The program's own files in a folder, tests and their helpers left out, by path. */
function sourcesIn(folder: string): readonly { readonly path: string; readonly code: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|(^|\/)(testing|contract)\//.test(name))
    .sort()
    .map((name) => ({ path: `${folder}/${name}`, code: readFileSync(join(ROOT, folder, name), "utf8") }));
}
