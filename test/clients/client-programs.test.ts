// A client that cannot be installed: its tests are skipped and say why, or fail where clients are required.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { newDirectory } from "../support/servers/gateway.ts";
import { pythonWith } from "./client-programs.ts";

/** Prints a version, and fails at everything else. */
const BROKEN_PYTHON = `#!/bin/sh
[ "$1" = -c ] && { echo "3.99 $0"; exit; }
echo "ERROR: no space is left"
echo "hint: see above"
exit 1
`;

test("a client that cannot be installed is named with the reason, and fails where clients are required", async () => {
  const directory = newDirectory();
  writeFileSync(join(directory, "python3"), BROKEN_PYTHON, { mode: 0o755 });
  vi.stubEnv("PATH", `${directory}:${process.env.PATH}`);
  vi.stubEnv("REQUIRE_CLIENTS", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await pythonWith("requirements.txt")).toEqual({
    missing: "skipped: could not be installed: ERROR: no space is left; REQUIRE_CLIENTS=1 to fail",
  });
  vi.stubEnv("REQUIRE_CLIENTS", "1");
  await expect(pythonWith("requirements.txt")).rejects.toThrow(
    "REQUIRE_CLIENTS=1, and requirements.txt could not be installed: ERROR: no space is left",
  );
});
