// Counts code lines, without blank lines and comments, by kind and folder: `node tools/count-lines.mjs
// [revision]`, and what commits changed in production and support together: `node tools/count-lines.mjs
// --commits <revision> ...`.
import { execFileSync } from "node:child_process";

const git = (args, input) => execFileSync("git", args, { input, maxBuffer: 2 ** 30 });

/** Tests: `*.test.ts`. Support: what only tests use. Production: what runs, here and in browsers. */
function kindOf(path) {
  if (!/\.(ts|tsx|mjs|js|css)$/.test(path) || /\.d\.ts$/.test(path)) return null;
  if (/\.test\.tsx?$/.test(path)) return "tests";
  if (path.startsWith("bench/")) return "bench";
  if (/^test\/|\/testing\/|\/contract\//.test(path)) return "support";
  return /^(src|dashboard\/(src|public)|clients\/[^/]+\/src)\//.test(path) ? "production" : null;
}

function codeLines(text) {
  const withoutComments = text.replace(/^\s*(\/\*[\s\S]*?\*\/|\/\/.*|\{\/\*.*\*\/\})\s*$/gm, "");
  return withoutComments.split("\n").filter((line) => line.trim() !== "").length;
}

/** The code lines of each file of a revision, by path. */
function countAt(revision) {
  const paths = String(git(["ls-tree", "-r", "--name-only", revision]))
    .split("\n")
    .filter(kindOf);
  const answer = git(["cat-file", "--batch"], paths.map((path) => `${revision}:${path}\n`).join(""));
  let at = 0;
  return new Map(
    paths.map((path) => {
      const begin = answer.indexOf("\n", at) + 1;
      const length = Number(answer.toString("utf8", at, begin).split(" ")[2]);
      at = begin + length + 1;
      return [path, codeLines(answer.toString("utf8", begin, begin + length))];
    }),
  );
}

function sums(counts, nameOf) {
  const totals = {};
  for (const [path, lines] of counts) totals[nameOf(path)] = (totals[nameOf(path)] ?? 0) + lines;
  return totals;
}

const [first = "HEAD", ...revisions] = process.argv.slice(2);
if (first !== "--commits") {
  const counts = countAt(first);
  const depthOf = (path) => (path.startsWith("test/campaigns/") ? 3 : 2);
  const folderOf = (path) => path.split("/").slice(0, -1).slice(0, depthOf(path)).join("/");
  console.log(sums(counts, kindOf));
  console.table(sums(counts, (path) => `${kindOf(path)} ${folderOf(path)}`));
}
for (const revision of revisions) {
  const [before, after] = [`${revision}~1`, revision].map((each) => sums(countAt(each), kindOf));
  const change = after.production - before.production + after.support - before.support;
  console.log(change, String(git(["log", "-1", "--format=%h %s", revision])).trim());
}
