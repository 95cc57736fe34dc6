import { defineConfig } from "vitest/config";

/** Test files that need a process of their own. */
const isolated = [
  // They count the timers and listeners of the process.
  "test/links/stdio/child-process.test.ts",
  "test/surface/owner/watch-recent.test.ts",
  // It replaces a module before the first import.
  "test/cli/config-file-faults.test.ts",
];

/** Tests that take minutes by nature, for `npm run test:deep`. */
const deep = "test/**/*.deep.test.ts";

export default defineConfig({
  test: {
    pool: "forks",
    watch: false,
    // Upper bounds on a hang, not expectations of speed: a matrix test starts processes on a machine that may be busy.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 5_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "text", "json-summary"],
      reportsDirectory: "coverage",
      reportOnFailure: true,
    },
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...isolated, deep],
          // Loading the sources costs more than most files: each worker loads them once and runs file after file.
          isolate: false,
          setupFiles: ["test/setup/leave-no-mocks.ts"],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "isolated", include: isolated, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: "deep", include: [deep], sequence: { groupOrder: 2 } } },
    ],
  },
});
