import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "test/**/*.test.ts",
      "clients/*/src/**/*.test.ts",
      "dashboard/src/**/*.test.ts",
    ],
    globalSetup: ["test/support/temporary-root.ts"],
    // By default a machine of two cores would run one file at a time, and much of a file is waiting.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // A test that waits for the world waits for an event; this is only the bound after which it has failed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
