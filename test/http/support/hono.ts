import type { Server } from "node:http";

/** What the tests use of a Hono application. */
export interface HonoApp {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  all(path: string, handler: (context: { readonly req: { readonly raw: Request } }) => Promise<Response>): unknown;
}

interface HonoServeOptions {
  readonly fetch: HonoApp["fetch"];
  readonly port: number;
  readonly hostname: string;
}

// Its declarations name types of the browser's library that contradict those of Node: it is imported without them.
const names = { app: "hono", server: "@hono/node-server" };

/** Makes a Hono application. */
export async function createHono(): Promise<HonoApp> {
  // As said above: this much of it is what its documentation promises.
  const { Hono } = (await import(names.app)) as { readonly Hono: new () => HonoApp };
  return new Hono();
}

/** Serves one over `node:http`. */
export async function serveHono(options: HonoServeOptions): Promise<Server> {
  // As said above.
  const { serve } = (await import(names.server)) as { readonly serve: (options: HonoServeOptions) => Server };
  return serve(options);
}
