import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * Files that need a process for themselves: module mocks, counts of the listeners and resources of the process, its memory, and
 * PGlite, whose 700 MB stay until the process ends.
 */
const needsOwnProcess =
  /vi\.mock\(|countTimers|getActiveResourcesInfo|process\.listenerCount|memoryUsage|tracker\/server\.ts/;
/** Files that count fake timers. They share processes with each other, and not with files that may leave a timer behind. */
const countsTimers = /getTimerCount/;
const root = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
const isolated = files.filter(({ text }) => needsOwnProcess.test(text)).map(({ path }) => path);
const counting = files
  .filter(({ path, text }) => countsTimers.test(text) && !isolated.includes(path))
  .map(({ path }) => path);
const isDeep = (path: string): boolean => path.endsWith(".deep.test.ts");

/** Tests that take minutes by nature, for `npm run test:deep`. */
const deep = "test/**/*.deep.test.ts";

export default defineConfig({
  test: {
    pool: "forks",
    // Many tests wait for processes, deadlines or ends of sockets: twice as many workers use the cores meanwhile.
    maxWorkers: Math.ceil(availableParallelism() * 2),
    watch: false,
    // Upper bounds on a hang, not expectations of speed: a matrix test starts processes on a machine that may be busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    teardownTimeout: 5_000,
    // The runner waits for no output, and fails the run if a file ends while some is on its way to it.
    disableConsoleIntercept: true,
    // A test that fails on a busy machine runs once more, and the checks name it. A property that found a counterexample does not:
    // the next run would look at other examples.
    retry: { count: 1, condition: /^(?!Property failed)/ },
    setupFiles: ["test/setup/leave-nothing.ts"],
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
          exclude: [...isolated, ...counting, deep],
          // Loading the sources costs more than most files: each worker loads them once and runs file after file.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "counting", include: counting, isolate: false, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: { name: "isolated", include: isolated.filter((path) => !isDeep(path)), sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: "deep", include: [deep], exclude: isolated, isolate: false, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: { name: "deep-isolated", include: isolated.filter(isDeep), sequence: { groupOrder: 2 } },
      },
    ],
  },
});
