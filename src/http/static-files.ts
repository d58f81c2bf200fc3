// Files and pages that are made once and kept in memory: compressed as a client takes it, and answered "not
// modified" to a client that has the same bytes already.
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Reply, Request } from "./pipeline.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html;charset=UTF-8",
  ".js": "text/javascript;charset=UTF-8",
  ".css": "text/css;charset=UTF-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json;charset=UTF-8",
  ".txt": "text/plain;charset=UTF-8",
  ".md": "text/plain;charset=UTF-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};
const OTHER_TYPE = "application/octet-stream";
/** Types that are compressed already. */
const COMPRESSED = new Set([".png", ".ico", ".woff2"]);
/**
 * Each file is compressed once, during a request: nearly as small as the best level, in a tenth of the time.
 */
const BROTLI_QUALITY = 6;

type Encoding = "br" | "gzip" | "identity";

export type StaticFile = {
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tag: string;
  /** By encoding, as far as clients have requested them. */
  readonly bodies: Map<Encoding, Buffer>;
};

/** A file with this content; its extension, as `.js`, gives its type. */
export function staticFile(
  bytes: Buffer,
  extension: string,
  { vary = "accept-encoding", ...headers }: Readonly<Record<string, string>>,
): StaticFile {
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
  return {
    type: TYPES[extension] ?? OTHER_TYPE,
    tag: `W/"${digest}"`,
    headers: COMPRESSED.has(extension) ? headers : { ...headers, vary },
    bodies: new Map([["identity", bytes]]),
  };
}

/** The answer to a request with these headers. */
export function replyOfFile(file: StaticFile, asked: Request["headers"]): Reply {
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

/** The accepted encodings, by a header that lists names with weights. A weight of zero means not accepted. */
export function acceptedNames(accepted: string | string[] | undefined): ReadonlySet<string> {
  const names = String(accepted ?? "")
    .split(",")
    .filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each))
    .map((each) => each.split(";")[0]?.trim().toLowerCase() ?? "");
  return new Set(names);
}

/** The best that a client takes. */
function encodingOf(accepted: string | string[] | undefined): Encoding {
  const names = acceptedNames(accepted);
  return names.has("br") ? "br" : names.has("gzip") ? "gzip" : "identity";
}

function bodyAs({ bodies }: StaticFile, encoding: Encoding): Buffer {
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
