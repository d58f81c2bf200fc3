// What the writing thread is made of: a thread is started with every store, and is to be there at once.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** Prints the packages that the thread loads, each in a line. */
const LOADED = `
  import { registerHooks } from "node:module";
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      const name = /node_modules\\/([^/]+)/.exec(url)?.[1];
      if (name !== undefined) packages.add(name);
      return next(url, context);
    },
  });
  await import(${JSON.stringify(new URL("./commit-worker.ts", import.meta.url).href)}).catch((error) => {
    if (!/runs as a worker thread/.test(error.message)) throw error;
  });
  process.stdout.write([...packages].join("\\n"));
`;

test("the thread that writes loads no package: the query builder of those that read would take longer than all else", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", LOADED], {
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
});
