// The descriptions of the documents are CommonMark; they keep to the little of it that is read here: paragraphs, lists with
// `-`, tables, blocks of code in fences, `code` and **strong**.
import { escaped, Html } from "./html.ts";

/** A description as HTML. */
export function prose(markdown: string): Html {
  // Blocks of code first, since there are empty lines in them.
  const pieces = markdown.trim().split(/^```\w*\n([\s\S]*?)^```$/m);
  return new Html(
    pieces
      .map((piece, index) =>
        index % 2 === 1
          ? `<pre><code>${escaped(piece.trimEnd())}</code></pre>`
          : blocksOf(piece).map(blockText).join("\n"),
      )
      .join("\n"),
  );
}

/** A description that stands in a line. */
export function inline(markdown: string): Html {
  return new Html(inlineText(markdown));
}

function blocksOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

function blockText(block: string): string {
  const lines = block.split("\n");
  if (lines.every((line) => line.startsWith("|"))) return tableText(lines);
  if (block.startsWith("- ")) {
    const items = block.split(/^- /m).slice(1);
    return `<ul>${items.map((item) => `<li>${inlineText(item.trim())}</li>`).join("")}</ul>`;
  }
  return `<p>${inlineText(block)}</p>`;
}

function tableText([head = "", , ...rows]: readonly string[]): string {
  const cells = (line: string, tag: string) =>
    `<tr>${line
      .split("|")
      .slice(1, -1)
      .map((cell) => `<${tag}>${inlineText(cell.trim())}</${tag}>`)
      .join("")}</tr>`;
  return (
    `<div class="wide"><table><thead>${cells(head, "th")}</thead>` +
    `<tbody>${rows.map((row) => cells(row, "td")).join("")}</tbody></table></div>`
  );
}

function inlineText(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith("`")
        ? `<code>${escaped(part.slice(1, -1))}</code>`
        : escaped(part).replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>"),
    )
    .join("");
}
