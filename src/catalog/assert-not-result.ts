import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { isContent } from "./content.ts";

/** A tool result in the shape of the protocol. */
export interface McpResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

function isBlock(block: unknown): boolean {
  return isJsonObject(block) && typeof block["type"] === "string";
}

/** The values that each member of a result may have. An object with any other key is a document, or an answer of its own. */
const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  content: (value) => Array.isArray(value) && value.every(isBlock),
  structuredContent: (value) => value === undefined || isJsonObject(value),
  isError: (value) => value === undefined || typeof value === "boolean",
  _meta: (value) => value === undefined || isJsonObject(value),
  resultType: (value) => value === undefined || value === "complete",
};

/** Returns whether a value has the shape of a tool result, and no other member. */
export function isMcpResult(value: object): value is McpResult {
  if (!Object.hasOwn(value, "content")) return false;
  return Object.entries(value).every(([key, held]) => Object.hasOwn(fits, key) && fits[key]?.(held) === true);
}

const blockTypes: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

/** Returns whether a value can only be meant as a tool result. A document may well have no content, or content of other types. */
function isMeantAsResult(value: object): boolean {
  if (!isMcpResult(value) || !value.content.every(({ type }) => blockTypes.has(type))) return false;
  return value.content.length > 0 || Object.hasOwn(value, "isError");
}

/**
 * Refuses a tool result in the shape of the protocol: it would be answered as data, and its `isError: true` as a success. Refuses
 * what `content()` made, too, where a procedure returns it without the output schema for it.
 *
 * @throws SurfaceError `INVALID_OUTPUT`.
 */
export function assertNotResult(value: unknown, origin: string): void {
  if (typeof value !== "object" || value === null) return;
  if (isContent(value)) {
    throw new SurfaceError(
      "INVALID_OUTPUT",
      `Cannot answer for ${origin}: its handler returned content(…); declare "output: richContent" for it`,
    );
  }
  if (!isMeantAsResult(value)) return;
  throw new SurfaceError(
    "INVALID_OUTPUT",
    `Cannot answer for ${origin}: its handler returned an MCP result, { content: [...] }; return content(…) for content blocks ` +
      '(of a procedure with "output: richContent"), throw a Refusal for an error, or declare an output if this is your data',
  );
}
