// Reads the few forms of Markdown that the documentation is written in: headings, paragraphs, lists of one
// level, tables, and within them bold, emphasis, code and links. What it does not know stays text; there is
// no way to HTML.

export type Inline =
  | { readonly kind: "text" | "code" | "strong" | "emphasis"; readonly text: string }
  /** `address` is null where a link leads to a file of the repository. */
  | { readonly kind: "link"; readonly text: string; readonly address: string | null };

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "paragraph"; readonly content: readonly Inline[] }
  | { readonly kind: "list"; readonly items: readonly (readonly Inline[])[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    };

export function blocksOf(text: string): readonly Block[] {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "")
    .flatMap((paragraph) => {
      const heading = /^(#{1,6}) (.+)(?:\n([\s\S]+))?$/.exec(paragraph);
      if (heading === null) return [blockOf(paragraph)];
      const [, marks = "", words = "", rest] = heading;
      const block: Block = { kind: "heading", level: marks.length, text: plain(words) };
      return rest === undefined ? [block] : [block, blockOf(rest)];
    });
}

function blockOf(paragraph: string): Block {
  if (paragraph.startsWith("|")) return tableOf(paragraph);
  if (/^(?:[-*]|\d+\.) /.test(paragraph)) {
    const items = paragraph.split(/\n(?=(?:[-*]|\d+\.) )/);
    return {
      kind: "list",
      items: items.map((item) => inlineOf(joined(item.replace(/^(?:[-*]|\d+\.) /, "")))),
    };
  }
  return { kind: "paragraph", content: inlineOf(joined(paragraph)) };
}

function tableOf(paragraph: string): Block {
  const [head = "", , ...rows] = paragraph.split("\n");
  return { kind: "table", head: cellsOf(head), rows: rows.map(cellsOf) };
}

function cellsOf(line: string): readonly (readonly Inline[])[] {
  const cells = line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|");
  return cells.map((cell) => inlineOf(cell.trim()));
}

const MARKS = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

export function inlineOf(text: string): readonly Inline[] {
  const found: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    if (match.index > end) found.push({ kind: "text", text: text.slice(end, match.index) });
    const [whole, code, strong, emphasis, label, address = ""] = match;
    if (code !== undefined) found.push({ kind: "code", text: code });
    else if (strong !== undefined) found.push({ kind: "strong", text: plain(strong) });
    else if (emphasis !== undefined) found.push({ kind: "emphasis", text: plain(emphasis) });
    else
      found.push({
        kind: "link",
        text: plain(label ?? ""),
        address: /^https?:\/\//.test(address) ? address : null,
      });
    end = match.index + whole.length;
  }
  if (end < text.length) found.push({ kind: "text", text: text.slice(end) });
  return found;
}

/** Without marks. */
function plain(text: string): string {
  return text.replace(/[`*]/g, "");
}

/** Lines of a paragraph are one. */
function joined(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
