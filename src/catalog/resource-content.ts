import type { ResourceBody, ResourceContent } from "./entry.ts";

/** What JSON is called where types of content are named. */
export const jsonMimeType = "application/json";

/** The text of what a resource holds; `undefined` where that is bytes. */
export function textOf(content: ResourceContent): string | undefined {
  return typeof content === "string" ? content : content.text;
}

/** A text for each content; no two that differ share one. JSON text begins with none of the words of a body. */
export function toDistinctText(content: ResourceContent): string {
  if (typeof content === "string") return `text ${content}`;
  const { mimeType, text, blob, meta }: ResourceBody = content;
  return `body ${JSON.stringify([mimeType, text ?? null, blob ?? null, meta ?? null])}`;
}

/** Whether two reads have found the same. */
export function isSameContent(left: ResourceContent | undefined, right: ResourceContent | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  return toDistinctText(left) === toDistinctText(right);
}
