import type { Readable } from "node:stream";
import { rpcCodes } from "../../mcp/protocol.ts";
import { parseObject } from "../../schema/json.ts";
import { FrameReader } from "../../stdio/frames.ts";
import type { Front } from "./front.ts";
import type { Generation } from "./generation.ts";
import { isReplayedId, SessionState } from "./session-state.ts";

/** Bytes of the longest message of the host. */
const maxMessageBytes = 64 * 1024 * 1024;

/** The host of `dev --stdio`: its messages go to the present generation, and wait until there is one. */
export class StdioFront implements Front {
  readonly #write: (text: string) => void;
  readonly #state = new SessionState();
  /** The generation that answers each open request. */
  readonly #open = new Map<unknown, Generation>();
  /** Generations that run, also replaced ones: an answer of the user belongs to the one that asked. */
  readonly #running = new Set<Generation>();
  #waiting: string[] = [];
  #current: Generation | undefined;

  constructor(input: Readable, write: (text: string) => void) {
    this.#write = write;
    const reader = new FrameReader({
      maxBytes: maxMessageBytes,
      onFrame: (text) => this.#receive(text),
      // The app refuses a text that is no message.
      onOversize: () => this.#receive("{"),
      onBadEncoding: () => this.#receive("{"),
    });
    input.on("data", (chunk: Buffer) => reader.push(chunk));
  }

  readonly served = "over stdio";

  async swap(next: Generation): Promise<void> {
    for (const text of this.#state.replay()) next.send(text);
    this.#running.add(next);
    this.#current = next;
    for (const text of this.#waiting.splice(0)) this.#receive(text);
  }

  frame(text: string): void {
    const message = parseObject(text);
    if (message["method"] === undefined && isReplayedId(message["id"])) return;
    if (message["method"] === undefined) this.#open.delete(message["id"]);
    this.#write(`${text}\n`);
  }

  ended(generation: Generation): void {
    this.#running.delete(generation);
    if (this.#current === generation) this.#current = undefined;
    for (const [id, by] of this.#open) {
      if (by !== generation) continue;
      this.#open.delete(id);
      const error = { code: rpcCodes.internal, message: "Internal error: the app ended before it had answered" };
      this.#write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
    }
  }

  async close(): Promise<void> {}

  #receive(text: string): void {
    const current = this.#current;
    if (current === undefined) return void this.#waiting.push(text);
    const message = parseObject(text);
    this.#state.note(message);
    const isRequest = message["method"] !== undefined && message["id"] !== undefined;
    if (isRequest) this.#open.set(message["id"], current);
    for (const generation of isRequest ? [current] : this.#running) generation.send(text);
  }
}
