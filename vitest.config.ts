import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    watch: false,
    // Upper bounds on a hang, not expectations of speed: a matrix test starts processes on a machine that may be busy.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "text", "json-summary"],
      reportsDirectory: "coverage",
      reportOnFailure: true,
    },
  },
});
