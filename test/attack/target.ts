import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { legacy, modern, type Post } from "./post.ts";
import { tenants } from "./targets.ts";

/** What the server reports about itself. */
export interface Report {
  readonly bumped: number;
  readonly erased: number;
  readonly verified: number;
  readonly heapMb: number;
  readonly url: string;
  readonly socketUrl: string;
}

/** One HTTP answer. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** How a request is sent. */
export interface Sending {
  readonly token?: string | undefined;
  /** The view, as the address names it. */
  readonly view?: string | undefined;
}

const [first] = tenants;

/** Milliseconds until a request counts as hung: a bound for busy machines. */
export const hangMs = 60_000;

/** A server in a process of its own, with a heap of 512 MB. */
export class Target {
  readonly url: URL;
  readonly socketUrl: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  // As many sockets as a scenario sends requests at once.
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #asked = 0;

  private constructor(child: ChildProcessWithoutNullStreams, lines: AsyncIterator<string>, report: Report) {
    this.#child = child;
    this.#lines = lines;
    this.url = new URL(report.url);
    this.socketUrl = report.socketUrl;
  }

  /** Starts a server. */
  static async start(script: string): Promise<Target> {
    const child = spawn(process.execPath, ["--max-old-space-size=512", script], { stdio: "pipe" });
    const faults = text(child.stderr);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stdin.on("error", () => {});
    child.stdin.write('{"id":0}\n');
    const { value } = await lines.next();
    if (value === undefined) throw new Error(`Cannot start the server: ${await faults}`);
    return new Target(child, lines, JSON.parse(value));
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a command and returns the report after it; `undefined` once the server is gone. */
  async report(command: { readonly rules?: number } = {}): Promise<Report | undefined> {
    this.#asked += 1;
    this.#child.stdin.write(`${JSON.stringify({ id: this.#asked, ...command })}\n`);
    const { value } = await this.#lines.next();
    return value === undefined ? undefined : JSON.parse(value);
  }

  /** Sends a request and reads the whole answer. Status 0: no answer, or none in time. */
  async send({ headers, body }: Post, { token = first.token, view }: Sending = {}): Promise<Answer> {
    const path = view === undefined ? this.url.pathname : `${this.url.pathname}?surface=${view}`;
    const options = {
      agent: this.#agent,
      method: "POST",
      timeout: hangMs,
      headers: { ...headers, authorization: `Bearer ${token}` },
    };
    const sent = request(new URL(path, this.url), options);
    sent.on("timeout", () => sent.destroy());
    sent.end(body);
    try {
      const [response] = await once(sent, "response");
      return { status: response.statusCode, text: await text(response) };
    } catch {
      return { status: 0, text: "" };
    }
  }

  /** Sends a request of the version without sessions. */
  async ask(method: string, params: Readonly<Record<string, unknown>> = {}, how: Sending = {}): Promise<Answer> {
    return this.send(modern(method, params), how);
  }

  /** Opens a session and returns the headers of its requests. */
  async openSession(how: Sending = {}): Promise<Readonly<Record<string, string>>> {
    const { token = first.token, view } = how;
    const path = view === undefined ? this.url : new URL(`?surface=${view}`, this.url);
    const { headers, body } = legacy("initialize", handshake);
    const answer = await fetch(path, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
    });
    await answer.text();
    return {
      "mcp-session-id": answer.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": handshake.protocolVersion,
    };
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    const gone = this.isAlive ? once(this.#child, "close") : undefined;
    this.#child.kill("SIGKILL");
    await gone;
  }
}

const handshake = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "attack", version: "1" } };

/** Runs a number of jobs, 32 at a time. */
export async function inParallel(count: number, job: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: 32 }, work));
}
