import { randomBytes } from "node:crypto";
import { Budget } from "../../spine/budget.ts";
import type { HttpServe } from "../message.ts";
import type { ListenOptions } from "../node/open-server.ts";
import { createPage, type Page, type PageDeps } from "./create-page.ts";
import { pageHeaders, toErrorAnswer } from "./page-answers.ts";

/** The live page on a listener that only this machine can reach. Call `close()` when done. */
export interface PageServer extends Pick<Page, "url" | "link"> {
  /** Ends every stream, and the listener. Callable twice. */
  close(this: void): Promise<void>;
}

const host = "127.0.0.1";

/** So much that no other program of the machine guesses the path of the page. */
const pathBytes = 16;

const maxConnections = 256;
const unreadBytes = 64 * 1024 * 1024;
const options: Omit<ListenOptions, "port"> = {
  host,
  portOption: "inspector.port",
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  stallMs: 30_000,
};

/**
 * Listens for the browsers of one machine, under a path that is new each time. Browsers send a cookie to every port of a host, but only
 * under its path: so a server of another user on another port does not get the cookie of the page.
 *
 * @param port - 0: any free port.
 * @throws SurfaceError as `openServer()`.
 */
export async function openPageServer(port: number, deps: PageDeps): Promise<PageServer> {
  // The address has the port, which is known last.
  let serve: HttpServe = (_request, reply) => {
    reply.extraHeaders = pageHeaders;
    reply.answer(toErrorAnswer("closing"));
  };
  // Loaded as by `http()`, so that both have one copy.
  const { openServer } = await import("../node/open-server.ts");
  const server = await openServer(
    (request, reply) => serve(request, reply),
    { ...options, port },
    {
      unreadBytes: new Budget({ total: unreadBytes, perKey: unreadBytes }),
      connections: new Budget({ total: maxConnections, perKey: maxConnections }),
    },
  );
  const path = randomBytes(pathBytes).toString("base64url");
  const page = createPage(new URL(`http://${host}:${server.port}/${path}/`), deps);
  ({ serve } = page);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    page.close();
    await server.close();
  };
  return { url: page.url, link: page.link, close: () => (closing ??= close()) };
}
