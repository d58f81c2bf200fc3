// The examples that a reader copies, here and in the texts: they are the same where they should be, and
// differ where they must.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exchangeSnippets, type Snippet, signalSnippets, streamSnippets } from "./snippets.ts";
import { CONNECT_ERROR_TABLE } from "./stream-words.ts";

const ADDRESS = "http://127.0.0.1:8080";
const read = (path: string) => readFileSync(join(import.meta.dirname, "../..", path), "utf8");
const streams = read("docs/api/streams.md");

/** The first block of a language in a text. */
function blockOf(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\`\`\`$`, "m").exec(streams)?.[1]?.trim() ?? "";
}

function textOf(snippets: readonly Snippet[], word: string): string {
  return snippets.find(({ title }) => title.includes(word))?.text ?? "";
}

// Otherwise a person who copies all examples would get the error that a key belongs to another order.
test("every example of a signal has an idempotency key of its own", () => {
  const served = signalSnippets(ADDRESS).map(({ text }) => text);
  const texts = [
    ...["README.md", "docs/api/signals.md", "clients/typescript/README.md"].map(read),
    ...served,
  ];
  const keys = texts.map((text) =>
    [...text.matchAll(/idempotency(?:-key: |_key="|Key: ")([\w-]+)"/g)].map(([, key]) => key),
  );
  expect(keys.filter((found) => found.length === 0)).toEqual([]);
  expect(new Set(keys.flat()).size).toBe(keys.flat().length);
});

test("the first order is the same on the page and in the text", () => {
  const [snippet] = exchangeSnippets(ADDRESS);
  expect(read("docs/api/README.md")).toContain(`\n\`\`\`sh\n${snippet?.text}\n\`\`\`\n`);
});

test("the first stream is the same on the page and in the text", () => {
  const snippets = streamSnippets(ADDRESS);
  expect(blockOf("python")).not.toBe("");
  expect(textOf(snippets, "Python")).toBe(blockOf("python"));
  expect(blockOf("js")).not.toBe("");
  expect(textOf(snippets, "socket.io-client").startsWith(blockOf("js"))).toBe(true);
});

test("what a client says itself before it has joined is the same in the text", () => {
  expect(streams).toContain(`${CONNECT_ERROR_TABLE}\n`);
});
