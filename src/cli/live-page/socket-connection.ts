import type { Socket } from "node:net";
import { SurfaceError } from "../../errors.ts";
import type { PageSnapshot, PageUpdate } from "../../inspector/messages.ts";
import {
  socketVersion,
  type SocketAnswers,
  type SocketMessage,
  type SocketOperation,
} from "../../inspector/socket-messages.ts";
import { dialSocket } from "../../links/unix/open-unix-client.ts";
import { isJsonObject, parseJson } from "../../schema/json.ts";
import { FrameReader } from "../../stdio/frames.ts";
import { systemClock } from "../../surface/system-clock.ts";

/** Bytes of one message. The exposure of 20,000 entries in 50 views has about 30 MB. */
const maxMessageBytes = 128 * 1024 * 1024;

/** Milliseconds until the first snapshot, and until an answer: a process may listen and be stopped. */
const patienceMs = 10_000;

/** Receives the messages of a connection. */
export interface SocketEvents {
  /** Called at the start, and after updates that were not sent. */
  readonly snapshot: (snapshot: PageSnapshot) => void;
  readonly update: (update: PageUpdate) => void;
  /** Called once, also if there never was a snapshot. */
  readonly closed: () => void;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (cause: Error) => void;
  readonly stop: () => void;
}

/** A connection to the inspector of a server over stdio. Call {@link close} when done. */
export class SocketConnection {
  readonly #socket: Socket;
  readonly #path: string;
  readonly #events: SocketEvents;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isReady = false;
  #isOver = false;
  #stopTimer: () => void;
  #settle: { readonly resolve: () => void; readonly reject: (cause: Error) => void } | undefined;

  private constructor(socket: Socket, path: string, events: SocketEvents) {
    this.#socket = socket;
    this.#path = path;
    this.#events = events;
    const broken = (): void => this.#end(this.#toForeign());
    const reader = new FrameReader({
      maxBytes: maxMessageBytes,
      onFrame: (line) => this.#receive(line),
      onOversize: broken,
      onBadEncoding: broken,
    });
    this.#stopTimer = systemClock.after(patienceMs, () => this.#end(this.#toAway()));
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    // "close" follows.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#end(this.#isReady ? this.#toAway() : this.#toForeign()));
  }

  /** Connects, and waits for the first snapshot. @throws SurfaceError as `unixSocket()`. */
  static async open(path: string, events: SocketEvents): Promise<SocketConnection> {
    const connection = new SocketConnection(await dialSocket({ path }), path, events);
    await new Promise<void>((resolve, reject) => (connection.#settle = { resolve, reject }));
    return connection;
  }

  /** Sends a request. @throws SurfaceError `UNAVAILABLE` if the connection ends before the answer, `INTERNAL`. */
  request<TName extends SocketOperation>(operation: TName, given: object): Promise<SocketAnswers[TName]> {
    if (this.#isOver) return Promise.reject(this.#toAway());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      const stop = systemClock.after(patienceMs, () => this.#end(this.#toAway()));
      // The version of the messages says which type its answer has.
      this.#waiting.set(id, { resolve: (answer) => resolve(answer as SocketAnswers[TName]), reject, stop });
      this.#socket.write(`${JSON.stringify({ id, do: operation, with: given })}\n`);
    });
  }

  /** Callable twice. */
  close(): void {
    this.#end(this.#toAway());
  }

  #receive(line: string): void {
    if (this.#isOver) return;
    const value = parseJson(line);
    if (!isJsonObject(value)) return this.#end(this.#toForeign());
    // Its sender belongs to the same user. The version says which messages it writes.
    const message = value as unknown as SocketMessage;
    if ("snapshot" in message) return this.#receiveSnapshot(message);
    if (!this.#isReady) return this.#end(this.#toForeign());
    if ("update" in message) return this.#events.update(message.update);
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return this.#end(this.#toForeign());
    this.#waiting.delete(message.id);
    waiting.stop();
    if (message.isFault !== true) return waiting.resolve(message.answer);
    waiting.reject(new SurfaceError("INTERNAL", "Cannot show a part of the page: the log of the server has the cause"));
  }

  #receiveSnapshot({ version, snapshot }: Extract<SocketMessage, { readonly version: number }>): void {
    if (version !== socketVersion) {
      const remedy = "run the version of surface-mcp that the server has";
      const problem = `its server writes version ${version}, and this command reads version ${socketVersion}; ${remedy}`;
      return this.#end(new SurfaceError("PROTOCOL_MISMATCH", `Cannot read "${this.#path}": ${problem}`));
    }
    this.#isReady = true;
    this.#stopTimer();
    this.#events.snapshot(snapshot);
    this.#settle?.resolve();
  }

  #end(cause: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTimer();
    this.#socket.destroy();
    this.#events.closed();
    for (const { stop, reject } of this.#waiting.values()) {
      stop();
      reject(cause);
    }
    this.#settle?.reject(cause);
  }

  #toAway(): SurfaceError {
    return new SurfaceError("UNAVAILABLE", `Cannot read "${this.#path}": its server has ended or does not answer`);
  }

  #toForeign(): SurfaceError {
    const remedy = "name the path that SURFACE_MCP_INSPECT has for the server";
    return new SurfaceError("PROTOCOL_MISMATCH", `Cannot read "${this.#path}": no live page is behind it; ${remedy}`);
  }
}
