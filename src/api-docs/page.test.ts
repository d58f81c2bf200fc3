import { describe, expect, test } from "vitest";
import { page } from "./page.ts";
import { createPages } from "./pages.ts";

const ADDRESS = "http://127.0.0.1:8080";
const pages = createPages(() => ADDRESS);
const get = (path: string, from = pages) => from({ path, headers: {} });
const textOf = (path: string, from = pages) => String(get(path, from)?.body ?? "");
const readable = textOf("/docs");
const streams = textOf("/docs/streams");
const linksOf = (text: string) => [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);

describe.each([
  ["/docs", "/docs/openapi.json"],
  ["/docs/streams", "/docs/streams.json"],
])("the page %s", (path, document) => {
  const text = textOf(path);

  test("shows its document, and leads to it without scripts", () => {
    expect(text).toContain(` data-document="${document}"`);
    expect(text).toMatch(new RegExp(`<noscript>.*<a href="${document}">.*</noscript>`));
    expect(JSON.parse(textOf(document)).openapi).toBe("3.1.0");
  });

  test("its links lead to pages that are served", () => {
    const links = linksOf(text).filter((link) => link !== "data:," && !link.startsWith("#"));
    expect(links).toEqual(expect.arrayContaining(["/docs/openapi.json", "/docs/asyncapi.json"]));
    expect(links.filter((link) => get(link) === null)).toEqual([]);
  });

  test("takes scripts and styles from this site alone, and none within the page", () => {
    expect(text).not.toMatch(/<script>|<style| style="| on\w+="|<img|<iframe|<form/i);
    const policy = String(get(path)?.headers["content-security-policy"]).split("; ");
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]),
    );
    expect(policy.join()).not.toContain("unsafe");
  });
});

test("no text becomes markup", () => {
  const title = `<script>"&'</script>`;
  const text = page({ title: "Title", document: "/document.json", texts: [{ path: "/docs/a.md", title }] });
  expect(text).toContain(">&lt;script&gt;&quot;&amp;'&lt;/script&gt;</a>");
  expect(text).not.toContain(title);
});

test("the descriptions lead to pages that are served", () => {
  const documents = ["/docs/openapi.json", "/docs/streams.json"].map((path) => textOf(path));
  const links = documents.flatMap((text) =>
    [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link = ""]) => link),
  );
  expect(links).toContain("/docs/streams");
  expect(links.filter((link) => get(link) === null)).toEqual([]);
});

test("the address is the one that the server has when it is asked", () => {
  let address = "http://127.0.0.1:1";
  const later = createPages(() => address);
  address = "https://lyrebird.example";
  const document = JSON.parse(textOf("/docs/openapi.json", later));
  expect(document.servers).toEqual([{ url: address }]);
  expect(document.info.description).toContain("URL=https://lyrebird.example\n");
  expect(JSON.parse(textOf("/docs/streams.json", later)).info.description).toContain(address);
  expect(JSON.parse(textOf("/docs/asyncapi.json", later)).servers.gateway.host).toBe("lyrebird.example");
});

describe("the pages", () => {
  test.each([
    ["/docs", "text/html"],
    ["/docs/", "text/html"],
    ["/docs/streams", "text/html"],
    ["/docs/openapi.json", "application/json"],
    ["/docs/asyncapi.json", "application/json"],
    ["/docs/ui/swagger-ui-bundle.js", "text/javascript"],
    ["/docs/ui/swagger-ui-bundle.js.LICENSE.txt", "text/plain"],
    ["/docs/ui/page.css", "text/css"],
    ["/docs/api/spot.md", "text/plain"],
    ["/docs/fidelity.md", "text/plain"],
    ["/docs/clients/typescript/README.md", "text/plain"],
  ])("%s is served as %s", (path, contentType) => {
    const page = get(path);
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
    "/docs/ui/package.json",
    "/docs/decisions/0001-journal-entries-carry-postings.md",
    "/docs/clients/typescript/package.json",
    "/docs/__proto__",
  ])("%s is none of them", (path) => {
    expect(get(path)).toBeNull();
  });

  test("have no links but to pages that are served", () => {
    const texts = linksOf(readable).filter((link) => link.endsWith(".md"));
    const targets = texts.flatMap((path) =>
      [...textOf(path).matchAll(/\]\(([^)#:]+)[^)]*\)/g)].map(([, target = ""]) => target),
    );
    expect(targets).toContain("/docs/clients/typescript/README.md");
    expect(targets.filter((target) => get(target) === null)).toEqual([]);
    // What is not served is still named.
    expect(textOf("/docs/fidelity.md")).toContain("scenarios/");
  });

  test("are compressed, and not sent again to a client that has them", () => {
    const path = "/docs/openapi.json";
    const { headers, body } = pages({ path, headers: { "accept-encoding": "gzip, br" } }) ?? {};
    expect(headers?.["content-encoding"]).toBe("br");
    expect(Buffer.byteLength(body ?? "")).toBeLessThan(textOf(path).length / 4);
    expect(pages({ path, headers: { "if-none-match": String(headers?.etag) } })?.status).toBe(304);
  });
});

test("the streams are shown with every message, and every schema that one names", () => {
  const { info, components } = JSON.parse(textOf("/docs/streams.json"));
  const named = [...info.description.matchAll(/Schema: `(\w+)`/g)].map(([, name]) => name);
  expect(named).toHaveLength(12);
  expect(named.filter((name) => !(name in components.schemas))).toEqual([]);
  for (const channel of ["/bot/v1/market", "/bot/v1/orderbook"]) {
    expect(info.description).toContain(`\n## \`${channel}\`\n`);
  }
  expect(streams).toContain("Lyrebird streams");
});
