import { clipText, toVisibleJson } from "../../schema/visible-text.ts";
import { partOf, readDocument, textOf } from "./document.ts";

const maxSummaryBytes = 80;

/**
 * Returns an expose map of all operations of a document as source text, each of them denied: uncomment the lines of those to expose.
 * Operations that the document hides are left out.
 *
 * @throws SurfaceError `INVALID_OPTION` for a value that is not a document of OpenAPI 3.0 or 3.1.
 * @example
 * ```ts
 * console.log(operations(document));
 * ```
 */
export function operations(document: object): string {
  const all = readDocument(document).all();
  const counts = new Map<string, number>();
  for (const { operation } of all) {
    const id = textOf(operation, "operationId");
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const lines = all.flatMap(({ method, path, operation, item }) => {
    if (partOf(operation, "x-mcp") === false || partOf(item, "x-mcp") === false) return [];
    const id = textOf(operation, "operationId");
    const route = `${method} ${path}`;
    const key = id !== undefined && counts.get(id) === 1 ? id : route;
    const kind = method === "GET" || method === "HEAD" ? "read" : "write";
    const about = [key === route ? "" : route, textOf(operation, "summary") ?? ""].filter((part) => part !== "");
    // JSON with escapes keeps each key on its line, and one line cannot end a comment.
    const comment = about.length === 0 ? "" : ` // ${clipText(about.join(": "), maxSummaryBytes)}`;
    return [`  // ${toVisibleJson(key)}: "${kind}",${comment}`];
  });
  return ["{", ...lines, "}"].join("\n");
}
