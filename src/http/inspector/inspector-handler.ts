import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServableApp } from "../../mcp/servable-app.ts";
import { Budget } from "../../spine/budget.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { Connections } from "../node/connections.ts";
import { createNodeListener } from "../node/node-request.ts";
import { createFetchHandler } from "../web.ts";
import { type InspectorHandlerOptions, readHandler } from "./inspector-options.ts";

/** The live page of an app, for frameworks and runtimes with their own server. Call `close()` when done. */
export interface InspectorHandler {
  /** Answers a web `Request`. Never rejects. */
  (request: Request): Promise<Response>;
  /** The same function, for runtimes that expect an object with this method. */
  fetch(this: void, request: Request): Promise<Response>;
  /** Answers a request of `node:http`, and of Express. Mount it before body parsers. */
  node(this: void, request: IncomingMessage, response: ServerResponse): void;
  /** Creates a link that opens the page in one browser, once. The last 16 unused links work. Give it only to who may see the page. */
  link(this: void): string;
  /** Ends the page in every browser. Callable twice. */
  close(this: void): Promise<void>;
}

const stallMs = 30_000;
const unreadBytes = 64 * 1024 * 1024;

/**
 * Opens the live page of an app, to mount it on your own server at the path of `url`. The link and its cookie are the only protection
 * from everyone who can reach that address: put your own authentication in front of a public one.
 *
 * @throws SurfaceError `INVALID_OPTION`, `UNAVAILABLE` if the package was bundled without its page.
 * @example
 * ```ts
 * const page = await inspectorHandler(app, { url: "http://localhost:3000/inspect/" });
 * hono.all("/inspect/*", (c) => page(c.req.raw));
 * console.error(page.link());
 * ```
 */
export async function inspectorHandler(app: ServableApp, options: InspectorHandlerOptions): Promise<InspectorHandler> {
  const read = readHandler(options);
  // Loaded only by servers that have the page.
  const { openInspectorPage } = await import("./serve-inspector.ts");
  const { serve, link, close } = await openInspectorPage(app, read);
  const fetch = createFetchHandler(serve);
  const unread = new Budget({ total: unreadBytes, perKey: unreadBytes });
  const connections = new Connections({ clock: systemClock, stallMs, unread, delaysAnswers: false });
  return Object.freeze(
    Object.assign((request: Request) => fetch(request), {
      fetch,
      node: createNodeListener(serve, connections),
      link,
      close: async () => close(),
    }),
  );
}
