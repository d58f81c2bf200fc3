// The web application as files: what `dashboard/dist` holds, read once at the start. What is served is looked up among what was
// read, never in the file system, so that no path leads anywhere else.
//
// Files under /assets/ are named by their content and may be kept for ever; all others are asked for again each time, and answered
// "not modified" if they are not. The page is served under the application's own paths alone, to clients that name `text/html`: a
// bot that asks a wrong path, and a probe that expects an answer of the service, get an error and no page.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path/posix";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Pages, Reply } from "../http/pipeline.ts";
import { acceptedNames } from "./compression.ts";

/** Where the application is built. */
export const APPLICATION_FOLDER = join(import.meta.dirname, "../../dashboard/dist");

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html;charset=UTF-8",
  ".js": "text/javascript;charset=UTF-8",
  ".css": "text/css;charset=UTF-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json;charset=UTF-8",
  ".txt": "text/plain;charset=UTF-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};
const OTHER_TYPE = "application/octet-stream";
/** What is compressed already stays as it is. */
const COMPRESSED = new Set([".png", ".ico", ".woff2"]);
/** Each file is compressed once, while somebody waits for it: this is nearly as small as the best, and a tenth of the time. */
const BROTLI_QUALITY = 6;

const HASHED_FOLDER = "/assets/";
/** The page, which shows what its path means. */
const INDEX = "/index.html";
/** What the paths of the application's pages begin with, the start apart; those of `dashboard/src/app/routes.tsx`, and no others. */
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
/** Of answers that are no page: opened by itself, none of them loads, runs or frames anything, or is framed. */
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

type Encoding = "br" | "gzip" | "identity";

type File = {
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tag: string;
  /** By how they are encoded, as far as that was asked for. */
  readonly bodies: Map<Encoding, Buffer>;
};

/** The application of a folder; a page that says how to get one if it is not there. */
export function createApplication(folder = APPLICATION_FOLDER): Pages {
  const files = readFiles(folder);
  const index = files.get(INDEX) ?? null;
  return ({ path, headers }) => {
    const file = files.get(path);
    if (file !== undefined && file !== index) return replyOf(file, headers);
    if (!isForReader(path, headers.accept)) return null;
    return index === null ? notBuilt() : replyOf(index, headers);
  };
}

/**
 * Whether a request is that of somebody who wants to read a page: browsers name `text/html`, clients of the interfaces do not. The
 * start alone is also for clients that take anything, since no interface is there.
 */
function isForReader(path: string, accept: string | undefined): boolean {
  const accepted = acceptedNames(accept ?? "*/*");
  if (path === "/") return accepted.has("text/html") || accepted.has("*/*");
  return PAGE_SECTIONS.includes(path.split("/", 2)[1] ?? "") && accepted.has("text/html");
}

function readFiles(folder: string): ReadonlyMap<string, File> {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length));
  return new Map(names.map((name) => [name, readFile(folder, name)]));
}

function readFile(folder: string, name: string): File {
  const bytes = readFileSync(join(folder, name));
  const extension = extname(name);
  const isHashed = name.startsWith(HASHED_FOLDER);
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
  return {
    type: TYPES[extension] ?? OTHER_TYPE,
    tag: `W/"${digest}"`,
    headers: {
      ...HEADERS,
      "cache-control": isHashed ? FOR_EVER : "no-cache",
      "content-security-policy": extension === ".html" ? POLICY : NO_PAGE_POLICY,
      ...(COMPRESSED.has(extension)
        ? {}
        : { vary: name === INDEX ? "accept, accept-encoding" : "accept-encoding" }),
    },
    bodies: new Map([["identity", bytes]]),
  };
}

function replyOf(file: File, asked: Parameters<Pages>[0]["headers"]): Reply {
  const headers = { ...file.headers, etag: file.tag };
  const known = asked["if-none-match"]?.split(",").map((tag) => tag.trim());
  if (known?.includes(file.tag) === true) {
    return { status: 304, headers, contentType: file.type, body: "" };
  }
  const encoding = "vary" in file.headers ? encodingOf(asked["accept-encoding"]) : "identity";
  return {
    status: 200,
    headers: encoding === "identity" ? headers : { ...headers, "content-encoding": encoding },
    contentType: file.type,
    body: bodyAs(file, encoding),
  };
}

/** The best that a client takes. */
function encodingOf(accepted: string | string[] | undefined): Encoding {
  const names = acceptedNames(accepted);
  return names.has("br") ? "br" : names.has("gzip") ? "gzip" : "identity";
}

function bodyAs({ bodies }: File, encoding: Encoding): Buffer {
  const made = bodies.get(encoding);
  if (made !== undefined) return made;
  const bytes = bodies.get("identity") ?? Buffer.alloc(0);
  const body =
    encoding === "br"
      ? brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
      : gzipSync(bytes);
  bodies.set(encoding, body);
  return body;
}

function notBuilt(): Reply {
  return {
    status: 404,
    headers: { ...HEADERS, "cache-control": "no-store", "content-security-policy": NO_PAGE_POLICY },
    contentType: "text/html;charset=UTF-8",
    body: NOT_BUILT,
  };
}
