import { createServer, type Server, type Socket } from "node:net";
import { resolve } from "node:path";
import { Inspector } from "../inspector/inspector.ts";
import { cancelFields, entryFields, historyFields, noFields, readPageFields } from "../inspector/page-requests.ts";
import { socketVersion, type SocketOperation } from "../inspector/socket-messages.ts";
import { assertSocketPath } from "../links/link-options.ts";
import { toListenError } from "../links/listening.ts";
import { listenPrivately } from "../links/unix/open-unix-listener.ts";
import { quoted } from "../mcp/announce.ts";
import { kInspected } from "../mcp/inspected-app.ts";
import type { ServableApp } from "../mcp/servable-app.ts";
import type { OptionFields } from "../options/option.ts";
import { isJsonObject, parseJson } from "../schema/json.ts";
import { escapeLogLines } from "../schema/visible-text.ts";
import { Scope } from "../spine/scope.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { FrameReader } from "./frames.ts";

/** Open connections. Further ones are cut. */
const maxConnections = 16;

/** Bytes of one request. Its texts have at most 2,048 characters. */
const maxRequestBytes = 32 * 1024;

/** Returns the function that runs a request; `undefined` for malformed fields. */
type Operation = (inspector: Inspector, given: unknown) => (() => unknown) | undefined;

function operation<TFields>(
  fields: OptionFields<TFields>,
  run: (inspector: Inspector, given: TFields) => unknown,
): Operation {
  return (inspector, given) => {
    const read = readPageFields(given, fields);
    return read === undefined ? undefined : () => run(inspector, read);
  };
}

const operations: ReadonlyMap<unknown, Operation> = new Map<SocketOperation, Operation>([
  ["history", operation(historyFields, (inspector, filter) => inspector.history(filter))],
  ["exposure", operation(noFields, (inspector) => inspector.exposure())],
  ["entry", operation(entryFields, (inspector, { id, kind }) => inspector.entry(id, kind))],
  ["cancel", operation(cancelFields, (inspector, { call }) => inspector.cancel(call))],
]);

/** A request that is ready to run. */
interface ReadRequest {
  readonly id: number;
  readonly run: () => unknown;
}

function readRequest(line: string, inspector: Inspector): ReadRequest | undefined {
  const value = parseJson(line);
  if (!isJsonObject(value) || !Number.isSafeInteger(value["id"])) return undefined;
  const run = operations.get(value["do"])?.(inspector, value["with"]);
  return run === undefined ? undefined : { id: Number(value["id"]), run };
}

/**
 * A connected page. While it does not read, it gets no updates and its requests wait: at most one snapshot and one answer are in memory. A
 * malformed line ends the connection.
 */
class SocketPage {
  readonly #socket: Socket;
  readonly #inspector: Inspector;
  readonly #report: FaultReporter;
  readonly #reader: FrameReader;
  /** Whether it has missed an update. */
  #isBehind = false;

  constructor(socket: Socket, inspector: Inspector, report: FaultReporter) {
    this.#socket = socket;
    this.#inspector = inspector;
    this.#report = report;
    const end = (): void => void socket.destroy();
    this.#reader = new FrameReader({
      maxBytes: maxRequestBytes,
      onFrame: (line) => this.#receive(line),
      onOversize: end,
      onBadEncoding: end,
    });
    socket.on("data", (chunk: Buffer) => this.#reader.push(chunk));
    socket.on("drain", () => this.#drained());
    // A broken connection has ended. "close" follows.
    socket.on("error", end);
    socket.on(
      "close",
      inspector.subscribe((json) => this.#update(json)),
    );
    this.#writeSnapshot();
  }

  #write(line: string): void {
    this.#socket.write(`${line}\n`);
    if (!this.#socket.writableNeedDrain) return;
    this.#reader.pause();
    this.#socket.pause();
  }

  #writeSnapshot(): void {
    try {
      this.#write(JSON.stringify({ version: socketVersion, snapshot: this.#inspector.snapshot() }));
    } catch (cause) {
      internalError(cause, "the live page", this.#report);
      this.#socket.destroy();
    }
  }

  #update(json: string): void {
    if (this.#socket.writableNeedDrain) this.#isBehind = true;
    else this.#write(`{"update":${json}}`);
  }

  #drained(): void {
    if (this.#isBehind) {
      this.#isBehind = false;
      this.#writeSnapshot();
    }
    if (this.#socket.writableNeedDrain) return;
    this.#socket.resume();
    this.#reader.resume();
  }

  #receive(line: string): void {
    if (this.#socket.destroyed) return;
    const request = readRequest(line, this.#inspector);
    if (request === undefined) return void this.#socket.destroy();
    this.#write(this.#answer(request));
  }

  #answer({ id, run }: ReadRequest): string {
    try {
      return JSON.stringify({ id, answer: run() });
    } catch (cause) {
      internalError(cause, "the live page", this.#report);
      return JSON.stringify({ id, isFault: true });
    }
  }
}

function say(text: string): void {
  process.stderr.write(`${escapeLogLines(`surface-mcp: ${text}`)}\n`);
}

function closeServer(server: Server, sockets: Iterable<Socket>): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  for (const socket of sockets) socket.destroy();
  return closed;
}

/** Never rejects: a server without its page still serves agents. */
async function listen(server: Server, given: string, scope: Scope): Promise<void> {
  const path = resolve(given);
  try {
    assertSocketPath(path);
    await listenPrivately(server, { path }, scope);
    say(`to see the live page, run: npx surface-mcp inspect --web ${quoted(path)}`);
  } catch (cause) {
    await scope.close();
    say(`Cannot serve the live page by SURFACE_MCP_INSPECT: ${toListenError(path, cause).message}`);
  }
}

/**
 * Opens an inspector of an app, and then a socket of this user alone for its pages. Writes the command for a page, or the problem with the
 * socket, to standard error. Returns the function that closes both.
 */
export function openInspectorSocket(app: ServableApp, path: string): () => Promise<void> {
  const inspected = app[kInspected];
  if (inspected === undefined) {
    say("Cannot serve the live page by SURFACE_MCP_INSPECT: its app must be made by mcp()");
    return async () => {};
  }
  const { report } = inspected.parts;
  const scope = new Scope("the socket of the live page");
  const inspector = new Inspector(inspected, { report });
  scope.add(() => inspector.close());
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    return new SocketPage(socket, inspector, report);
  });
  server.maxConnections = maxConnections;
  scope.add(() => closeServer(server, sockets));
  const opened = listen(server, path, scope);
  return () => opened.then(() => scope.close());
}
