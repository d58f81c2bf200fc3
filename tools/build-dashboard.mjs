// Builds the web application into dashboard/dist if its sources have changed.
// Runs before `npm start` and `npm test`, on whatever Node the machine has, so it is plain JavaScript without
// dependencies; vite itself runs on the project's own Node. A stamp in dist identifies the sources it was
// built from. Each build has a folder of its own and is renamed to dist when it is complete: of two
// concurrent builds one is first, and the other finds its work done. `--sizes` prints what a browser
// downloads. All output goes to standard error.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ABANDONED_AFTER_MS = 3_600_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dashboard = join(root, "dashboard");
const dist = join(dashboard, "dist");
const stampFile = join(dist, ".built-from");
const others = ["package-lock.json", "tools/build-dashboard.mjs"];

const sourceHash = hashOf([...sourcesIn(dashboard), ...others.map((path) => join(root, path))]);
if (!isFresh()) build();
if (process.argv.includes("--sizes")) printSizes();

function isFresh() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === sourceHash;
}

function build() {
  const started = Date.now();
  removeAbandoned();
  const workshop = mkdtempSync(join(dashboard, ".build-"));
  try {
    // Within the workshop the folder is called dist too, so that git and the linter pass over it.
    const built = join(workshop, "dist");
    runVite(built);
    writeFileSync(join(built, ".built-from"), sourceHash);
    putInPlace(built, workshop);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  process.stderr.write(`Built the dashboard in ${((Date.now() - started) / 1000).toFixed(1)} s.\n`);
}

function runVite(outDir) {
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const args = [vite, "build", dashboard, "--outDir", outDir, "--emptyOutDir", "--logLevel", "warn"];
  const env = { ...process.env, NODE_ENV: "production" };
  const result = spawnSync(runtime(), args, { cwd: dashboard, env, encoding: "utf8" });
  if (result.status === 0) return;
  const message = result.error ? result.error.message : `${result.stdout}${result.stderr}`;
  process.stderr.write(`${message.trim()}\nThe dashboard could not be built; vite's message is above.\n`);
  rmSync(dirname(outDir), { recursive: true, force: true });
  process.exit(1);
}

/** A folder can't be renamed onto one with content, so the old one steps aside first. */
function putInPlace(built, workshop) {
  if (isFresh()) return;
  const aside = join(workshop, "old");
  mkdirSync(aside);
  try {
    if (existsSync(dist)) renameSync(dist, join(aside, "dist"));
    renameSync(built, dist);
  } catch (error) {
    // Another process was between the two steps. What counts is that dist is what the sources say.
    if (!isFresh()) throw error;
  }
}

function runtime() {
  const linked = join(root, "node_modules", ".bin", process.platform === "win32" ? "node.exe" : "node");
  return existsSync(linked) ? linked : process.execPath;
}

/** A build that was killed leaves its folder behind. */
function removeAbandoned() {
  for (const name of readdirSync(dashboard)) {
    if (!name.startsWith(".build-")) continue;
    const path = join(dashboard, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}

function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const isOutput = entry.name === "dist" || entry.name.startsWith(".build-");
      return isOutput || entry.name === "node_modules" ? [] : sourcesIn(path);
    }
    return entry.name.endsWith(".test.ts") ? [] : [path];
  });
}

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths.filter((each) => existsSync(each)).sort()) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update("\0");
  }
  return hash.digest("hex");
}

function printSizes() {
  const page = readFileSync(join(dist, "index.html"), "utf8");
  const first = [...page.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g)].map(([, path]) => path);
  const lazy = readdirSync(join(dist, "assets"))
    .map((name) => `assets/${name}`)
    .filter((path) => /\.(js|css)$/.test(path) && !first.includes(path));
  const total = first.reduce((sum, path) => sum + gzipBytes(path), 0);
  process.stderr.write(`First screen, gzip: ${kilobytes(total)}\n`);
  for (const path of [...first, ...bySize(lazy)]) {
    process.stderr.write(`  ${kilobytes(gzipBytes(path))}  ${path}${lazy.includes(path) ? " (lazy)" : ""}\n`);
  }
}

function bySize(paths) {
  return [...paths].sort((one, other) => gzipBytes(other) - gzipBytes(one));
}

function gzipBytes(path) {
  return gzipSync(readFileSync(join(dist, path))).length;
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1).padStart(6)} kB`;
}
