// What is served under /docs: the readable page, both documents, and the texts of docs/ and of the client, as they are but for links
// that would lead to nothing here. All of it is made once, when it is first asked for, and kept as text.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { BOT_ROUTES } from "../http/bot/routes.ts";
import type { Reply } from "../http/pipeline.ts";
import { asyncApi } from "./asyncapi.ts";
import { openApi } from "./openapi.ts";
import { DOCUMENT_POLICY, PAGE_POLICY, page } from "./page.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The folders whose texts are for those who use the service, and where each is served. */
const FOLDERS = [
  { folder: "docs/api", served: "/docs/api" },
  { folder: "docs", served: "/docs" },
  { folder: "clients/typescript", served: "/docs/clients/typescript" },
] as const;

type Page = Reply & { readonly body: string };

/** The pages by path; null for a path that is none. `address` says where the service is reached once it listens: an origin. */
export function createPages(address: () => string): (path: string) => Page | null {
  let made: ReadonlyMap<string, Page> | null = null;
  return (path) => {
    if (path !== "/docs" && !path.startsWith("/docs/")) return null;
    made ??= makePages(address());
    return made.get(path) ?? null;
  };
}

function makePages(address: string): ReadonlyMap<string, Page> {
  const documents = { openApi: openApi(BOT_ROUTES, address), asyncApi: asyncApi(address) };
  const texts = readTexts();
  const readable = reply("text/html", page({ ...documents, address, texts }), {
    "content-security-policy": PAGE_POLICY,
  });
  return new Map([
    ["/docs", readable],
    ["/docs/", readable],
    ["/docs/openapi.json", reply("application/json", JSON.stringify(documents.openApi))],
    ["/docs/asyncapi.json", reply("application/json", JSON.stringify(documents.asyncApi))],
    ...texts.map(({ path, text }): [string, Page] => [path, reply("text/plain", text)]),
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

/** The text of a file in a folder: its links to other files lead to where those are served, and are mere words if they are not. */
function withServedLinks(text: string, folder: string, paths: ReadonlyMap<string, string>): string {
  return text.replace(/\[([^\]]+)\]\(([^)#:\s]+)(#[^)]*)?\)/g, (_link, words, target, place = "") => {
    const path = paths.get(join(folder, target));
    return path === undefined ? words : `[${words}](${path}${place})`;
  });
}

/** How long a browser may keep a page, s. */
const KEPT_SECONDS = 300;

function reply(contentType: string, body: string, headers: Readonly<Record<string, string>> = {}): Page {
  return {
    status: 200,
    headers: {
      "cache-control": `public, max-age=${KEPT_SECONDS}`,
      "content-security-policy": DOCUMENT_POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      ...headers,
    },
    contentType: `${contentType};charset=UTF-8`,
    body,
  };
}
