import type { MountedOperation, MountedResource } from "../../catalog/mounts/mount.ts";
import { callable, flag, oneOf, withDefault, type OptionFields, type WithDefaults } from "../../options/option.ts";
import { invalidOption, readOptions, type ReadOptions } from "../../options/read-options.ts";
import type { FaultReporter } from "../../surface/fault.ts";

/** What may be said of an action that its service does not say. */
export interface ActionWords extends Omit<
  MountedOperation,
  "name" | "inputSchema" | "outputSchema" | "errorSchemas" | "reach" | "authority"
> {
  /** What a text that it answers is: why it was not done, or what came of it. Default `"refusal"`. */
  readonly texts?: "refusal" | "answer";
}

/** What may be said of a state that its service does not say. */
export type StateWords = Omit<MountedResource, "path" | "mimeType">;

/** How a service is shown. */
export interface AgenticOptions {
  /**
   * How its states are shown: not at all; each as a resource, which tells when it changes; or by one tool, `get_state`, that
   * answers what they are now. Default `"omit"`.
   */
  readonly states?: "omit" | "resource" | "tool";
  /** Show also what the services have that it has links to, each under the key of its link. Default `false`. */
  readonly links?: boolean;
  /** Have a tool, `list_links`, that says where links lead, also those that lead back. Default `false`. */
  readonly listLinks?: boolean;
  /**
   * What is to be said of an action: that it only reads, that the user is asked before it runs, what it takes to call it. Asked once,
   * when the action is new or says something else; an action of which it throws is left out.
   *
   * @param action - its key, as its service has it: `"heal"`, `"turn-off"`.
   * @param path - the keys of the links that lead to its service, behind the name of the first where there are several: `[]`, `["cat"]`.
   */
  readonly describe?: (action: string, path: readonly string[]) => ActionWords | undefined;
  /**
   * The same of a state that is a resource. Refused where `states` is unchecked else.
   *
   * @param state - its key, as its service has it: `"health"`.
   * @param path - as of an action.
   */
  readonly describeState?: (state: string, path: readonly string[]) => StateWords | undefined;
  /** Receives what is wrong with services, and what they throw. Default: the console's error stream. */
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

const doing = "Showing a service";

/** Options of a service, with their defaults. */
export type ReadAgenticOptions = ReadOptions<AgenticOptions, typeof fields>;

/** Reads the options of a service. @throws SurfaceError `INVALID_OPTION`. */
export function readAgenticOptions(options: AgenticOptions): ReadAgenticOptions {
  const read = readOptions(options, fields, doing);
  // What restricts a resource would not restrict the tool that answers all states.
  if (read.describeState === undefined || read.states === "resource") return read;
  throw invalidOption(doing, '"describeState" describes states that are resources: it needs "states" to be "resource"');
}
