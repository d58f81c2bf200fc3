import { expect, test } from "vitest";
import { html } from "./html.ts";
import { inline, prose } from "./prose.ts";

test.each([
  ["One paragraph\nover two lines.", "<p>One paragraph\nover two lines.</p>"],
  ["One.\n\nAnother.", "<p>One.</p>\n<p>Another.</p>"],
  ["**Strong**, and `code`.", "<p><strong>Strong</strong>, and <code>code</code>.</p>"],
  ["`**` is code", "<p><code>**</code> is code</p>"],
  ["- one\n- two,\ngoing on", "<ul><li>one</li><li>two,\ngoing on</li></ul>"],
  ["```sh\na\n\nb < c\n```", "<pre><code>a\n\nb &lt; c</code></pre>"],
  [
    "| A | B |\n|---|---|\n| `1` | 2 |",
    '<div class="wide"><table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td><code>1</code></td><td>2</td></tr></tbody></table></div>',
  ],
])("%j is read as it is meant", (markdown, expected) => {
  expect(prose(markdown).text.trim()).toBe(expected);
});

test("no text becomes markup", () => {
  const hostile = `<script>"&'</script>`;
  const harmless = "&lt;script&gt;&quot;&amp;'&lt;/script&gt;";
  expect(inline(hostile).text).toBe(harmless);
  expect(inline(`\`${hostile}\``).text).toBe(`<code>${harmless}</code>`);
  expect(html`<p title="${hostile}">${hostile}${inline(hostile)}</p>`.text).toBe(
    `<p title="${harmless}">${harmless}${harmless}</p>`,
  );
  expect(html`<ul>${[html`<li>${"<"}</li>`, html`<li>2</li>`]}</ul>`.text).toBe(
    "<ul><li>&lt;</li>\n<li>2</li></ul>",
  );
});
