import type { ToolEntry } from "../catalog/entry.ts";
import { readingHints } from "./call-tool.ts";

/** The tools of a gateway as they are listed to whom everything behind it only reads: `call` says so as well. */
export function toReadingTools(tools: readonly ToolEntry[]): readonly ToolEntry[] {
  return tools.map((tool) => (tool.name === "call" ? Object.freeze({ ...tool, hints: readingHints }) : tool));
}
