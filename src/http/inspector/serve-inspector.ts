import { Inspector } from "../../inspector/inspector.ts";
import { kInspected } from "../../mcp/inspected-app.ts";
import type { ServableApp } from "../../mcp/servable-app.ts";
import { invalidOption } from "../../options/read-options.ts";
import { internalError } from "../../surface/fault.ts";
import { createPage, type Page, type PageDeps } from "./create-page.ts";
import type { ReadPage } from "./inspector-options.ts";
import { readPageFiles } from "./page-files.ts";
import { openPageServer, type PageServer } from "./page-server.ts";

async function createInspector(
  app: ServableApp,
  { approve, values, history }: ReadPage,
): Promise<PageDeps & { readonly inspector: Inspector }> {
  const inspected = app[kInspected];
  if (inspected === undefined)
    throw invalidOption("Cannot serve the live page", "its app must be made by mcp(), and linked");
  const files = await readPageFiles();
  const { report } = inspected.parts;
  const inspector = new Inspector(inspected, { approve, values, history, report });
  return { inspector, files, approve, fail: (cause) => void internalError(cause, "the live page", report) };
}

/**
 * Opens the live page of an app at an address of its author.
 *
 * @throws SurfaceError `INVALID_OPTION` for an app of another kind, `UNAVAILABLE` for a build without the page.
 */
export async function openInspectorPage(
  app: ServableApp,
  { url, ...options }: ReadPage & { readonly url: string },
): Promise<Page> {
  const deps = await createInspector(app, options);
  const page = createPage(new URL(url), deps);
  const close = (): void => {
    page.close();
    deps.inspector.close();
  };
  return { ...page, close };
}

/**
 * Opens the live page of an app on a port of this machine.
 *
 * @throws SurfaceError as {@link openInspectorPage}, and as `openServer()`.
 */
export async function openInspectorServer(
  app: ServableApp,
  { port, ...options }: ReadPage & { readonly port: number },
): Promise<PageServer> {
  const deps = await createInspector(app, options);
  const { inspector } = deps;
  try {
    const server = await openPageServer(port, deps);
    return { ...server, close: () => server.close().finally(() => inspector.close()) };
  } catch (cause) {
    inspector.close();
    throw cause;
  }
}
