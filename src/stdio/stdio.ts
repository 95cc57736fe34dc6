import {
  duration,
  flag,
  objectWithMethods,
  withDefault,
  type OptionFields,
  type WithDefaults,
} from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { assertKnownOptions } from "../options/known-names.ts";
import type { Readable, Writable } from "node:stream";
import { codeOf } from "../errors.ts";
import { anonymous, defaultView, type Caller, viewOptionFields } from "../surface/caller.ts";
import { announce, inspector, ownCommand } from "../mcp/announce.ts";
import { McpConnection } from "../mcp/mcp-connection.ts";
import type { AppRuntime, ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import { Scope } from "../spine/scope.ts";
import { FrameReader, FrameWriter } from "./frames.ts";
import { onProcessEnd } from "../links/on-process-end.ts";
import { withTimeout } from "../surface/system-clock.ts";
import { guardStdout } from "../links/stdout-guard.ts";

/** Options of {@link stdio}. */
export interface StdioOptions {
  /** The view that the host is served by. @default "default" */
  readonly surface?: string;
  /** The project that rules of views are asked about. @default none */
  readonly project?: string;
  /** The scopes that the local user is granted. @default none; the user is anonymous */
  readonly scopes?: readonly string[];
  /** The stream of requests. @default the process's standard input */
  readonly input?: Readable;
  /**
   * The stream of answers.
   *
   * @default the process's standard output, which is guarded: everything else that is written to it goes to standard error
   */
  readonly output?: Writable;
  /**
   * Whether the process ends with code 0 when the input does, or on SIGTERM or SIGINT; see decision 0005.
   *
   * @default `true` if the input is the process's own
   */
  readonly exit?: boolean;
  /**
   * Milliseconds that the host may leave the output unread until its watches stop: its subscriptions end, or resume when it reads
   * again.
   *
   * @default 30,000
   */
  readonly stallMs?: number;
}

const doing = "Serving over stdio";
/** Options of `stdio()`. */
export const stdioFields: OptionFields<StdioOptions> & WithDefaults<"stallMs"> = {
  ...viewOptionFields,
  input: objectWithMethods(["on", "resume"], "a Readable"),
  output: objectWithMethods(["on", "write"], "a Writable"),
  exit: flag,
  // Longer ones make a timer fire at once.
  stallMs: withDefault(duration(2 ** 31 - 1), 30_000),
};

/** Unread bytes that may pile up before the input itself is paused. */
const maxBacklogBytes = 4 * 1024 * 1024;

/**
 * Frames that are read in one turn of the event loop: fewer than may wait in the queues, so that a burst of quick calls of any size
 * is answered and not refused.
 */
const framesPerTurn = 256;

/** Milliseconds that requests have for their answers after the end of the input: of 1,500 in which everything is closed. */
const finishMs = 1000;

/** Dependencies of a {@link StdioConnection}. */
interface ConnectionDeps {
  readonly runtime: AppRuntime;
  readonly input: Readable;
  readonly output: Writable;
  readonly stallMs: number | undefined;
  readonly caller: Caller;
}

/**
 * Connects two streams with a gate. It takes frames only while the output is not full: further answers would pile up in memory. It
 * reads the input on, up to a bound: it would not see the end of a paused input, and the process would outlive its host.
 */
class StdioConnection {
  readonly gate: McpConnection;
  readonly writer: FrameWriter;
  /** Called when the output is gone. */
  onBroken: (() => void) | undefined;
  /** Called when all input is read. */
  #onRead: (() => void) | undefined;
  readonly #input: Readable;
  readonly #reader: FrameReader;
  #full = false;
  #framesOfTurn = 0;
  #turn: NodeJS.Immediate | undefined;

  constructor({ runtime, input, output, stallMs, caller }: ConnectionDeps) {
    this.#input = input;
    this.writer = new FrameWriter(output, {
      onBroken: () => this.onBroken?.(),
      onFull: () => this.#setFull(true),
      onDrain: () => this.#setFull(false),
    });
    this.gate = new McpConnection({
      runtime,
      send: (json) => this.writer.write(json),
      caller,
      ...(stallMs === undefined ? {} : { stallMs }),
    });
    this.#reader = new FrameReader({
      maxBytes: runtime.limits.maxBytes,
      onFrame: (text) => {
        this.#count();
        this.gate.receive(text);
      },
      onOversize: () => this.gate.refuse("too-large"),
      onBadEncoding: () => this.gate.refuse("not-utf8"),
    });
    input.on("data", this.#onData);
  }

  stopReading(): void {
    this.#input.off("data", this.#onData);
    clearImmediate(this.#turn);
    this.#reader.pause();
    this.#reader.end();
  }

  /** Reads the rest of the input, and resolves when every call has its answer. */
  async finish(): Promise<void> {
    if (this.#reader.backlog > 0) await new Promise<void>((resolve) => (this.#onRead = resolve));
    await this.gate.finish();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#reader.push(chunk);
    this.#update();
  };

  readonly #onTurn = (): void => {
    this.#turn = undefined;
    this.#framesOfTurn = 0;
    this.#update();
  };

  #setFull(full: boolean): void {
    this.#full = full;
    this.gate.setOutputFull(full);
    this.#update();
  }

  #count(): void {
    this.#framesOfTurn += 1;
    this.#turn ??= setImmediate(this.#onTurn);
    if (this.#framesOfTurn >= framesPerTurn) this.#reader.pause();
  }

  #update(): void {
    if (this.#full || this.#framesOfTurn >= framesPerTurn) this.#reader.pause();
    else this.#reader.resume();
    if (this.#reader.backlog === 0) this.#onRead?.();
    const heavy = this.#reader.backlog > maxBacklogBytes;
    if (heavy === this.#input.isPaused()) return;
    if (heavy) this.#input.pause();
    else this.#input.resume();
  }
}

/** Returns the caller over standard input and output: anonymous, maybe with a view and scopes. */
function toLocalCaller({ surface, project, scopes = [] }: StdioOptions): Caller {
  const isNamed = surface !== undefined || project !== undefined;
  if (!isNamed && scopes.length === 0) return anonymous;
  const view = Object.freeze({ surface: surface ?? defaultView, ...(project === undefined ? {} : { project }) });
  return Object.freeze({ ...anonymous, scopes: Object.freeze([...scopes]), ...(isNamed ? { view } : {}) });
}

/** Announces what is served. A host never connects by a terminal. */
function announceTo(input: Readable, runtime: AppRuntime, caller: Caller): void {
  const isTerminal = "isTTY" in input && input.isTTY === true;
  const command = ownCommand();
  const hint = command === undefined ? "" : `; look at it with: ${inspector} ${command}`;
  announce({ runtime, caller, served: `over stdio, waiting for an MCP host${hint}`, isTerminal });
}

function ownOutput(scope: Scope, options: StdioOptions): Writable {
  if (options.output !== undefined) return options.output;
  const guard = guardStdout();
  scope.add(() => guard.restore());
  return guard.output;
}

function open(app: ServableApp, options: StdioOptions & { readonly output: Writable }, scope: Scope): Serving {
  const caller = toLocalCaller(options);
  const { output } = options;
  const runtime = app.open();
  const closeRuntime = scope.add(() => runtime.close());
  if (options.surface !== undefined) runtime.assertView(options.surface, doing);
  const input = options.input ?? process.stdin;
  const connection = new StdioConnection({ runtime, input, output, stallMs: options.stallMs, caller });
  closeRuntime();
  // Last: a host that reads slowly may take all the time that there is.
  scope.add(() => connection.writer.close());
  scope.add(() => runtime.close());
  scope.add(() => connection.gate.close());
  scope.add(() => connection.stopReading());
  let tell: () => void = () => {};
  const closed = new Promise<void>((resolve) => (tell = resolve));
  const end = onProcessEnd({
    input,
    exit: options.exit ?? options.input === undefined,
    end: async (reason) => {
      // Requests that are unanswered after that get no answer.
      if (reason === "input-ended") await withTimeout(connection.finish(), finishMs, doing).catch(() => {});
      await scope.close().finally(tell);
    },
  });
  const onBroken = (): void => void end.stop("output-broken");
  connection.onBroken = onBroken;
  announceTo(input, runtime, caller);
  return { closed, close: () => end.stop("asked") };
}

/** Opens the socket of the live page. A server without it still serves agents. */
async function openPages(app: ServableApp, path: string, scope: Scope): Promise<void> {
  try {
    // A URL, because bundlers keep every file of a literal import, also in bundles that have no server.
    const { href } = new URL(`./inspector-socket${import.meta.url.slice(-3)}`, import.meta.url);
    // This package has the module.
    const { openInspectorSocket } = (await import(href)) as typeof import("./inspector-socket.ts");
    scope.add(openInspectorSocket(app, path));
  } catch (cause) {
    process.stderr.write(`surface-mcp: Cannot serve the live page: do not bundle it (${codeOf(cause)})\n`);
  }
}

async function start(app: ServableApp, options: StdioOptions): Promise<Serving> {
  const read = readOptions(options, stdioFields, doing);
  const scope = new Scope("the stdio server");
  try {
    // At once: prints of the app then go to standard error, and nothing has to be closed if the output is taken.
    const output = ownOutput(scope, read);
    const path = process.env["SURFACE_MCP_INSPECT"] ?? "";
    // Before the app opens, so that the page has the first request.
    if (path !== "") await openPages(app, path, scope);
    return open(app, { ...read, output }, scope);
  } catch (cause) {
    // The author needs the reason why the server could not start, not the failure of closing half of it.
    await scope.close().catch(() => {});
    throw cause;
  }
}

/**
 * Serves an app over the process's standard input and output: one JSON-RPC message a line, both eras of MCP. When the
 * input ends, subscriptions end, and requests have one second for their answers. Then, or on SIGTERM or SIGINT, running calls are
 * aborted, everything owned is closed and the process exits with code 0, two seconds after the input ended at the latest. A host
 * that no longer reads is an end, not a crash.
 *
 * @throws SurfaceError `INVALID_OPTION`, from `serve()` also for a view that does not exist.
 * @example
 * ```ts
 * await app.serve(stdio());
 * ```
 */
export function stdio(options: StdioOptions = {}): ServeTarget {
  assertKnownOptions(options, Object.keys(stdioFields), doing);
  return { serve: (app) => start(app, options) };
}
