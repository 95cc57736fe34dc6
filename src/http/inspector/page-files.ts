import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SurfaceError } from "../../errors.ts";
import type { HttpAnswer } from "../message.ts";

/** The answers that are the same for all browsers, by the path under the base. They have no data of the app. */
export type PageFiles = ReadonlyMap<string, HttpAnswer>;

/** File, path and type. */
const files = [
  ["index.html", "", "text/html; charset=utf-8"],
  ["page.js", "page.js", "text/javascript; charset=utf-8"],
  ["page.css", "page.css", "text/css; charset=utf-8"],
] as const;

/** The mark of the page, and its icon in the tab of the browser. */
export const pageIcon: readonly [path: string, answer: HttpAnswer] = [
  "icon.svg",
  {
    status: 200,
    headers: { "content-type": "image/svg+xml" },
    body:
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><rect width="20" height="20" rx="5" fill="#2a55cc"/>' +
      '<path d="M5 12.5h2.5L9 6.5l2.4 7 1.5-4.2H15" fill="none" stroke="#fff" stroke-width="1.6"/></svg>',
  },
];

/** Returns the folder of the built page. Found by the name of the package, because this module is built to another place. */
function pageFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("surface-mcp/package.json")), "dist", "page");
}

/**
 * Reads the files of the page once.
 *
 * @throws SurfaceError `UNAVAILABLE` for a build without them.
 */
export async function readPageFiles(folder: () => string = pageFolder): Promise<PageFiles> {
  try {
    const from = folder();
    const read = async ([file, path, type]: (typeof files)[number]): Promise<[string, HttpAnswer]> => {
      const body = await readFile(join(from, file), "utf8");
      return [path, { status: 200, headers: { "content-type": type }, body }];
    };
    return new Map([...(await Promise.all(files.map(read))), pageIcon]);
  } catch (cause) {
    const problem = 'the folder "dist/page" of surface-mcp is missing or incomplete';
    const remedy = "install the package as it was published, and do not bundle it";
    throw new SurfaceError("UNAVAILABLE", `Cannot serve the live page: ${problem}; ${remedy}`, { cause });
  }
}
