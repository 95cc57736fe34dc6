import { systemClock } from "../../surface/system-clock.ts";
import type { HttpServe } from "../message.ts";
import { PageAccess } from "./page-access.ts";
import { toPageAddress } from "./page-address.ts";
import { PageRoutes, type PageRoutesDeps } from "./page-routes.ts";

/** The live page at one address. Call `close()` when done. */
export interface Page {
  /** The address of the page, without a token. */
  readonly url: string;
  readonly serve: HttpServe;
  /** Creates a link that opens the page in one browser. */
  link(this: void): string;
  /** Ends every stream, and refuses further requests. Callable twice. */
  close(this: void): void;
}

/** Dependencies of {@link createPage}. */
export type PageDeps = Omit<PageRoutesDeps, "address" | "access" | "clock">;

/** Creates the live page at an address. */
export function createPage(url: URL, deps: PageDeps): Page {
  const clock = systemClock;
  const address = toPageAddress(url);
  const access = new PageAccess(address, clock);
  const routes = new PageRoutes({ ...deps, address, access, clock });
  return {
    url: address.url,
    serve: routes.serve,
    link: () => access.createLink(),
    close: () => routes.close(),
  };
}
