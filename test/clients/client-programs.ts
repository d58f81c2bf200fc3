// Programs with stock clients of other languages: those of Python in a virtual environment, that of Go as a
// binary, both in the project's cache. They are installed at their first use. Where that is not possible, the
// tests that need them are skipped and name the reason, or fail if REQUIRE_CLIENTS=1.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const SCRIPTS = join(import.meta.dirname, "python");
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/clients");
/** One of them is compiled, which takes minutes. */
const INSTALL_MS_MAX = 900_000;

/** What runs a client, or why there is none. */
export type Runner = { readonly program: string } | { readonly missing: string };

type InstallOptions = {
  /** The oldest version of Python 3 that will do. */
  readonly minor?: number;
  readonly pipOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** The bot of `go/`, built. */
export async function goBot(): Promise<Runner> {
  const program = join(CACHE, "go-bot");
  mkdirSync(CACHE, { recursive: true });
  try {
    const env = { GOTOOLCHAIN: "local" };
    await output("go", ["build", "-o", program, "."], { cwd: join(import.meta.dirname, "go"), env });
    return { program };
  } catch (error) {
    return missing("go-binance", `needs Go and its modules: ${reasonOf(error)}`);
  }
}

/** The interpreter of an environment with the packages of a file of requirements. */
export async function pythonWith(
  requirements: string,
  { minor = 10, pipOptions = [], env = {} }: InstallOptions = {},
): Promise<Runner> {
  const python = await findPython(minor);
  if (python === undefined) return missing(requirements, `needs Python 3.${minor} or newer with venv`);
  const pinned = readFileSync(join(SCRIPTS, requirements), "utf8");
  const name = createHash("sha256").update(`${python.version}\n${pinned}`).digest("hex").slice(0, 16);
  const directory = join(CACHE, `python-${name}`);
  const program = join(directory, "bin/python");
  if (existsSync(program) && (await succeeds(program, ["-c", ""]))) return { program };

  // Built beside its place and moved there: an installation that was cut off is never used.
  const building = `${directory}-${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  try {
    await output(python.program, ["-m", "venv", building]);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...pipOptions];
    const install = [...pip, "--requirement", join(SCRIPTS, requirements)];
    await output(join(building, "bin/python"), install, { env });
    rmSync(directory, { recursive: true, force: true });
    renameSync(building, directory);
    return { program };
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    return missing(requirements, `could not be installed: ${reasonOf(error)}`);
  }
}

/** Throws where all clients are required. The reason is part of the titles of the tests that are skipped. */
function missing(what: string, reason: string): Runner {
  if (process.env.REQUIRE_CLIENTS === "1") throw new Error(`REQUIRE_CLIENTS=1, and ${what} ${reason}`);
  process.stderr.write(`tests are skipped: ${what} ${reason}\n`);
  return { missing: `skipped: ${reason}; REQUIRE_CLIENTS=1 to fail` };
}

/** The last error of what a program has written, or its last line. */
function reasonOf(error: unknown): string {
  const [first = "", ...written] = String(error).trim().split("\n");
  return written.findLast((line) => /^\s*error/i.test(line)) ?? written.at(-1) ?? first;
}

/** The first interpreter of this machine that is new enough. */
async function findPython(minor: number) {
  const text = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.executable)";
  for (const name of ["python3", "/usr/bin/python3", ...["3.12", "3.13"].flatMap(pythonsOf)]) {
    const [version = "", program = ""] = (await output(name, ["-c", text]).catch(() => "")).trim().split(" ");
    if (program !== "" && Number(version.split(".")[1]) >= minor) return { version, program };
  }
  return undefined;
}

/** Where a machine may have an interpreter of a version, pyenv's too. */
function pythonsOf(version: string): readonly string[] {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), ".pyenv"), "versions");
  const installed = existsSync(versions) ? readdirSync(versions) : [];
  return [
    `python${version}`,
    ...installed
      .filter((name) => name.startsWith(`${version}.`))
      .map((name) => join(versions, name, "bin/python3")),
  ];
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return await output(program, args).then(
    () => true,
    () => false,
  );
}

/** What a program writes, if it ends well. */
export async function output(
  program: string,
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
    readonly msMax?: number;
  } = {},
): Promise<string> {
  const { env, cwd, msMax = INSTALL_MS_MAX } = options;
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
      timeout: msMax,
      killSignal: "SIGKILL",
    });
    let written = "";
    let complaints = "";
    child.stdout.on("data", (text) => {
      written += text;
    });
    child.stderr.on("data", (text) => {
      complaints += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(written);
      else reject(new Error(`${program} ended with ${code ?? signal}:\n${written}\n${complaints}`));
    });
  });
}
