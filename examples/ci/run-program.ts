import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Runs a program when its module is what Node was started with, and not when another module wants its exports. What goes
 * wrong is said on standard error, and the exit code is 2 then.
 */
export async function runProgram(
  module: string,
  program: (args: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const [, started = "", ...args] = process.argv;
  if (toRealPath(started) !== fileURLToPath(module)) return;
  try {
    await program(args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}

function toRealPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
