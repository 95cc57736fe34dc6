import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { modernLine } from "../fixtures/envelope.ts";
import type { Asked } from "./history.ts";
import { now } from "./now.ts";
import { readProcess, type ProcessFigures } from "./read-process.ts";
import { TextTail } from "./text-tail.ts";
import { toAnswer } from "./to-answer.ts";

/** A message, as JSON gives it. */
export type Message = Readonly<Record<string, unknown>>;

/** What is asked, before it is. */
export interface Question extends Omit<Asked, "at" | "answers"> {
  readonly method: string;
  readonly params: object;
}

/** A bound on a hang: who waits longer counts as not answered. */
const hangMs = 20_000;

const ownNotices: ReadonlySet<unknown> = new Set([
  "notifications/resources/updated",
  "notifications/subscriptions/acknowledged",
]);

/** The id of the subscription that a notice belongs to. */
function subscriptionOf({ params }: Message): unknown {
  // A notice's params are an object, or left out.
  const { _meta: meta } = (params ?? {}) as { _meta?: Message };
  return meta?.["io.modelcontextprotocol/subscriptionId"];
}

/**
 * The face in a process of its own, and the pipe to it, which the load and an SDK client share, each with ids of
 * its own. Every line that comes is judged. Whoever starts it stops it.
 */
export class McpServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #said: TextTail;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Map<string, () => void>();
  /** Requests of the SDK client that are not answered yet. */
  readonly #sdkOpen = new Set<unknown>();
  /** Subscriptions that were cancelled, and whose cancellation has certainly been read. */
  readonly #cancelled = new Set<unknown>();
  #byId = new Map<string, Asked>();
  #asked: Asked[] = [];
  #strays: string[] = [];
  #fences = 0;
  /** Given every message that is not an answer to the load. */
  onMessage: (message: Message) => void = () => {};
  /** Told when the process is gone. */
  onEnd: () => void = () => {};

  constructor(script: string, args: readonly string[]) {
    this.#child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    this.#said = new TextTail(this.#child.stderr);
    this.#exited = once(this.#child, "exit");
    this.#child.stdin.on("error", () => this.#strays.push("the face takes no more input"));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#hear(line));
    void this.#exited.then(() => this.#giveUp());
  }

  /** Whether it is still there. */
  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of what it has said on standard error. */
  get said(): string {
    return this.#said.text;
  }

  /** What it takes of the machine. */
  figures(): ProcessFigures {
    return readProcess(this.#child.pid ?? 0);
  }

  /** Asks; resolves with what was asked, once that is answered or will not be any more. */
  async ask({ method, params, ...question }: Question): Promise<Asked> {
    const asked: Asked = { ...question, at: now(), answers: [] };
    this.#asked.push(asked);
    this.#byId.set(asked.id, asked);
    let timer: NodeJS.Timeout | undefined;
    const settled = new Promise<void>((resolve) => {
      if (!this.isAlive) return resolve();
      this.#waiting.set(asked.id, resolve);
      timer = setTimeout(resolve, hangMs);
    });
    this.#child.stdin.write(`${modernLine(asked.id, method, params)}\n`);
    await settled;
    clearTimeout(timer);
    return asked;
  }

  /** Sends what the SDK client says. */
  send(message: Message): void {
    const { id, method, params } = message;
    if (id !== undefined) this.#sdkOpen.add(id);
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    // Its params name what is cancelled.
    if (method === "notifications/cancelled") void this.#fence((params as { requestId: unknown }).requestId);
  }

  /** All that was asked since this was last taken, and all that came and should not have. */
  take(): { readonly asked: readonly Asked[]; readonly strays: readonly string[] } {
    const taken = { asked: this.#asked, strays: this.#strays };
    // One that is answered late, or twice, is known for one cycle more.
    this.#byId = new Map(this.#asked.map((asked) => [asked.id, asked]));
    this.#asked = [];
    this.#strays = [];
    return taken;
  }

  /** Ends its input; resolves with the code that it ends with. */
  async stop(): Promise<number | null> {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), hangMs);
    await this.#exited;
    clearTimeout(timer);
    return this.#child.exitCode;
  }

  #giveUp(): void {
    for (const resolve of this.#waiting.values()) resolve();
    this.onEnd();
  }

  /** What follows the answer to something that was asked after a cancellation was sent after that was read. */
  async #fence(subscription: unknown): Promise<void> {
    // Ended by the client, and so answered no more.
    this.#sdkOpen.delete(subscription);
    this.#fences += 1;
    const id = `fence${this.#fences}-${String(subscription)}`;
    await this.ask({ id, sort: "read", what: "tools/list", deadlineMs: hangMs, method: "tools/list", params: {} });
    this.#cancelled.add(subscription);
  }

  #hear(line: string): void {
    let message: Message;
    try {
      // Whatever it is, it is looked at below.
      message = JSON.parse(line) as Message;
    } catch {
      this.#strays.push(line);
      return;
    }
    if (message["jsonrpc"] !== "2.0" || !this.#take(message)) this.#strays.push(line);
  }

  /** Says whether it is one that may come. */
  #take(message: Message): boolean {
    const { id, method } = message;
    if (typeof id === "string" && !this.#sdkOpen.has(id)) return this.#answer(id, message);
    const isMine = id === undefined ? ownNotices.has(method) : this.#sdkOpen.delete(id);
    if (!isMine || this.#cancelled.has(subscriptionOf(message))) return false;
    this.onMessage(message);
    return true;
  }

  #answer(id: string, message: Message): boolean {
    const asked = this.#byId.get(id);
    if (asked === undefined) return false;
    asked.answers.push(toAnswer(message));
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
    return true;
  }
}
