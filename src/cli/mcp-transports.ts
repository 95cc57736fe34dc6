import { spawn } from "node:child_process";
import { SurfaceError } from "../errors.ts";
import { McpConnection } from "../mcp/mcp-connection.ts";
import type { ServableApp } from "../mcp/servable-app.ts";
import { FrameReader } from "../stdio/frames.ts";
import { anonymous, withChosenView } from "../surface/caller.ts";
import type { OpenTransport } from "./mcp-client.ts";

/** Bytes of the longest message that a server may send. */
const maxMessageBytes = 64 * 1024 * 1024;

/** Milliseconds that a command has to end by itself. */
const endMs = 1000;

/** Creates the transport to an app in this process. Requests come from the local user, as over stdio. */
export function createAppTransport(app: ServableApp, surface: string | undefined): OpenTransport {
  return ({ receive }) => {
    const runtime = app.open();
    if (surface !== undefined) runtime.assertView(surface, "Cannot use a view");
    const caller = surface === undefined ? anonymous : withChosenView(anonymous, { surface });
    const connection = new McpConnection({ runtime, send: receive, caller });
    return {
      send: (text) => connection.receive(text),
      async close() {
        connection.close();
        await runtime.close();
      },
    };
  };
}

/** Creates the transport to a server that a command starts. Its standard error goes to that of this process. */
export function createCommandTransport([command = "", ...args]: readonly string[], cwd: string): OpenTransport {
  return ({ receive, failed }) => {
    const unavailable = (problem: string): void =>
      failed(new SurfaceError("UNAVAILABLE", `Cannot use "${command}": ${problem}`));
    const child = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
    const reader = new FrameReader({
      maxBytes: maxMessageBytes,
      onFrame: receive,
      onOversize: () => unavailable(`it sent a message of more than ${maxMessageBytes} bytes`),
      onBadEncoding: () => unavailable("it sent a message that is not UTF-8"),
    });
    const ended = new Promise<void>((resolve) => {
      child.once("error", ({ message }) => (unavailable(message), resolve()));
      child.once("close", (code, signal) => (unavailable(`it ended with ${signal ?? `code ${code}`}`), resolve()));
    });
    child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
    // A process that ended is reported by "close".
    child.stdin.on("error", () => {});
    return {
      send: (text) => void child.stdin.write(`${text}\n`),
      async close() {
        child.stdin.end();
        const kill = (): void => {
          child.kill("SIGKILL");
          // A process that the command has started may keep its output open.
          child.stdout.destroy();
        };
        const timers = [setTimeout(() => child.kill(), endMs), setTimeout(kill, 2 * endMs)];
        await ended;
        for (const timer of timers) clearTimeout(timer);
      },
    };
  };
}

/** Calls `receive` with the data of each event of a stream. */
async function readEvents(body: AsyncIterable<Uint8Array>, receive: (data: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    if (rest.length > maxMessageBytes) {
      throw new SurfaceError("UNAVAILABLE", `Cannot read an event: it has more than ${maxMessageBytes} characters`);
    }
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data:"));
      if (data.length > 0) receive(data.map((line) => line.slice("data:".length).trimStart()).join("\n"));
    }
  }
}

/** Returns the text of a response. A server could send one without an end. */
async function readText(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxMessageBytes) {
      throw new SurfaceError("UNAVAILABLE", `Cannot read a response: it has more than ${maxMessageBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the reason for a failed `fetch`, whose own message says only that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? cause.message || String(Reflect.get(cause, "code")) : error.message;
}

/** Describes a response with an error status by the message of its JSON-RPC error. */
function describeStatus(status: number, text: string, token: string | undefined): string {
  const [, message = ""] = /"message":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  const hint = status === 401 && token === undefined ? '; name the variable with your token by "--token-env"' : "";
  return `it answers HTTP ${status}${message === "" ? "" : ` ${message}`}${hint}`;
}

function failedToUse(url: string, problem: string): SurfaceError {
  return new SurfaceError("UNAVAILABLE", `Cannot use ${url}: ${problem}`);
}

/** Creates the transport to a server at a URL. */
export function createUrlTransport(url: string, token: string | undefined): OpenTransport {
  return ({ receive, failed }) => {
    const stop = new AbortController();
    const headers = new Headers({ accept: "application/json, text/event-stream" });
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const unavailable = (problem: string): SurfaceError => failedToUse(url, problem);

    async function request(method: string, body?: string): Promise<Response> {
      const sent = new Headers(headers);
      if (body !== undefined) sent.set("content-type", "application/json");
      try {
        return await fetch(url, {
          method,
          headers: sent,
          redirect: "manual", // arguments and the id of the session are for this address alone
          signal: stop.signal,
          ...(body === undefined ? {} : { body }),
        });
      } catch (error) {
        throw unavailable(reasonOf(error));
      }
    }

    async function read(response: Response): Promise<void> {
      const session = response.headers.get("mcp-session-id");
      if (session !== null) headers.set("mcp-session-id", session);
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (isStream && response.ok && response.body !== null) return readEvents(response.body, receive);
      const text = await readText(response.body);
      if (text !== "") receive(text);
      if (!response.ok) throw unavailable(describeStatus(response.status, text, token));
    }

    return {
      send: async (text) => read(await request("POST", text)),
      negotiated: (version) => headers.set("mcp-protocol-version", version),
      async listen() {
        const response = await request("GET");
        if (!response.ok || response.body === null) {
          throw unavailable(`it has no stream of notifications, and answers HTTP ${response.status}`);
        }
        void read(response).then(
          () => failed(unavailable("it ended the stream of notifications")),
          (error: unknown) => failed(unavailable(reasonOf(error))),
        );
      },
      async close() {
        // Ends the session. A server need not have one.
        if (headers.has("mcp-session-id")) await request("DELETE").catch(() => undefined);
        stop.abort();
      },
    };
  };
}
