// The web application as files: what `dashboard/dist` holds, read once at the start. Files under /assets/ are
// named by their content and may be cached for ever; all others are revalidated at each request. Invariants:
// a path is looked up among what was read, never in the file system, so that no path leads anywhere else. The
// page is served under the application's own paths alone, to clients that name `text/html`: a bot that
// requests a wrong path, and a probe that expects an answer of the service, get an error and no page.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path/posix";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Pages, Reply } from "../http/pipeline.ts";
import { acceptedNames, replyOfFile, type StaticFile, staticFile } from "../http/static-files.ts";

/** Where the application is built. */
export const APPLICATION_FOLDER = join(import.meta.dirname, "../../dashboard/dist");

const HASHED_FOLDER = "/assets/";
/** The page, which shows what its path means. */
const INDEX = "/index.html";
/**
 * What the paths of the application's pages begin with, the start apart; those of
 * `dashboard/src/app/routes.tsx`, and no others.
 */
export const PAGE_SECTIONS: readonly string[] = [
  "sign-in",
  "sign-up",
  "forgot-password",
  "reset-password",
  "verify-email",
  "welcome",
  "identity",
  "security",
  "copying",
  "copies",
  "keys",
  "strategies",
  "operator",
];

const FOR_EVER = "public, max-age=31536000, immutable";
/** Scripts, styles and pictures of this site alone, and nothing that is written into a page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");
/**
 * Of answers that are no page: opened by itself, none of them loads, runs or frames anything, or is framed.
 */
export const NO_PAGE_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HEADERS = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Lyrebird</title>
<h1>The dashboard has not been built</h1>
<p>"npm start" builds it before the server starts. Bots need no dashboard: the interface is there, and so are <a href="/docs">its
documents</a>.</p></html>`;

/** The application of a folder; a page that says how to get one if it is not there. */
export function createApplication(folder = APPLICATION_FOLDER): Pages {
  const files = readFiles(folder);
  const index = files.get(INDEX) ?? null;
  return ({ path, headers }) => {
    const file = files.get(path);
    if (file !== undefined && file !== index) return replyOfFile(file, headers);
    if (!isForReader(path, headers.accept)) return null;
    return index === null ? notBuilt() : replyOfFile(index, headers);
  };
}

/**
 * Whether a request is that of somebody who wants to read a page: browsers name `text/html`, clients of the
 * interfaces do not. The start alone is also for clients that take anything, since no interface is there.
 */
function isForReader(path: string, accept: string | undefined): boolean {
  const accepted = acceptedNames(accept ?? "*/*");
  if (path === "/") return accepted.has("text/html") || accepted.has("*/*");
  return PAGE_SECTIONS.includes(path.split("/", 2)[1] ?? "") && accepted.has("text/html");
}

function readFiles(folder: string): ReadonlyMap<string, StaticFile> {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length));
  return new Map(names.map((name) => [name, readFile(folder, name)]));
}

function readFile(folder: string, name: string): StaticFile {
  const extension = extname(name);
  return staticFile(readFileSync(join(folder, name)), extension, {
    ...HEADERS,
    "cache-control": name.startsWith(HASHED_FOLDER) ? FOR_EVER : "no-cache",
    "content-security-policy": extension === ".html" ? POLICY : NO_PAGE_POLICY,
    ...(name === INDEX ? { vary: "accept, accept-encoding" } : {}),
  });
}

function notBuilt(): Reply {
  return {
    status: 404,
    headers: { ...HEADERS, "cache-control": "no-store", "content-security-policy": NO_PAGE_POLICY },
    contentType: "text/html;charset=UTF-8",
    body: NOT_BUILT,
  };
}

/** A shorter answer fits into one packet as it is, bytes. */
const BYTES_MIN = 1_024;

const gzipped = promisify(gzip);

/**
 * The reply for a client that accepts these encodings: compressed off the main thread if it is long enough.
 * If a reply contains a secret and text that someone else may have chosen, its compressed length reveals the
 * secret guess by guess. So the routes whose answers contain secrets are marked and sent uncompressed.
 */
export async function compressed(reply: Reply, accepted: string | string[] | undefined): Promise<Reply> {
  const { body, headers } = reply;
  const isShort = Buffer.byteLength(body) < BYTES_MIN;
  const varying = { ...headers, vary: "accept-encoding" };
  if (isShort || !acceptedNames(accepted).has("gzip")) return { ...reply, headers: varying };
  return { ...reply, headers: { ...varying, "content-encoding": "gzip" }, body: await gzipped(body) };
}
