import { SurfaceError } from "../errors.ts";
import { clientExtensionIds, declareExtensions } from "../mcp/extensions/extensions.ts";
import { toCapabilities } from "../mcp/handshake.ts";
import type { AppRuntime, ServableApp, Serving } from "../mcp/servable-app.ts";
import type { JsonObject } from "../schema/json.ts";
import { internalError } from "../surface/fault.ts";
import { readAttachOptions, toUnknownCaller, type AttachOptions } from "./attach-options.ts";
import { V1Connection } from "./v1-connection.ts";
import { V1Port, type V1McpServer, type V1Server } from "./v1-port.ts";

/** The apps that are open, and for how many servers: over HTTP there is a server a session, and all share one application. */
const shared = new WeakMap<ServableApp, { readonly runtime: AppRuntime; users: number }>();

/**
 * Opens an app, or shares it with the other servers that it is open for. `release()` closes the app with its last server.
 *
 * @throws SurfaceError with a boot code.
 */
function leaseRuntime(app: ServableApp): { readonly runtime: AppRuntime; release(): Promise<void> } {
  const open = shared.get(app) ?? { runtime: app.open(), users: 0 };
  shared.set(app, open);
  open.users += 1;
  let isHeld = true;
  return {
    runtime: open.runtime,
    async release() {
      if (!isHeld) return;
      isHeld = false;
      open.users -= 1;
      if (open.users > 0) return;
      shared.delete(app);
      await open.runtime.close();
    },
  };
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

/** Returns the extensions to declare: the server answers its handshake alone, so every client gets those of the attached view. */
function extensionsFor(runtime: AppRuntime, options: AttachOptions): JsonObject | undefined {
  const caller = toUnknownCaller(options, undefined);
  const view = runtime.viewFor(caller);
  if (view.kind === "error") return undefined;
  return declareExtensions(runtime.extensions, { view, caller, extensions: new Set(clientExtensionIds) });
}

/** Sets the handlers of the app, all of them or none. */
function connect(runtime: AppRuntime, port: V1Port, options: AttachOptions): V1Connection {
  if (options.surface !== undefined) runtime.assertView(options.surface, "Attaching to a server");
  const methods = [...Object.keys(runtime.handlers), "resources/subscribe", "resources/unsubscribe"];
  assertFree(port, methods);
  // A server with the capability keeps the level of the log itself.
  const logsItself = port.handles("logging/setLevel");
  const { logging, ...always } = toCapabilities(runtime);
  const extensions = extensionsFor(runtime, options);
  const others = extensions === undefined ? always : { ...always, extensions };
  port.announce(logging === undefined || logsItself ? others : { ...others, logging });
  if (runtime.logs && !logsItself) methods.push("logging/setLevel");
  const connection = new V1Connection({ runtime, port, options, logsItself });
  for (const method of methods) port.handle(method, (params, extra) => connection.serve({ method, params, extra }));
  port.on("oninitialized", () => connection.initialised());
  return connection;
}

function toServing(lease: ReturnType<typeof leaseRuntime>, port: V1Port, connection: V1Connection): Serving {
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
 * Has an app answer the client of an existing `Server` or `McpServer` of `@modelcontextprotocol/sdk` 1.x: tools, resources, prompts,
 * completions and log, by the same rules as elsewhere, up to 2025-11-25. Attach before the server connects. Its handshake, its
 * transport and every method that the app does not answer stay its own. The app is detached when the connection ends, or by
 * `close()`, which leaves the server open; attach it again for another connection. An app that is attached to several servers, one
 * a session, is opened once and closed with the last of them.
 *
 * @throws SurfaceError `NAME_COLLISION` if the server answers one of the methods itself; `INVALID_OPTION` for a server that is
 * connected or not of the SDK 1.x; and the boot codes of the app. Nothing is attached then.
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
    // The author needs the reason why it could not be attached, not the failure of closing half of it.
    lease.release().catch(() => {});
    throw cause;
  }
}
