import { duration, flag, having, withDefault, type OptionFields, type WithDefaults } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { assertKnownOptions } from "../options/known-names.ts";
import type { Readable, Writable } from "node:stream";
import type { Caller } from "../surface/caller.ts";
import { announce, countShown, inspector, ownCommand } from "../mcp/announce.ts";
import { Gate } from "../mcp/gate.ts";
import type { AppRuntime, ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import { Scope } from "../spine/scope.ts";
import { FrameReader, FrameWriter } from "./frames.ts";
import { viewFields } from "../surface/caller-options.ts";
import { toLocalCaller, type LocalCallerOptions } from "./local-caller.ts";
import { onProcessEnd } from "../links/on-process-end.ts";
import { guardStdout } from "../links/stdout-guard.ts";

/** What {@link stdio} may be told. */
export interface StdioOptions extends LocalCallerOptions {
  /** Where requests come from. Default: the process's standard input. */
  readonly input?: Readable;
  /**
   * Where answers go. Default: the process's standard output, which is guarded: from then on everything else that is
   * written to it goes to standard error.
   */
  readonly output?: Writable;
  /**
   * Whether the process ends with code 0 when the input does, or on SIGTERM or SIGINT. Default: `true` when the input
   * is the process's own; see decision 0005.
   */
  readonly exit?: boolean;
  /**
   * How long the host may leave the output unread, in milliseconds, until nothing is watched for it any more: its
   * subscriptions are ended, or resumed when it reads again. Default 30,000.
   */
  readonly stallMs?: number;
}

const doing = "Serving over stdio";
/** Options of `stdio()`. */
export const stdioFields: OptionFields<StdioOptions> & WithDefaults<"stallMs"> = {
  ...viewFields,
  input: having(["on", "resume"], "a Readable"),
  output: having(["on", "write"], "a Writable"),
  exit: flag,
  // Longer ones make a timer fire at once.
  stallMs: withDefault(duration(2 ** 31 - 1), 30_000),
};

/** How many unread bytes may pile up before the input itself is paused. */
const maxBacklogBytes = 4 * 1024 * 1024;

/**
 * How many frames are read in one turn of the event loop: fewer than may wait in the gate, so that a burst of calls that
 * are answered at once is answered and not refused, whatever its size.
 */
const framesPerTurn = 256;

/**
 * Takes frames only while the output is not full: what is read would be answered into memory. The input itself goes on
 * being read up to a bound: the end of a paused input would not be seen, and the process would outlive its host.
 */
class Flow {
  readonly #input: Readable;
  readonly #reader: FrameReader;
  readonly #gate: Gate;
  #full = false;
  #framesOfTurn = 0;
  #mostFrames = framesPerTurn;
  #turn: NodeJS.Immediate | undefined;

  constructor(input: Readable, reader: FrameReader, gate: Gate) {
    this.#input = input;
    this.#reader = reader;
    this.#gate = gate;
  }

  setFull(full: boolean): void {
    this.#full = full;
    this.#gate.setOutputFull(full);
    this.update();
  }

  /** A frame was read. */
  count(): void {
    this.#framesOfTurn += 1;
    this.#turn ??= setImmediate(this.#onTurn);
    if (this.#framesOfTurn >= this.#mostFrames) this.#reader.pause();
  }

  update(): void {
    if (this.#full || this.#framesOfTurn >= this.#mostFrames) this.#reader.pause();
    else this.#reader.resume();
    const heavy = this.#reader.backlog > maxBacklogBytes;
    if (heavy !== this.#input.isPaused()) {
      if (heavy) this.#input.pause();
      else this.#input.resume();
    }
  }

  /** Nothing follows, and there may be no further turn: what has come is read now. */
  readonly drain = (): void => {
    this.#mostFrames = Infinity;
    this.update();
  };

  stop(): void {
    clearImmediate(this.#turn);
    this.#reader.pause();
  }

  readonly #onTurn = (): void => {
    this.#turn = undefined;
    this.#framesOfTurn = 0;
    this.update();
  };
}

/** Tells the person at a terminal what is served, and how to look at it. A host never connects by a terminal. */
function announceTo(input: Readable, runtime: AppRuntime, caller: Caller): void {
  if (!("isTTY" in input) || input.isTTY !== true) return;
  const command = ownCommand();
  const hint = command === undefined ? "" : `; look at it with: ${inspector} ${command}`;
  announce(`${runtime.info.name}: ${countShown(runtime, caller)} over stdio, waiting for an MCP host${hint}`);
}

/** What is wired together. */
interface Ends {
  readonly runtime: AppRuntime;
  readonly input: Readable;
  readonly output: Writable;
  readonly stallMs: number | undefined;
  readonly caller: Caller;
}

/** Wires bytes to a gate and back. Returns what is to be closed, innermost last. */
function connect({ runtime, input, output, stallMs, caller }: Ends): Connected {
  let broken: () => void = () => {};
  const writer = new FrameWriter(output, {
    onBroken: () => broken(),
    onFull: () => flow.setFull(true),
    onDrain: () => flow.setFull(false),
  });
  const gate = new Gate({
    runtime,
    send: (json) => writer.write(json),
    caller,
    ...(stallMs === undefined ? {} : { stallMs }),
  });
  const reader = new FrameReader({
    maxBytes: runtime.limits.maxBytes,
    onFrame: (text) => {
      flow.count();
      gate.receive(text);
    },
    onOversize: () => gate.refuse("too-large"),
    onBadEncoding: () => gate.refuse("not-utf8"),
  });
  const flow = new Flow(input, reader, gate);
  const onData = (chunk: Buffer): void => {
    reader.push(chunk);
    flow.update();
  };
  input.on("data", onData);
  // Before whoever ends the process then.
  input.on("end", flow.drain);
  return {
    gate,
    writer,
    stopReading: () => {
      input.off("data", onData);
      input.off("end", flow.drain);
      flow.stop();
      reader.end();
    },
    onBroken: (fn) => (broken = fn),
  };
}

interface Connected {
  readonly gate: Gate;
  readonly writer: { close(): Promise<void> };
  stopReading(): void;
  onBroken(fn: () => void): void;
}

function ownOutput(scope: Scope, options: StdioOptions): Writable {
  if (options.output !== undefined) return options.output;
  const guard = guardStdout();
  scope.add(() => guard.restore());
  return guard.output;
}

function open(app: ServableApp, options: StdioOptions, scope: Scope): Serving {
  const caller = toLocalCaller(options);
  // Before the app, which would have to be closed again where the output is taken; and what it prints goes aside.
  const output = ownOutput(scope, options);
  const runtime = app.open();
  scope.add(() => runtime.close());
  if (options.surface !== undefined) runtime.assertView(options.surface, doing);
  const input = options.input ?? process.stdin;
  const connected = connect({ runtime, input, output, stallMs: options.stallMs, caller });
  scope.add(() => connected.writer.close());
  scope.add(() => connected.gate.close());
  scope.add(() => connected.stopReading());
  let tell: () => void = () => {};
  const closed = new Promise<void>((resolve) => (tell = resolve));
  const end = onProcessEnd({
    input,
    exit: options.exit ?? options.input === undefined,
    end: () => scope.close().finally(tell),
  });
  connected.onBroken(() => void end.stop("output-broken"));
  announceTo(input, runtime, caller);
  return { closed, close: () => end.stop("asked") };
}

async function start(app: ServableApp, options: StdioOptions): Promise<Serving> {
  const read = readOptions(options, stdioFields, doing);
  const scope = new Scope("the stdio server");
  try {
    return open(app, read, scope);
  } catch (cause) {
    // Why it could not start is what its author has to hear, not what closing half of it came to.
    await scope.close().catch(() => {});
    throw cause;
  }
}

/**
 * Serves an app over the process's standard input and output: one JSON-RPC message a line, both eras of MCP. When the
 * input ends, or on SIGTERM or SIGINT, running calls are aborted, everything owned is closed and the process exits with
 * code 0 within two seconds. A host that no longer reads is an end, not a crash.
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
