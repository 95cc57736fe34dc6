import { SurfaceError } from "../errors.ts";

const resultKeys: ReadonlySet<string> = new Set(["content", "isError", "structuredContent", "_meta"]);

const blockTypes: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

function isBlock(block: unknown): boolean {
  return typeof block === "object" && block !== null && blockTypes.has(Reflect.get(block, "type"));
}

function isResult(value: object): boolean {
  const blocks: unknown = Reflect.get(value, "content");
  if (!Array.isArray(blocks) || !blocks.every(isBlock)) return false;
  const keys = Object.keys(value);
  return (blocks.length > 0 || keys.includes("isError")) && keys.every((key) => resultKeys.has(key));
}

/**
 * Refuses a tool result in the shape of the protocol. It would be answered as data, and its `isError: true` as a success.
 *
 * @throws SurfaceError `INVALID_OUTPUT`.
 */
export function assertNotResult(value: unknown, origin: string): void {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "content") || !isResult(value)) return;
  throw new SurfaceError(
    "INVALID_OUTPUT",
    `Cannot answer for ${origin}: its handler returned an MCP result, { content: [...] }; return content(…) for content blocks, ` +
      "throw a Refusal for an error, or declare an output if this is your data",
  );
}
