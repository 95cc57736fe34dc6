import type { MountedOperation, MountedResource } from "../../catalog/mounts/mount.ts";
import { callable, flag, oneOf, withDefault, type OptionFields, type WithDefaults } from "../../options/option.ts";
import { invalidOption, readOptions, type ReadOptions } from "../../options/read-options.ts";
import type { FaultReporter } from "../../surface/fault.ts";

/** Metadata of an action that the author adds to its service's own. */
export interface ActionMetadata extends Omit<
  MountedOperation,
  "name" | "inputSchema" | "outputSchema" | "errorSchemas" | "canCall" | "callScopes"
> {
  /** Meaning of a text that the action returns: the reason why it refused, or its answer. @default "refusal" */
  readonly texts?: "refusal" | "answer";
}

/** Metadata of a state that the author adds to its service's own. */
export type StateMetadata = Omit<MountedResource, "path" | "mimeType">;

/** Options of a mounted service. */
export interface AgenticOptions {
  /**
   * Representation of the states. `"resource"`: one resource for each, with update notifications. `"tool"`: one tool, `get_state`,
   * that returns the present values.
   *
   * @default "omit"
   */
  readonly states?: "omit" | "resource" | "tool";
  /** Whether to include linked services, each under the key of its link. @default false */
  readonly links?: boolean;
  /** Whether to add a tool, `list_links`, that returns all links with their targets, cycles included. @default false */
  readonly listLinks?: boolean;
  /**
   * Returns metadata of an action, for example that it only reads, that the user must confirm it, or which scopes a caller needs. Called
   * once for each action, and again when its description or schema changes. If it throws, the action is left out.
   *
   * @param action - the key of the action in its service: `"heal"`, `"turn-off"`.
   * @param path - the keys of the links to its service: `[]`, `["cat"]`. The name of the first service precedes them if there are several.
   */
  readonly describe?: (action: string, path: readonly string[]) => ActionMetadata | undefined;
  /**
   * Returns metadata of a state, in the same way. Requires `states: "resource"`.
   *
   * @param state - the key of the state in its service: `"health"`.
   * @param path - as in {@link describe}.
   */
  readonly describeState?: (state: string, path: readonly string[]) => StateMetadata | undefined;
  /** Receives errors that services throw, and faults in what they report. @default `console.error` */
  readonly onFault?: FaultReporter;
}

const fields: OptionFields<AgenticOptions> & WithDefaults<"states" | "links" | "listLinks"> = {
  states: withDefault(oneOf("omit", "resource", "tool"), "omit"),
  links: withDefault(flag, false),
  listLinks: withDefault(flag, false),
  describe: callable,
  describeState: callable,
  onFault: callable,
};

const doing = "Cannot mount a service";

/** The options of a service, with their defaults. */
export type ReadAgenticOptions = ReadOptions<AgenticOptions, typeof fields>;

/** Reads the options of a service. @throws SurfaceError `INVALID_OPTION`. */
export function readAgenticOptions(options: AgenticOptions): ReadAgenticOptions {
  const read = readOptions(options, fields, doing);
  // Scopes of a resource would not restrict the tool that returns all states.
  if (read.describeState === undefined || read.states === "resource") return read;
  throw invalidOption(doing, '"describeState" describes resources; set "states" to "resource"');
}
