// The readable page: both documents as one text, with examples to copy. It needs no script and loads nothing; its policy
// forbids both, and takes its own style by its hash alone.
import { createHash } from "node:crypto";
import type { AsyncApi } from "./asyncapi.ts";
import { Html, html } from "./html.ts";
import { nameOfOperation, type OpenApi } from "./openapi.ts";
import { channelSection, routeId, routeSection, shapeSection, snippetSection } from "./page-sections.ts";
import { STYLE } from "./page-style.ts";
import { prose } from "./prose.ts";
import { signalSnippets, streamSnippets } from "./snippets.ts";

/** The policy that the page is sent with: nothing is loaded, run or embedded. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Of the documents that are no page: opened by itself, none of them loads, runs or frames anything, or is framed. */
export const DOCUMENT_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export type PageParts = {
  readonly openApi: OpenApi;
  readonly asyncApi: AsyncApi;
  /** Where the service is reached, an origin. */
  readonly address: string;
  /** The texts that are served beside the page. */
  readonly texts: readonly { readonly path: string; readonly title: string }[];
};

/** The page as HTML text. */
export function page({ openApi, asyncApi, address, texts }: PageParts): string {
  const routes = Object.entries(openApi.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: nameOfOperation(method, path),
      operation,
    })),
  );
  const channels = Object.entries(asyncApi.channels);
  const shapes = Object.entries({ ...openApi.components.schemas, ...asyncApi.components.schemas });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lyrebird: signals and streams</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#top">To the text</a>
<div class="frame">
<nav aria-label="Sections"><ul>
<li><a href="#signals"><strong>Signals</strong></a><ul>
${routes.map(({ name }) => html`<li><a href="#${routeId(name)}">${name.replace("/bot/v1/spot", "")}</a></li>`)}
</ul></li>
<li><a href="#streams"><strong>Streams</strong></a><ul>
${channels.map(([name, channel]) => html`<li><a href="#channel-${name}">${channel.address}</a></li>`)}
</ul></li>
<li><a href="#shapes"><strong>Shapes</strong></a></li>
<li><a href="#texts"><strong>Other routes and texts</strong></a></li>
</ul></nav>
<main id="top">
<h1>Lyrebird</h1>
<p>Signals and streams of the server at <code>${address}</code>, version ${openApi.info.version}. The same for programs:
<a href="/docs/openapi.json">openapi.json</a> (OpenAPI 3.1) and <a href="/docs/asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0).</p>
<h2 id="signals">Signals</h2>
${prose(openApi.info.description)}
<h3 id="first-signal">A first signal</h3>
${snippetSection(signalSnippets(address))}
${routes.map(({ name, operation }) => routeSection(name, operation))}
<h2 id="streams">Streams</h2>
${prose(asyncApi.info.description)}
<h3 id="first-stream">A first stream</h3>
${snippetSection(streamSnippets(address))}
${channels.map(([name, channel]) => channelSection(name, channel, asyncApi.components.messages))}
<h2 id="shapes">Shapes</h2>
<p>What the tables above refer to.</p>
${shapes.map(([name, schema]) => shapeSection(name, schema))}
<h2 id="texts">Other routes and texts</h2>
<p>The routes in the reference exchange's shapes, under <code>/api/v3</code> and <code>/fapi</code>, are used with that exchange's own
clients. These texts describe them, and the rest of the service:</p>
<ul>
${texts.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>`)}
</ul>
</main>
</div>
</body>
</html>
`.text;
}
