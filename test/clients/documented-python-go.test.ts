// The lines of docs/clients.md that point clients of Python and Go at the server are those that the tests
// run.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const HERE = import.meta.dirname;
const DOCUMENT = readFileSync(join(HERE, "../../docs/clients.md"), "utf8");
/** Parts of programs that stand for themselves. */
const WITHOUT_A_CLIENT = ["facts.py", "raw.py", "main.go"];
/** This program reads its lines from the document. */
const READS_THE_DOCUMENT = "freqtrade_bot.py";

/** The lines of a text without what they are indented by. */
function bare(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
}

const LANGUAGES = [
  ["Python", "python", ".py"],
  ["Go", "go", ".go"],
] as const;

describe.each(LANGUAGES)("the section %s", (title, language, ending) => {
  const [, section = ""] =
    new RegExp(`^## ${title}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(DOCUMENT) ?? [];
  const blocks = [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))];
  // The first block only names the addresses and the key.
  const lines = blocks.slice(1).map(([, text = ""]) => bare(text));
  const files = readdirSync(join(HERE, language))
    .filter(
      (name) => name.endsWith(ending) && !WITHOUT_A_CLIENT.includes(name) && name !== READS_THE_DOCUMENT,
    )
    .map((name) => ({ name, text: bare(readFileSync(join(HERE, language, name), "utf8")) }));

  test("has the lines of a program that is run, for every block", () => {
    expect(lines.length).toBeGreaterThan(1);
    for (const block of lines) {
      expect(files.filter(({ text }) => text.includes(block)).length, block).toBe(1);
    }
  });

  test("has every program's lines", () => {
    for (const { name, text } of files) {
      expect(lines.filter((block) => text.includes(block)).length, name).toBeGreaterThan(0);
    }
  });

  test("names the versions that are run", () => {
    const files =
      language === "go"
        ? ["go.mod"]
        : readdirSync(join(HERE, language)).filter((name) => name.startsWith("requirements"));
    const texts = files.map((name) => readFileSync(join(HERE, language, name), "utf8"));
    const pinned = texts.map((text) => text.split("# Dependencies")[0]).join("");
    const versions = language === "go" ? /go-binance\/v2 v(\S+)/g : /^(?!unicorn-binance-rest).*==(.*)$/gm;
    for (const [, version = ""] of pinned.matchAll(versions)) expect(section).toContain(version);
  });
});
