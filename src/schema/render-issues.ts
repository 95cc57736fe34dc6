import type { Issue } from "../errors.ts";
import { clipText } from "./visible-text.ts";

/** The number of issues that a failed validation keeps. A caller fixes the first few. */
export const maxIssues = 5;

// maxIssues lines of "- path: message\n" stay under 2 KiB: 5 * (2 + 128 + 2 + 272 + 1) = 2,025 bytes.
const maxPathBytes = 128;
const maxMessageBytes = 272;
const maxSegments = 32;

/** Creates an issue whose path and message are without control characters and bounded (128 and 272 bytes). */
export function createIssue(segments: readonly PropertyKey[], message: unknown): Issue {
  const kept = segments.length > maxSegments ? [...segments.slice(0, maxSegments), "…"] : segments;
  const path = kept.map((segment) => (typeof segment === "symbol" ? (segment.description ?? "symbol") : segment));
  return { path: clipText(path.join("."), maxPathBytes), message: clipText(String(message), maxMessageBytes) };
}

/** Renders issues for a model, one line each, in 2 KiB. @param root - the name of the value itself: `value` for a wrapped schema. */
export function renderIssues(issues: readonly Issue[], root = ""): string {
  const lines = issues.slice(0, maxIssues).map(({ path, message }) => {
    const where = [root, path].filter((part) => part !== "").join(".");
    return `- ${clipText(where === "" ? "(root)" : where, maxPathBytes)}: ${clipText(message, maxMessageBytes)}`;
  });
  return lines.join("\n");
}
