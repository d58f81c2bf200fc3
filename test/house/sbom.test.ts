// The software bill of materials that `npm run sbom` prints, against package.json and the lock file.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

type Component = {
  readonly "bom-ref": string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
};
type Sbom = {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly version: number;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};
type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly workspaces: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Lock = { readonly packages: Readonly<Record<string, Manifest>> };

const readJson = <Content>(path: string): Content => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const manifest = readJson<Manifest>("package.json");
const dashboard = readJson<Manifest>("dashboard/package.json");
const { packages } = readJson<Lock>("package-lock.json");

const printed = spawnSync("npm", ["run", "-s", "sbom"], { cwd: ROOT, encoding: "utf8" });
const sbom: Sbom = JSON.parse(printed.stdout);
const references = sbom.components.map((component) => component["bom-ref"]);

test("npm run sbom prints CycloneDX about this version of Lyrebird, and nothing else", () => {
  expect(printed.status).toBe(0);
  expect(sbom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5", version: 1 });
  expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(Number.isNaN(Date.parse(sbom.metadata.timestamp))).toBe(false);
  expect(sbom.metadata.component).toMatchObject({
    type: "application",
    name: manifest.name,
    version: manifest.version,
    "bom-ref": `${manifest.name}@${manifest.version}`,
  });
});

test("every production dependency is in it in its exact version, and the runtime of every platform", () => {
  const direct = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expect(direct.length).toBeGreaterThan(10);
  const wanted = direct.map(([name, version]) => `${name}@${version}`);
  expect(wanted.filter((each) => !references.includes(each))).toEqual([]);
});

test("so is what the dashboard is bundled from", () => {
  const wanted = Object.entries(dashboard.devDependencies ?? {}).map(
    ([name, version]) => `${name}@${version}`,
  );
  expect(wanted.length).toBeGreaterThan(5);
  expect(wanted.filter((each) => !references.includes(each))).toEqual([]);
});

test("and whatever a package in it needs", () => {
  const names = new Set(sbom.components.map(({ purl }) => packageName(purl)));
  const missing = Object.entries(packages).flatMap(([path, { version, dependencies }]) => {
    const name = path.replace(/^.*node_modules\//, "");
    if (!references.includes(`${name}@${version}`)) return [];
    return Object.keys(dependencies ?? {}).filter((needed) => !names.has(needed));
  });
  expect(missing).toEqual([]);
});

test("tools of the tests and checks are not in it", () => {
  const shipped = { ...manifest.dependencies, ...dashboard.devDependencies };
  const tools = Object.keys(manifest.devDependencies ?? {}).filter(
    // The types are dependencies of production packages.
    (name) => shipped[name] === undefined && !name.startsWith("@types/"),
  );
  expect(tools).toContain("vitest");
  const names = sbom.components.map(({ purl }) => packageName(purl));
  expect(tools.filter((name) => names.includes(name))).toEqual([]);
});

test("each component has what CycloneDX and a vulnerability scanner need", () => {
  expect(new Set(references).size).toBe(references.length);
  for (const component of sbom.components) {
    const { name, version, purl, type, hashes } = component;
    expect(name, component["bom-ref"]).not.toBe("");
    expect(type, component["bom-ref"]).toBe("library");
    expect(component["bom-ref"]).toBe(`${packageName(purl)}@${version}`);
    // Our own packages are folders, which have no archive to be hashed.
    if (packageName(purl).startsWith("@lyrebird/")) continue;
    expect(hashes, component["bom-ref"]).toEqual([
      { alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) },
    ]);
  }
  const own = sbom.metadata.component["bom-ref"];
  expect(sbom.dependencies.map(({ ref }) => ref).sort()).toEqual([own, ...references].sort());
  const unknown = sbom.dependencies.flatMap(({ dependsOn }) =>
    dependsOn.filter((each) => !references.includes(each)),
  );
  expect(unknown).toEqual([]);
});

/** Of `pkg:npm/%40scope/name@version`. */
function packageName(purl: string): string {
  return decodeURIComponent(purl.slice("pkg:npm/".length, purl.lastIndexOf("@")));
}
