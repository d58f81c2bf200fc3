// The pages for readers. Swagger UI shows a document on them; it is served from here, and the pages' policy
// allows nothing from elsewhere, and no script or style within a page. Without JavaScript the links remain.

/** The policy of the pages: scripts, styles, pictures and documents of this site alone. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Of the documents that are no page: opened by itself, none of them loads, runs or frames anything, or is
 * framed.
 */
export const DOCUMENT_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type PageParts = {
  readonly title: string;
  /** The path of the document that is shown. */
  readonly document: string;
  /** The texts that are served beside the pages. */
  readonly texts: readonly { readonly path: string; readonly title: string }[];
};

/** A page as HTML text. */
export function page({ title, document, texts }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/ui/swagger-ui.css">
<link rel="stylesheet" href="/docs/ui/page.css">
</head>
<body>
<nav aria-label="Documents">
<a href="/docs">API reference</a>
<a href="/docs/streams">Streams</a>
<a href="/docs/openapi.json">openapi.json</a>
<a href="/docs/asyncapi.json">asyncapi.json</a>
<a href="#texts">Texts</a>
</nav>
<noscript><p>This page needs JavaScript. Without it, read <a href="${document}">the document</a> or the texts below.</p></noscript>
<main id="reference" data-document="${document}"></main>
<footer>
<h2 id="texts">Texts</h2>
<ul>
${texts.map((text) => `<li><a href="${escaped(text.path)}">${escaped(text.title)}</a></li>`).join("\n")}
</ul>
</footer>
<script src="/docs/ui/swagger-ui-bundle.js"></script>
<script src="/docs/ui/start.js"></script>
</body>
</html>
`;
}

/** Text as it may stand in an element or in a quoted attribute. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
