// What is served under /docs: the readable page, both documents, and the texts of docs/ as they are. All of it is made once, when it
// is first asked for, and kept as text.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BOT_ROUTES } from "../http/bot/routes.ts";
import type { Pages, Reply } from "../http/pipeline.ts";
import { asyncApi } from "./asyncapi.ts";
import { openApi } from "./openapi.ts";
import { PAGE_POLICY, page } from "./page.ts";

const DOCUMENTS = join(import.meta.dirname, "../../docs");
/** The folders whose texts are for those who use the service. */
const FOLDERS = ["api", "."];

/** The pages by path; null for a path that is none. `address` says where the service is reached once it listens: an origin. */
export function createPages(address: () => string): Pages {
  let made: ReadonlyMap<string, Reply> | null = null;
  return (path) => {
    if (path !== "/docs" && !path.startsWith("/docs/")) return null;
    made ??= makePages(address());
    return made.get(path) ?? null;
  };
}

function makePages(address: string): ReadonlyMap<string, Reply> {
  const documents = { openApi: openApi(BOT_ROUTES, address), asyncApi: asyncApi(address) };
  const texts = FOLDERS.flatMap(textsOf);
  const readable = reply("text/html", page({ ...documents, address, texts }), {
    "content-security-policy": PAGE_POLICY,
  });
  return new Map([
    ["/docs", readable],
    ["/docs/", readable],
    ["/docs/openapi.json", reply("application/json", JSON.stringify(documents.openApi))],
    ["/docs/asyncapi.json", reply("application/json", JSON.stringify(documents.asyncApi))],
    ...texts.map(({ path, text }): [string, Reply] => [path, reply("text/plain", text)]),
  ]);
}

type Text = { readonly path: string; readonly title: string; readonly text: string };

/** The Markdown texts of a folder of docs/; their titles are their first headings. */
function textsOf(folder: string): readonly Text[] {
  const names = readdirSync(join(DOCUMENTS, folder)).filter((name) => name.endsWith(".md"));
  return names.sort().map((name) => {
    const text = readFileSync(join(DOCUMENTS, folder, name), "utf8");
    return { path: join("/docs", folder, name), title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
  });
}

/** How long a browser may keep a page, s. */
const KEPT_SECONDS = 300;

function reply(contentType: string, body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status: 200,
    headers: {
      "cache-control": `public, max-age=${KEPT_SECONDS}`,
      "x-content-type-options": "nosniff",
      ...headers,
    },
    contentType: `${contentType};charset=UTF-8`,
    body,
  };
}
