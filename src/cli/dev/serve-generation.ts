import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpConnection } from "../../mcp/mcp-connection.ts";
import type { AppRuntime } from "../../mcp/servable-app.ts";
import { isJsonObject } from "../../schema/json.ts";
import { withTimeout } from "../../surface/system-clock.ts";
import { readAppArguments, type Flags } from "../app-arguments.ts";
import { refused } from "../cli-errors.ts";
import { loadApp } from "../load-app.ts";
import { isServable } from "../server-argument.ts";
import type { CliEnvironment } from "../terminal.ts";
import { toReloadable } from "./reloadable-runtime.ts";
import type { Observation } from "../../observe/observation.ts";
import { escapeInvisible } from "../../schema/visible-text.ts";
import { isReplayedId } from "./session-state.ts";

/** The options of `dev`. */
export const devFlags: Flags = { stdio: { type: "boolean" }, port: { type: "string" } };

/** Milliseconds that running calls of a replaced generation have to end. */
export const drainMs = 5000;

/** A message of a generation to the process that started it. */
export type GenerationMessage =
  | { readonly kind: "ready"; readonly port?: number }
  | { readonly kind: "frame"; readonly text: string };

/** Serves an app until `close`. */
interface ServedGeneration {
  readonly port?: number;
  receive?(frame: string): void;
  /** Resolves when running calls have ended, or their time is over. */
  close(): Promise<void>;
}

const colours: Readonly<Record<string, number>> = { ok: 32, failed: 31, refused: 33 };

function timeOf(at: number): string {
  return new Date(at).toTimeString().slice(0, "00:00:00".length);
}

/**
 * Returns one line for the end of a request, or for a request that was refused before it started; `undefined` for other records. It
 * has neither arguments nor results.
 */
function renderRecord(record: Observation, isTerminal: boolean): string | undefined {
  const paint = (outcome: string): string =>
    isTerminal ? `\u001B[${colours[outcome] ?? 0}m${outcome}\u001B[0m` : outcome;
  if (record.type === "refused") {
    return `${timeOf(record.at)}  ${record.transport}  ${paint("refused")}  ${record.stage}\n`;
  }
  if (record.type !== "request-end" || isReplayedId(record.rpcId)) return undefined;
  const { method, operation, outcome, code, refusedAt, ms } = record;
  const subject = operation?.name ?? operation?.id;
  const what = escapeInvisible(subject === undefined ? method : `${method} ${subject}`);
  const why = code ?? refusedAt;
  const end = why === undefined ? paint(outcome) : `${paint(outcome)} ${escapeInvisible(why)}`;
  return `${timeOf(record.at)}  ${what}  ${end}  ${ms.toFixed(1)} ms\n`;
}

function send(message: GenerationMessage): void {
  process.send?.(message);
}

function serveFrames(runtime: AppRuntime): ServedGeneration {
  const connection = new McpConnection({ runtime, send: (text) => send({ kind: "frame", text }) });
  return {
    receive: (frame) => connection.receive(frame),
    async close() {
      await withTimeout(connection.finish(), drainMs, "Cannot finish").catch(() => undefined);
      connection.close();
      await runtime.close();
    },
  };
}

async function serveHttp(runtime: AppRuntime): Promise<ServedGeneration> {
  // The entry, so that applications over HTTP load no chunk that they share with the commands.
  const { httpHandler } = await import("../../http/index.ts");
  const handler = httpHandler({ open: () => runtime }, { drainMs });
  const server = createServer(handler.node);
  await once(server.listen(0, "127.0.0.1"), "listening");
  // A server on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return { port, close: () => handler.close() };
}

/**
 * Serves one version of an app to the process that started this one, `dev`, until that process retires it or is gone. Writes a line
 * for each request.
 */
export async function serveGeneration(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const given = readAppArguments(args, devFlags, "Cannot serve");
  if (process.send === undefined) throw refused(`Cannot serve: run "surface-mcp dev"`);
  const isStdio = given.has("stdio");
  const app = await loadApp({
    given: given.module,
    cwd: setting.cwd,
    exported: given.text("export"),
    isApp: isServable,
  });
  const { runtime, announce } = toReloadable(app.open());
  const write = isStdio ? setting.complain : setting.write;
  runtime.observers.add((record) => {
    const line = renderRecord(record, setting.isTerminal && !isStdio);
    if (line !== undefined) write(line);
  });
  const served = isStdio ? serveFrames(runtime) : await serveHttp(runtime);
  await new Promise<void>((resolve) => {
    process.once("disconnect", resolve);
    process.on("message", (message) => {
      if (!isJsonObject(message)) return;
      if (typeof message["frame"] === "string") served.receive?.(message["frame"]);
      if (message["retire"] === true) resolve();
    });
    send(served.port === undefined ? { kind: "ready" } : { kind: "ready", port: served.port });
  });
  announce();
  await served.close();
}
