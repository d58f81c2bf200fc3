import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocksOf, inlineOf } from "./blocks.ts";

test("headings, paragraphs, lists and tables", () => {
  const text =
    "# One\n\nTwo lines\nof *one* paragraph.\n\n- a\n  goes on\n- **b**\n\n| x | `y` |\n|---|---|\n| 1 | 2 |\n";
  expect(blocksOf(text)).toEqual([
    { kind: "heading", level: 1, text: "One" },
    {
      kind: "paragraph",
      content: [
        { kind: "text", text: "Two lines of " },
        { kind: "emphasis", text: "one" },
        { kind: "text", text: " paragraph." },
      ],
    },
    { kind: "list", items: [[{ kind: "text", text: "a goes on" }], [{ kind: "strong", text: "b" }]] },
    {
      kind: "table",
      head: [[{ kind: "text", text: "x" }], [{ kind: "code", text: "y" }]],
      rows: [[[{ kind: "text", text: "1" }], [{ kind: "text", text: "2" }]]],
    },
  ]);
});

test("HTML and scripts stay text", () => {
  expect(inlineOf("<img src=x onerror=alert(1)> [go](javascript:void0)")).toEqual([
    { kind: "text", text: "<img src=x onerror=alert(1)> " },
    { kind: "link", text: "go", address: null },
  ]);
});

test("nothing of the documentation is left with marks", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../../../docs/fidelity.md"), "utf8");
  const blocks = blocksOf(text);
  expect(blocks.length).toBeGreaterThan(20);
  const shown = JSON.stringify(blocks.map((block) => ("text" in block ? block.text : block)));
  expect(shown).not.toMatch(/\*\*|\]\(|^#/);
});
