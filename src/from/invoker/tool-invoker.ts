import type { MountContext } from "../../catalog/mount.ts";
import type { JsonObject } from "../../schema/json.ts";

/** One tool as an invoker tells of it, in the shapes that people have. */
export interface ToolSpec {
  /** Any text. What is no letter, digit, `_`, `-` or dot is written otherwise, so that no two tools share a name. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** What it takes: a Standard Schema or a JSON Schema, of whatever type its author has it. Default: `parameters`, else any object. */
  readonly inputSchema?: object | undefined;
  /** The same, as model providers call it. */
  readonly parameters?: object | undefined;
  /** What it answers; checked. Default: anything. */
  readonly outputSchema?: object | undefined;
  /** What is known of its behaviour, as MCP says it. A tool that does not say that it only reads may change something. */
  readonly annotations?: ToolAnnotations | undefined;
}

/** What a tool says of its behaviour. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** Whatever tells of tools and runs them by name. Whoever made it closes it. */
export interface ToolInvoker {
  /** What there is now, at once or later. One that answers at once and cannot tell of changes is asked before each call too. */
  list(): readonly ToolSpec[] | PromiseLike<readonly ToolSpec[]>;
  /**
   * Runs a tool, by the name that it was listed by. A text it answers is told as it is, an object as such, anything else as JSON;
   * a result as MCP has them (`{ content, isError?, structuredContent? }`) is passed on. What it throws is masked, but for `Refusal`.
   */
  invoke(name: string, args: JsonObject, context: MountContext): unknown;
  /** Calls `changed` after each change of the list. Returns what stops it. */
  subscribe?(changed: () => void): () => void;
}
