// A real Chromium, driven by playwright-core: where it is found, how it is started, and what is said where
// there is none.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { newDirectory } from "../support/servers/gateway.ts";

const INSTALLED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
] as const;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
] as const;

/**
 * Where a Chromium is: the one that CHROMIUM names, else an installed one, else the one among the packages.
 * Null without any.
 */
export async function findChromium(): Promise<string | null> {
  const named = process.env.CHROMIUM;
  if (named !== undefined && named !== "") {
    if (!existsSync(named)) throw new Error(`CHROMIUM names ${named}, and there is no such file`);
    return named;
  }
  return INSTALLED.find((path) => existsSync(path)) ?? (await packagedChromium());
}

/**
 * Of an npm package, for Linux alone; null where it does not run, as it brings no libraries of the system.
 */
function packagedChromium(): Promise<string | null> {
  packaged ??= unpackChromium();
  return packaged;
}

let packaged: Promise<string | null> | null = null;

async function unpackChromium(): Promise<string | null> {
  if (process.platform !== "linux" || process.arch !== "x64") return null;
  const { TMPDIR } = process.env;
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    // It unpacks into the directory for temporary files, where another process may be unpacking it too.
    process.env.TMPDIR = newDirectory();
    const path = await chromium.executablePath();
    return spawnSync(path, ["--version"]).status === 0 ? path : null;
  } catch {
    return null;
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}

/** Suffix of a test's title with the reason for skipping it; REQUIRE_BROWSER=1 makes it fail instead. */
export const SKIPPED_WITHOUT_BROWSER =
  " (skipped: no Chromium; set CHROMIUM to one, or REQUIRE_BROWSER=1 to fail)";

/** Whether tests in a browser are skipped here. Throws where a browser is required and there is none. */
export async function isBrowserAbsent(): Promise<boolean> {
  if ((await findChromium()) !== null) return false;
  if (process.env.REQUIRE_BROWSER === "1")
    throw new Error("REQUIRE_BROWSER=1, and there is no Chromium: set CHROMIUM");
  process.stderr.write(`tests in a browser${SKIPPED_WITHOUT_BROWSER}\n`);
  return true;
}

/** How long its start may take on a busy machine, ms: less than the hooks that start it. */
const LAUNCH_MS_MAX = 110_000;

/** Starts it. Rejects where there is none. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = await findChromium();
  if (executablePath === null) throw new Error("there is no Chromium: install one, or set CHROMIUM to it");
  return await chromium.launch({ executablePath, headless: true, args: [...FLAGS], timeout: LAUNCH_MS_MAX });
}
