import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { BOT_ROUTES } from "../http/bot/routes.ts";
import { STREAM_ERROR_CODES } from "../streams/errors.ts";
import { openApi } from "./openapi.ts";
import { createPages } from "./pages.ts";

const ADDRESS = "http://127.0.0.1:8080";
const pages = createPages(() => ADDRESS);
const readable = pages("/docs");
const text = readable?.body ?? "";
const links = [...text.matchAll(/ href="([^"]*)"/g)].map(([, link = ""]) => link);
const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);

describe("the readable page", () => {
  test("has every route, every code and every shared shape", () => {
    for (const { method, path } of BOT_ROUTES) {
      expect(text).toContain(`<code>${method} ${path.replace(/:(\w+)/g, "{$1}")}</code>`);
    }
    for (const code of STREAM_ERROR_CODES) expect(text).toContain(`<code>${code}</code>`);
    for (const name of Object.keys(openApi(BOT_ROUTES, ADDRESS).components.schemas)) {
      expect(ids).toContain(`schema-${name}`);
    }
  });

  test("has no two places of one name", () => {
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("its links lead to places of its own and to pages that are served", () => {
    const broken = links.filter((link) =>
      link.startsWith("#") ? !ids.includes(link.slice(1)) : link !== "data:," && pages(link) === null,
    );
    expect(links.length).toBeGreaterThan(0);
    expect(broken).toEqual([]);
  });

  test("runs nothing and loads nothing, and its policy takes its own style alone", () => {
    expect(text).not.toMatch(/<script|<img|<iframe|<object|<form|@import|url\(| style="| src="| on\w+="/i);
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(text) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(readable?.headers["content-security-policy"]).toContain(`style-src 'sha256-${hash}'`);
    expect(readable?.headers["content-security-policy"]).toContain("default-src 'none'");
  });

  test("closes what it opens", () => {
    const open: string[] = [];
    for (const [, slash, name = ""] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (["meta", "link"].includes(name)) continue;
      if (slash === "") open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
  });

  test("names the address that the server has when it is asked", () => {
    let address = "http://127.0.0.1:1";
    const later = createPages(() => address);
    address = "https://lyrebird.example";
    expect(later("/docs")?.body).toContain("URL=https://lyrebird.example\n");
    expect(JSON.parse(later("/docs/openapi.json")?.body ?? "").servers).toEqual([{ url: address }]);
    expect(JSON.parse(later("/docs/asyncapi.json")?.body ?? "").servers.gateway.host).toBe(
      "lyrebird.example",
    );
  });
});

describe("the pages", () => {
  test.each([
    ["/docs", "text/html"],
    ["/docs/", "text/html"],
    ["/docs/openapi.json", "application/json"],
    ["/docs/asyncapi.json", "application/json"],
    ["/docs/api/spot.md", "text/plain"],
    ["/docs/fidelity.md", "text/plain"],
    ["/docs/clients/typescript/README.md", "text/plain"],
  ])("%s is served as %s", (path, contentType) => {
    const page = pages(path);
    expect(page?.status).toBe(200);
    expect(page?.contentType).toBe(`${contentType};charset=UTF-8`);
    expect(page?.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "content-security-policy": expect.stringMatching(
        /^default-src 'none';.* base-uri 'none';.* frame-ancestors 'none'$/,
      ),
    });
  });

  test.each([
    "/",
    "/docsx",
    "/docs/none",
    "/docs/../package.json",
    "/docs/api/../../package.json",
    "/docs/decisions/0001-journal-entries-carry-postings.md",
    "/docs/clients/typescript/package.json",
    "/docs/__proto__",
  ])("%s is none of them", (path) => {
    expect(pages(path)).toBeNull();
  });

  test("have no links but to pages that are served", () => {
    const texts = links.filter((link) => link.endsWith(".md"));
    const targets = texts.flatMap((path) =>
      [...(pages(path)?.body ?? "").matchAll(/\]\(([^)#:]+)[^)]*\)/g)].map(([, target = ""]) => target),
    );
    expect(targets).toContain("/docs/clients/typescript/README.md");
    expect(targets.filter((target) => pages(target) === null)).toEqual([]);
    // What is not served is still named.
    expect(pages("/docs/fidelity.md")?.body).toContain("scenarios/");
  });

  test("are made once", () => {
    expect(pages("/docs")).toBe(readable);
  });
});
