import { Budget } from "../../spine/budget.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { HttpServe } from "../message.ts";
import { type ListenOptions, openServer } from "../node/open-server.ts";
import { PageAccess } from "./page-access.ts";
import { toPageAddress } from "./page-address.ts";
import { pageHeaders, toErrorAnswer } from "./page-answers.ts";
import { PageRoutes, type PageRoutesDeps } from "./page-routes.ts";

/** The live page on a listener that only this machine can reach. Call `close()` when done. */
export interface PageServer {
  readonly url: string;
  /** Creates a link that opens the page in one browser. */
  link(this: void): string;
  /** Ends every stream, and the listener. Callable twice. */
  close(this: void): Promise<void>;
}

const host = "127.0.0.1";
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
 * Listens for the browsers of one machine.
 *
 * @throws SurfaceError as `openServer()`.
 */
export async function openPageServer(
  port: number,
  deps: Omit<PageRoutesDeps, "address" | "access" | "clock">,
): Promise<PageServer> {
  // The address has the port, which is known last.
  let serve: HttpServe = (_request, reply) => {
    reply.extraHeaders = pageHeaders;
    reply.answer(toErrorAnswer("closing"));
  };
  const server = await openServer(
    (request, reply) => serve(request, reply),
    { ...options, port },
    {
      unreadBytes: new Budget({ total: unreadBytes, perKey: unreadBytes }),
      connections: new Budget({ total: maxConnections, perKey: maxConnections }),
    },
  );
  const address = toPageAddress(new URL(`http://${host}:${server.port}/`));
  const access = new PageAccess(address, systemClock);
  const routes = new PageRoutes({ ...deps, address, access, clock: systemClock });
  ({ serve } = routes);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    routes.close();
    await server.close();
  };
  return { url: address.url, link: () => access.createLink(), close: () => (closing ??= close()) };
}
