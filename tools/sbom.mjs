// Prints the software bill of materials (SBOM) of a release: CycloneDX 1.5 as JSON, made by `npm sbom` from
// package-lock.json alone, so it needs no network and lists the same on every machine. It lists what `npm
// start` runs or builds from: the server's dependencies, the Node.js runtime of every platform, the client,
// and the dashboard with the libraries in its bundle and the tools that bundle it. `npm sbom --omit dev` is
// not used: it leaves out every production dependency that a development dependency needs too (ws, zod).
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = readJson("package.json");
const complete = readCompleteSbom();
const shipped = shippedDependencies(complete);

const sbom = {
  ...complete,
  metadata: {
    ...complete.metadata,
    // npm names the project after the folder that it lies in.
    component: { ...complete.metadata.component, name: manifest.name },
  },
  components: complete.components.filter((component) => shipped.has(component["bom-ref"])),
  dependencies: [...shipped].map(([ref, dependsOn]) => ({ ref, dependsOn })),
};
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);

/** Every package of the lock file, development dependencies included. */
function readCompleteSbom() {
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm, "sbom"]] : ["npm", ["sbom"]];
  const options = ["--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  const { status, stdout } = spawnSync(command, [...args, ...options, "--loglevel=error"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * 1_024 * 1_024,
  });
  if (status !== 0) {
    process.stderr.write("npm sbom failed; its message is above. It needs npm 10 or newer.\n");
    process.exit(1);
  }
  return JSON.parse(stdout);
}

/**
 * What each package that is shipped depends on, by reference: the project but for its development
 * dependencies, its workspaces, and all that these need.
 */
function shippedDependencies({ metadata, dependencies }) {
  const project = metadata.component["bom-ref"];
  const direct = new Set([
    ...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }),
    ...manifest.workspaces.map((folder) => readJson(join(folder, "package.json")).name),
  ]);
  const optionalPeers = readOptionalPeers();
  const isNeeded = (from, to) =>
    from === project ? direct.has(nameOf(to)) : optionalPeers.get(from)?.has(nameOf(to)) !== true;
  const all = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const shipped = new Map();
  const open = [project];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (shipped.has(next)) continue;
    const needed = (all.get(next) ?? []).filter((each) => isNeeded(next, each));
    shipped.set(next, needed);
    open.push(...needed);
  }
  return shipped;
}

/**
 * By package and version, what it can do without; npm counts an optional peer as needed as soon as it is
 * installed (vitest).
 */
function readOptionalPeers() {
  const { packages } = readJson("package-lock.json");
  return new Map(
    Object.entries(packages).map(([path, { name, version, dependencies, peerDependenciesMeta }]) => [
      `${name ?? path.replace(/^.*node_modules\//, "")}@${version}`,
      new Set(
        Object.entries(peerDependenciesMeta ?? {})
          .filter(([peer, { optional }]) => optional === true && dependencies?.[peer] === undefined)
          .map(([peer]) => peer),
      ),
    ]),
  );
}

/** Of `name@version`. */
function nameOf(reference) {
  return reference.slice(0, reference.lastIndexOf("@"));
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}
