import { Writable } from "node:stream";
import { SurfaceError } from "../errors.ts";

/** A guarded standard output. */
export interface StdoutGuard {
  /** The only way to file descriptor 1. Owned by the guard: never end it, stop writing before `restore()`. */
  readonly output: Writable;
  /** Gives `process.stdout` back. May be called twice. */
  restore(): void;
}

/** The `_write` of a Writable, below the queue of the stream: a documented contract of Node. `process.stdout` is always a Writable. */
type RawWrite = (chunk: string | Uint8Array, encoding: BufferEncoding, done: (error?: Error | null) => void) => void;

/** Bytes of unread output at which the writer has to wait: room for the large answers of one turn. */
const highWaterMark = 1024 * 1024;

/** Set on the stream, so that a second copy of this package in the process sees it too. */
const kGuarded: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.stdout-guard");

/**
 * Keeps standard output for the protocol. Until it is restored, all writes to `process.stdout` go to standard error, also through `console`
 * and earlier references; `fs.writeSync(1, …)` and child processes do not use the stream. Only `output` reaches the descriptor,
 * asynchronously where Node does, and takes up to 1 MiB before its writer has to wait.
 * @throws SurfaceError `CONTRADICTION` while another guard of the process is not restored.
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
    // Strings arrive at `write` as bytes: Node would write a string to the start of a file, over its content.
    output: new Writable({ highWaterMark, write }),
    restore: () => {
      undo();
      process.stderr.off("error", ignore);
    },
  };
}

/** Shadows the methods below `write()`: replacing that would miss modules that bound it earlier, and output that a full pipe holds back. */
function intercept(stdout: NodeJS.WriteStream): () => void {
  const undo = [
    shadow(stdout, kGuarded, true),
    shadow(stdout, "_write", writeToStderr),
    // Without it a stream sends its held back output through _write, piece by piece.
    shadow(stdout, "_writev", null),
    // process.stdout.end() would shut a socket down under the protocol.
    shadow(stdout, "_final", (done: () => void) => done()),
  ];
  return () => {
    for (const restore of undo.splice(0)) restore();
  };
}

/** Shadows an inherited property. Returns a function that undoes it. */
function shadow(target: object, key: PropertyKey, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, key);
  Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable: false });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, key);
    else Object.defineProperty(target, key, before);
  };
}

/** Calls back after standard error has taken the chunk, so that its back pressure reaches the writer. */
const writeToStderr: RawWrite = (chunk, encoding, done) => {
  process.stderr.write(chunk, encoding, () => done());
};

/** Ignores an error of standard error: a host may close it, and lost log text must not end the process. */
function ignore(): void {}
