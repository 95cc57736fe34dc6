import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** What the command line of `npm run demo:ci` says. */
export interface Options {
  /** Absolute path of the pipeline's file. */
  readonly pipeline: string;
  /** Absolute path of the directory that keeps the state; left out for a temporary one. */
  readonly state: string | undefined;
  /** Whether the coordinator is killed in the middle of the run. */
  readonly kill: boolean;
  /** Whether a run goes on when a node is red. */
  readonly keepGoing: boolean;
  /** Where agents are served over HTTP; left out where the agent starts its face over stdio. */
  readonly http: HttpWish | undefined;
  readonly help: boolean;
}

/** How agents are served over HTTP. */
export interface HttpWish {
  /** 0: any that is free. */
  readonly port: number;
  /** Whether nobody drives anything, and it is only served until it is told to end. */
  readonly hold: boolean;
  /** Whether agents come by views of their own, and it is shown who sees what. */
  readonly views: boolean;
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

/** What the command line of a face says that is served over HTTP. */
export interface HttpFaceOptions extends CoordinatorOptions {
  readonly port: number;
}

const DEFAULT_PIPELINE = fileURLToPath(new URL("./pipeline.json", import.meta.url));
/** Where the run is not what is looked at. */
const SHORT_PIPELINE = fileURLToPath(new URL("./pipelines/hello.json", import.meta.url));

const coordinatorFlags = {
  pipeline: { type: "string" },
  state: { type: "string" },
  tied: { type: "boolean", default: false },
  temporary: { type: "boolean", default: false },
} as const;
const MOST_PORT = 65_535;

/**
 * Reads the command line of `npm run demo:ci`. A relative path starts where the person stands, which npm says in `INIT_CWD`.
 *
 * @throws TypeError for an unknown flag, an argument without a flag, a flag without its value, or one that needs another.
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pipeline: { type: "string" },
      state: { type: "string" },
      "no-kill": { type: "boolean", default: false },
      "keep-going": { type: "boolean", default: false },
      http: { type: "boolean", default: false },
      hold: { type: "boolean", default: false },
      views: { type: "boolean", default: false },
      port: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const state = values.state === undefined ? undefined : fromHere(values.state);
  const { "no-kill": peaceful, "keep-going": keepGoing, help } = values;
  const pipeline = toPipeline(values.pipeline, values.views ? SHORT_PIPELINE : DEFAULT_PIPELINE);
  return { pipeline, state, kill: !peaceful, keepGoing, http: toHttpWish(values), help };
}

interface HttpFlags {
  readonly http: boolean;
  readonly hold: boolean;
  readonly views: boolean;
  readonly port?: string | undefined;
}

function toHttpWish({ http, hold, views, port }: HttpFlags): HttpWish | undefined {
  if (hold && views) throw new TypeError("Option '--hold' does not go with '--views'");
  if (http) return { port: toPort(port), hold, views };
  if (hold || port !== undefined) throw new TypeError("Options '--hold' and '--port <value>' need '--http'");
  if (views) throw new TypeError("Option '--views' needs '--http'");
  return undefined;
}

/**
 * Reads the command line of a coordinator, or of a face.
 *
 * @throws TypeError as {@link readOptions} does, and without `--state`.
 */
export function readCoordinatorOptions(args: readonly string[]): CoordinatorOptions {
  const { values } = parseArgs({ args: [...args], options: coordinatorFlags });
  const { tied, temporary } = values;
  return { pipeline: toPipeline(values.pipeline), state: toState(values.state), tied, temporary };
}

/**
 * Reads the command line of a face that is served over HTTP.
 *
 * @throws TypeError as {@link readCoordinatorOptions} does, and for a port that is none.
 */
export function readHttpFaceOptions(args: readonly string[]): HttpFaceOptions {
  const { values } = parseArgs({ args: [...args], options: { ...coordinatorFlags, port: { type: "string" } } });
  const { tied, temporary } = values;
  const port = toPort(values.port);
  return { pipeline: toPipeline(values.pipeline), state: toState(values.state), tied, temporary, port };
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

function toPipeline(path: string | undefined, otherwise = DEFAULT_PIPELINE): string {
  return path === undefined ? otherwise : fromHere(path);
}

function toState(path: string | undefined): string {
  if (path === undefined) throw new TypeError("Option '--state <value>' is missing, and says where the state is kept");
  return fromHere(path);
}

function toPort(text = "0"): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  if (port <= MOST_PORT) return port;
  throw new TypeError(`Option '--port <value>' is '${text}', it must be 0 to ${MOST_PORT}`);
}

function fromHere(path: string): string {
  return resolve(process.env["INIT_CWD"] ?? process.cwd(), path);
}
