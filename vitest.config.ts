import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest begins first: begun last, it would run alone at the end while the other workers have nothing to do. */
const SLOWEST_FIRST = [
  "test/browser/",
  "test/crash/",
  "test/copy/",
  "test/fire/",
  "test/house/",
  "test/fuzz/",
  "test/process/",
  "test/market/",
  "test/wire/",
  "test/",
  "src/store/",
  "src/copy/",
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const path = relative(import.meta.dirname, moduleId);
      const index = SLOWEST_FIRST.findIndex((folder) => path.startsWith(folder));
      return index < 0 ? SLOWEST_FIRST.length : index;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    globalSetup: ["test/support/temporary-root.ts"],
    sequence: { sequencer: SlowestFirst },
    // Much of a file is waiting for other processes.
    maxWorkers: availableParallelism() + 1,
    // A test that waits for the world waits for an event; this is only the bound after which it has failed.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "clients/*/src/**/*.test.ts", "dashboard/src/**/*.test.ts"],
          // A worker runs one file after another: a process for each would take as long to start as most of them run.
          isolate: false,
        },
      },
      { extends: true, test: { name: "system", include: ["test/**/*.test.ts"] } },
    ],
  },
});
