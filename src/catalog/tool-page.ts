import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { maxPageLength, type PageHtml, type ToolUiOptions } from "../tags/tool-ui.ts";
import { runHandler } from "./context/tool-context.ts";
import type { ToolEntry, ToolUi } from "./entry.ts";

/** The author reads the message. Clients read that the answer was withheld. */
function badPage(origin: string, problem: string): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", `Cannot read the page of ${origin}: ${problem}`);
}

const tooLarge = `it is larger than ${maxPageLength / 1_048_576} MiB; move scripts and images to an origin of "csp"`;

/** Reads a text file of bounded size. */
async function readBounded(file: URL, origin: string): Promise<string> {
  // Loaded for a page in a file alone: some runtimes without files serve the others.
  const { open } = await import("node:fs/promises");
  const handle = await open(file);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw badPage(origin, `"${file.pathname}" is not a file`);
    if (stats.size > maxPageLength) throw badPage(origin, tooLarge);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

async function readPage(html: PageHtml, origin: string): Promise<string> {
  if (html instanceof URL) return readBounded(html, origin);
  const page: unknown = typeof html === "function" ? await html() : html;
  if (typeof page !== "string") throw badPage(origin, "its function must return a text");
  if (page.length > maxPageLength) throw badPage(origin, tooLarge);
  return page;
}

/** Returns the `_meta.ui` of a page: a permission is an empty object on the wire. */
function toPageMeta({ csp, permissions = {}, prefersBorder, domain }: ToolUiOptions): JsonObject {
  const requested = Object.entries(permissions).filter(([, isRequested]) => isRequested === true);
  const meta = {
    csp,
    permissions: requested.length === 0 ? undefined : Object.fromEntries(requested.map(([name]) => [name, {}])),
    prefersBorder,
    domain,
  };
  // A copy as JSON has it: without fields that are undefined.
  return JSON.parse(JSON.stringify(meta)) as JsonObject;
}

/**
 * Returns a tool with its option `ui`; the tool itself without the option.
 *
 * @param surface - the name of the surface, which begins the URI of the page.
 * @throws SurfaceError `CONTRADICTION` if the option `meta` has the keys of a page, too.
 */
export function withUi(entry: ToolEntry, options: ToolUiOptions | undefined, surface: string): ToolEntry {
  if (options === undefined) return entry;
  const { name, origin, meta } = entry;
  const taken = ["ui", "ui/resourceUri"].find((key) => meta !== undefined && Object.hasOwn(meta, key));
  if (taken !== undefined) {
    throw new SurfaceError(
      "CONTRADICTION",
      `Cannot add ${origin}: its "meta" has "${taken}", which "ui" sets; remove it`,
    );
  }
  const { html, visibility } = options;
  const ui: ToolUi = {
    ...(html === undefined
      ? {}
      : {
          page: Object.freeze({
            uri: `ui://${surface}/${name}`,
            meta: toPageMeta(options),
            read: () => runHandler(() => readPage(html, origin), origin),
          }),
        }),
    ...(visibility === undefined ? {} : { visibility: Object.freeze([...new Set(visibility)].toSorted()) }),
  };
  return { ...entry, ui: Object.freeze(ui) };
}
