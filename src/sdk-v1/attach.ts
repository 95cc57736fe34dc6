import { SurfaceError } from "../errors.ts";
import { toCapabilities } from "../mcp/handshake.ts";
import type { AppRuntime, ServableApp, Serving } from "../mcp/servable-app.ts";
import { internalError } from "../surface/fault.ts";
import { readAttachOptions, type AttachOptions } from "./attach-options.ts";
import { leaseRuntime, type RuntimeLease } from "./shared-runtime.ts";
import { V1Connection } from "./v1-connection.ts";
import { V1Port } from "./v1-port.ts";
import type { V1McpServer, V1Server } from "./v1-server.ts";

/** What is answered for the app: what it has handlers for, and what one connection has of its own. */
function methodsOf(runtime: AppRuntime): readonly string[] {
  return [...Object.keys(runtime.handlers), "resources/subscribe", "resources/unsubscribe"];
}

function assertFree(port: V1Port, methods: readonly string[]): void {
  const taken = methods.filter((method) => port.handles(method));
  if (taken.length === 0) return;
  const names = taken.map((method) => `"${method}"`).join(", ");
  throw new SurfaceError(
    "NAME_COLLISION",
    `Attaching to a server: it answers ${names} itself, and must not; have the app answer for its tools as well, by mount() and invoker()`,
  );
}

/** What the app can do, but for what the server does itself. */
function toAnnounced(runtime: AppRuntime, logsItself: boolean): object {
  const { logging, ...others } = toCapabilities(runtime);
  return logging === undefined || logsItself ? others : { ...others, logging };
}

/** Has the app answer, all of it or nothing. */
function connect(runtime: AppRuntime, port: V1Port, options: AttachOptions): V1Connection {
  if (options.surface !== undefined) runtime.assertView(options.surface, "Attaching to a server");
  const methods = methodsOf(runtime);
  assertFree(port, methods);
  // One that says that it logs keeps the level itself.
  const logsItself = port.handles("logging/setLevel");
  port.announce(toAnnounced(runtime, logsItself));
  const connection = new V1Connection({ runtime, port, options, logsItself });
  const own = runtime.logs && !logsItself ? ["logging/setLevel"] : [];
  for (const method of [...methods, ...own]) {
    port.handle(method, (params, extra) => connection.serve({ method, params, extra }));
  }
  port.on("oninitialized", () => connection.initialised());
  return connection;
}

function toServing(lease: RuntimeLease, port: V1Port, connection: V1Connection): Serving {
  let tell: () => void = () => {};
  const closed = new Promise<void>((resolve) => (tell = resolve));
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      connection.close();
      port.release();
      await lease.release();
    })().finally(tell);
    return closing;
  };
  port.on("onclose", () => {
    const { report } = lease.runtime;
    close().catch((cause: unknown) => void internalError(cause, "closing what a server was attached", report));
  });
  return { closed, close };
}

/**
 * Has an app answer what the client of an existing `Server` or `McpServer` of `@modelcontextprotocol/sdk` 1.x asks: its tools,
 * resources, prompts, completions and log, by the same rules as anywhere, in the legacy era. Attach before the server connects;
 * its handshake, its transport and whatever the app does not answer stay its own. What is attached ends with the server's
 * connection, and is attached anew for another; `close()` ends it earlier, and leaves the server open. Where an app is attached
 * to several servers, one a session, it is opened once, and closed with the last of them.
 *
 * @throws SurfaceError `NAME_COLLISION` where the server answers one of the methods itself; `INVALID_OPTION` for a server that is
 * none of the SDK 1.x, or is connected; and the boot codes of the app. Nothing is attached then.
 *
 * @example
 * ```ts
 * const server = new Server({ name: "shop", version: "1.0.0" }, { capabilities: {} });
 * attach(app, server);
 * await server.connect(new StdioServerTransport());
 * ```
 */
export function attach(app: ServableApp, server: V1Server | V1McpServer, options: AttachOptions = {}): Serving {
  const read = readAttachOptions(options);
  const port = new V1Port(server);
  const lease = leaseRuntime(app);
  try {
    return toServing(lease, port, connect(lease.runtime, port, read));
  } catch (cause) {
    port.release();
    // Why it could not be attached is what its author has to hear, not what closing half of it came to.
    lease.release().catch(() => {});
    throw cause;
  }
}
