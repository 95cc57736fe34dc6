import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CliEnvironment } from "../../src/cli/terminal.ts";
import { runCli, type ExitCode } from "../../src/cli/run-cli.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";

/** What one command line came to. */
export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** A home and a working folder of a test's own, and a command line in them. */
export interface Bench {
  readonly home: string;
  readonly cwd: string;
  run(...args: readonly string[]): Promise<Ran>;
  /** The text of a file below the home; `undefined` where there is none. */
  read(...path: readonly string[]): Promise<string | undefined>;
}

/** Makes one; what is made in it goes with the test. */
export async function bench(more: Partial<CliEnvironment> = {}): Promise<Bench> {
  const home = await mkdtemp(join(tmpdir(), "surface-mcp-cli-"));
  atEndOfTest(() => rm(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  return {
    home,
    cwd,
    async run(...args) {
      let out = "";
      let err = "";
      const code = await runCli(args, {
        home,
        cwd,
        platform: "linux",
        env: {},
        isTerminal: false,
        readInput: async () => "",
        write: (text) => void (out += text),
        complain: (text) => void (err += text),
        ...more,
      });
      return { code, out, err };
    },
    async read(...path) {
      const at = join(home, ...path);
      const there = await stat(at).catch(() => undefined);
      return there === undefined ? undefined : readFile(at, "utf8");
    },
  };
}
