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
import { renderRecord } from "./render-record.ts";
import { toReloadable } from "./reloadable-runtime.ts";

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
