import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** What a command line of this example says. */
export interface Options {
  /** Absolute path of the pipeline's file. */
  readonly pipeline: string;
  readonly help: boolean;
}

const DEFAULT_PIPELINE = fileURLToPath(new URL("./pipeline.json", import.meta.url));

/**
 * Reads a command line. A relative path starts where the person stands, which npm says in `INIT_CWD`.
 *
 * @throws TypeError for an unknown flag, an argument without a flag, or a flag without its value.
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: { pipeline: { type: "string" }, help: { type: "boolean", short: "h", default: false } },
  });
  const from = process.env["INIT_CWD"] ?? process.cwd();
  const pipeline = values.pipeline === undefined ? DEFAULT_PIPELINE : resolve(from, values.pipeline);
  return { pipeline, help: values.help };
}
