import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** What the command line of `npm start` says. */
export interface Options {
  /** Absolute path of the pipeline's file. */
  readonly pipeline: string;
  /** Absolute path of the directory that keeps the state; left out for a temporary one. */
  readonly state: string | undefined;
  /** Whether the coordinator is killed in the middle of the run. */
  readonly kill: boolean;
  /** Whether a run goes on when a node is red. */
  readonly keepGoing: boolean;
  readonly help: boolean;
}

/** What the command line of a coordinator says, and that of a face which may have to start one. */
export interface CoordinatorOptions {
  readonly pipeline: string;
  readonly state: string;
  /** Whether it ends with its standard input; one that a face has started, with that face. */
  readonly tied: boolean;
  /** Whether its end takes the state along. */
  readonly temporary: boolean;
}

const DEFAULT_PIPELINE = fileURLToPath(new URL("./pipeline.json", import.meta.url));

/**
 * Reads the command line of `npm start`. A relative path starts where the person stands, which npm says in `INIT_CWD`.
 *
 * @throws TypeError for an unknown flag, an argument without a flag, or a flag without its value.
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pipeline: { type: "string" },
      state: { type: "string" },
      "no-kill": { type: "boolean", default: false },
      "keep-going": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const state = values.state === undefined ? undefined : fromHere(values.state);
  const { "no-kill": peaceful, "keep-going": keepGoing, help } = values;
  return { pipeline: toPipeline(values.pipeline), state, kill: !peaceful, keepGoing, help };
}

/**
 * Reads the command line of a coordinator, or of a face.
 *
 * @throws TypeError as {@link readOptions} does, and without `--state`.
 */
export function readCoordinatorOptions(args: readonly string[]): CoordinatorOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pipeline: { type: "string" },
      state: { type: "string" },
      tied: { type: "boolean", default: false },
      temporary: { type: "boolean", default: false },
    },
  });
  const { tied, temporary } = values;
  return { pipeline: toPipeline(values.pipeline), state: toState(values.state), tied, temporary };
}

/**
 * Reads the command line of who only looks on: the state directory of the coordinator.
 *
 * @throws TypeError as {@link readOptions} does, and without `--state`.
 */
export function readViewOptions(args: readonly string[]): { readonly state: string } {
  const { values } = parseArgs({ args: [...args], options: { state: { type: "string" } } });
  return { state: toState(values.state) };
}

function toPipeline(path: string | undefined): string {
  return path === undefined ? DEFAULT_PIPELINE : fromHere(path);
}

function toState(path: string | undefined): string {
  if (path === undefined) throw new TypeError("Option '--state <value>' is missing, and says where the state is kept");
  return fromHere(path);
}

function fromHere(path: string): string {
  return resolve(process.env["INIT_CWD"] ?? process.cwd(), path);
}
