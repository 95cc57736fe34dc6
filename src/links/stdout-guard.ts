import { Writable } from "node:stream";
import { SurfaceError } from "../errors.ts";

/** A guarded standard output. */
export interface StdoutGuard {
  /** The only way to file descriptor 1. Owned by the guard: never end it, stop writing before `restore()`. */
  readonly output: Writable;
  /** Gives `process.stdout` back. May be called twice. */
  restore(): void;
}

/**
 * What one chunk goes through inside Node, below the queue that a stream keeps. `_write` is how a Writable is made, a
 * documented contract; `process.stdout` is one in every form it takes: a socket, a terminal, a file.
 */
type RawWrite = (chunk: string | Uint8Array, encoding: BufferEncoding, done: (error?: Error | null) => void) => void;

/** Enough for a turn full of large answers without the stop and go of a full stream, little enough to hold unread. */
const HIGH_WATER_MARK = 1024 * 1024;

/** Set on the stream, so that a second copy of this package in the process sees it too. */
const kGuarded: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.stdout-guard");

/**
 * Keeps standard output for the protocol: from here on whatever the process writes to `process.stdout`, by `console`
 * or by hand, goes to standard error, also through references taken before. Only `output` reaches the descriptor. It
 * writes asynchronously where Node does (pipes and sockets, except on Windows) and takes up to 1 MiB before it
 * asks its writer to wait.
 *
 * Not covered: `fs.writeSync(1, …)` and child processes that inherit descriptor 1, since neither passes the stream.
 * One guard a process: a second one throws `CONTRADICTION` until the first is restored.
 */
export function guardStdout(): StdoutGuard {
  const stdout: NodeJS.WriteStream & { [kGuarded]?: true } = process.stdout;
  if (stdout[kGuarded]) {
    throw new SurfaceError("CONTRADICTION", "Cannot serve over stdio: stdio is already being served by this process");
  }
  // oxlint-disable-next-line no-underscore-dangle -- the name that Node gives to the hook of stream implementers
  const write: RawWrite = stdout._write.bind(stdout);
  const undo = intercept(stdout);
  process.stderr.on("error", ignore);
  return {
    // Strings arrive at `write` as bytes: for a file Node takes a string to the start of it, over what is there.
    output: new Writable({ highWaterMark: HIGH_WATER_MARK, write }),
    restore: () => {
      undo();
      process.stderr.off("error", ignore);
    },
  };
}

/**
 * Shadows the methods below `write()` and `end()` on the stream itself. Replacing `write()` would miss the modules
 * that bound it earlier, and everything that a full pipe still holds back.
 */
function intercept(stdout: NodeJS.WriteStream): () => void {
  const undo = [
    shadow(stdout, kGuarded, true),
    shadow(stdout, "_write", writeToStderr),
    // Without it a stream sends what it held back through _write, piece by piece.
    shadow(stdout, "_writev", null),
    // process.stdout.end() would shut a socket down under the protocol.
    shadow(stdout, "_final", (done: () => void) => done()),
  ];
  return () => {
    for (const restore of undo.splice(0)) restore();
  };
}

/** Puts an own property over an inherited one; the result takes it away again. */
function shadow(target: object, key: PropertyKey, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, key);
  Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable: false });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, key);
    else Object.defineProperty(target, key, before);
  };
}

/** The done callback waits for standard error, so that a flood of text feels the back pressure of where it goes. */
const writeToStderr: RawWrite = (chunk, encoding, done) => {
  process.stderr.write(chunk, encoding, () => done());
};

/** A host may close standard error; text for people that is lost with it must not end the process. */
function ignore(): void {}
