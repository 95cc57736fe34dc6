import type { JsonObject, JsonSchema } from "../schema/json.ts";
import type { Schema } from "../schema/standard.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { UseOptions } from "../surface/client.ts";

/** How far along a call is. `progress` must grow from report to report; MCP clients show `message`. */
export interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** One call or read, as an entry sees it. */
export interface EntryCall {
  /** Fires when the caller cancels, the deadline passes or the face closes. Made only if asked for. */
  readonly signal: AbortSignal;
  progress(report: ProgressReport): void;
}

/** What is advertised of a tool's behaviour; all four are always said. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** How arguments come in. */
export interface ToolInput {
  /** Root `type: "object"`, frozen. */
  readonly json: JsonSchema;
  /** Arguments off the wire -> what `check` and `run` take. @throws SurfaceError `VALIDATION_ERROR`. */
  decode(args: JsonObject): unknown;
  /** What to call the value itself in an issue: `"value"` where it travels under that key, else nothing. */
  readonly root: string;
}

/** How an answer goes out. */
export interface ToolOutput {
  /** Root `type: "object"`, frozen; absent where the author declared no output. */
  readonly json: JsonSchema | undefined;
  /** The answer -> the text of a JSON object. @throws SurfaceError `UNSERIALISABLE`. */
  stringify(value: unknown): string;
}

/** The schemas of a tool that the face itself owns. */
export interface FaceOwned {
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
}

/** One tool that an agent may call. */
export interface ToolEntry {
  /** The member key or the bespoke tool's name: its identity everywhere but on the wire. */
  readonly id: string;
  /** Its name on the wire: letters, digits and `_`, at most 64. */
  readonly name: string;
  /** Where it comes from, for messages about collisions. */
  readonly origin: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly hints: ToolHints;
  readonly input: ToolInput;
  readonly output: ToolOutput;
  /** Milliseconds until a call answers `TIMEOUT`. */
  readonly timeoutMs: number;
  /** Who validates: a live surface its own members, the face what it owns itself (bespoke tools). */
  readonly owner: FaceOwned | "surface";
  /** Runs it. Only `call/` does. */
  run(input: unknown, call: EntryCall): unknown;
}

/** How a resource is watched. */
export interface ResourceWatch {
  /** The shortest time between two notices, in milliseconds. `undefined`: what holds for the whole app. */
  readonly windowMs: number | undefined;
  /** Its value now, then after each change; may skip to the newest. Ends where there is nothing more to come. */
  follow(channel: SurfaceChannel, use: UseOptions): AsyncIterable<unknown>;
  /**
   * One of those values -> its JSON text, the same that reading gives; `undefined`: there is nothing under the URI. Throws
   * where it cannot be written, and where reading would wait for more.
   */
  render(value: unknown): string | undefined;
}

/** One resource of many that are listed because they are there now. */
export interface ListedItem {
  readonly uri: string;
  /** The member's key and its own, for example `jobs/a`. */
  readonly name: string;
}

/** One resource that an agent may read: a fixed URI. */
export interface ResourceEntry {
  readonly id: string;
  readonly origin: string;
  readonly uri: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Its JSON text now; `undefined`: there is none. */
  read(call: EntryCall): Promise<string | undefined>;
  readonly watch: ResourceWatch;
  /** Its JSON text -> what is listed besides, sorted by URI. Left out where nothing is. */
  readonly toItems?: (text: string) => readonly ListedItem[];
}

/** One variable of a template. */
export interface TemplateVariable {
  readonly name: string;
  readonly json: JsonSchema;
  readonly required: boolean;
}

/** A family of resources that an agent may read: a URI with variables. */
export interface TemplateEntry {
  readonly id: string;
  readonly origin: string;
  /** The URI up to the first variable, without the slash. */
  readonly base: string;
  /** RFC 6570, for example `surface://ci/log/{node}`. */
  readonly uriTemplate: string;
  readonly variables: readonly TemplateVariable[];
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** The JSON text of one member of the family; variables by name, decoded and coerced. `undefined`: there is none. */
  read(variables: JsonObject, call: EntryCall): Promise<string | undefined>;
  /** How that member is watched. */
  watch(variables: JsonObject): ResourceWatch;
}
