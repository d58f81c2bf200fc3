import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/temporary-root.ts"],
    // A test that waits for the world waits for an event; this is only the bound after which it has failed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
