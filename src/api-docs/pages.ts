// What is served under /docs: the pages for readers, the documents for programs, and the texts of docs/ and
// of the client, as they are but for links that would lead to nothing here. All of it is made once, when it
// is first asked for, and kept in memory.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { BOT_ROUTES } from "../http/bot/routes.ts";
import type { Pages } from "../http/pipeline.ts";
import { ROUTES } from "../http/server.ts";
import { replyOfFile, type StaticFile, staticFile } from "../http/static-files.ts";
import { asyncApi } from "./asyncapi.ts";
import { openApi } from "./openapi.ts";
import { DOCUMENT_POLICY, PAGE_POLICY, page } from "./page.ts";
import { streamsReference } from "./streams-reference.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The folders whose texts are for those who use the service, and where each is served. */
const FOLDERS = [
  { folder: "docs/api", served: "/docs/api" },
  { folder: "docs", served: "/docs" },
  { folder: "clients/typescript", served: "/docs/clients/typescript" },
] as const;

const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
/** The files of the pages, as they lie on the disk. */
const PAGE_FILES = [
  ...["swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css"].map((name) =>
    join(SWAGGER_UI, name),
  ),
  ...["start.js", "page.css"].map((name) => join(import.meta.dirname, "browser", name)),
];

/**
 * The pages; null for a path that is none. `address` says where the service is reached once it listens: an
 * origin.
 */
export function createPages(address: () => string): Pages {
  let made: ReadonlyMap<string, StaticFile> | null = null;
  return ({ path, headers }) => {
    if (path !== "/docs" && !path.startsWith("/docs/")) return null;
    made ??= makePages(address());
    const file = made.get(path);
    return file === undefined ? null : replyOfFile(file, headers);
  };
}

function makePages(address: string): ReadonlyMap<string, StaticFile> {
  const texts = readTexts();
  const reference = page({ title: "Lyrebird API", document: "/docs/openapi.json", texts });
  const streams = page({ title: "Lyrebird streams", document: "/docs/streams.json", texts });
  const routes = { bot: BOT_ROUTES, exchange: ROUTES };
  return new Map([
    ["/docs", fileOf(reference, ".html")],
    ["/docs/", fileOf(reference, ".html")],
    ["/docs/streams", fileOf(streams, ".html")],
    ["/docs/openapi.json", fileOf(JSON.stringify(openApi(routes, address)), ".json")],
    ["/docs/asyncapi.json", fileOf(JSON.stringify(asyncApi(address)), ".json")],
    ["/docs/streams.json", fileOf(JSON.stringify(streamsReference(address)), ".json")],
    ...PAGE_FILES.map((path): [string, StaticFile] => [
      `/docs/ui/${basename(path)}`,
      fileOf(readFileSync(path), extname(path)),
    ]),
    ...texts.map(({ path, text }): [string, StaticFile] => [path, fileOf(text, ".md")]),
  ]);
}

type Text = { readonly path: string; readonly title: string; readonly text: string };

/** The Markdown texts that are served; their titles are their first headings. */
function readTexts(): readonly Text[] {
  const files = FOLDERS.flatMap(({ folder, served }) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => ({ file: join(folder, name), path: join(served, name) })),
  );
  const paths = new Map(files.map(({ file, path }) => [file, path]));
  return files.map(({ file, path }) => {
    const text = withServedLinks(readFileSync(join(ROOT, file), "utf8"), dirname(file), paths);
    return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text };
  });
}

/**
 * The text of a file in a folder: its links to other files lead to where those are served, and are mere words
 * if they are not.
 */
function withServedLinks(text: string, folder: string, paths: ReadonlyMap<string, string>): string {
  return text.replace(/\[([^\]]+)\]\(([^)#:\s]+)(#[^)]*)?\)/g, (_link, words, target, place = "") => {
    const path = paths.get(join(folder, target));
    return path === undefined ? words : `[${words}](${path}${place})`;
  });
}

/** How long a browser may keep a page, s. */
const KEPT_SECONDS = 300;

function fileOf(content: string | Buffer, extension: string): StaticFile {
  return staticFile(Buffer.from(content), extension, {
    "cache-control": `public, max-age=${KEPT_SECONDS}`,
    "content-security-policy": extension === ".html" ? PAGE_POLICY : DOCUMENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
}
