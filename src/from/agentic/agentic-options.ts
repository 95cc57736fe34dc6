import { assertKnownOptions } from "../../tags/assert-known-options.ts";
import type { MountedOperation, MountedResource } from "../../catalog/mount.ts";
import { SurfaceError } from "../../errors.ts";
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
   * The same of a state that is a resource. Refused where `states` is anything else.
   *
   * @param state - its key, as its service has it: `"health"`.
   * @param path - as of an action.
   */
  readonly describeState?: (state: string, path: readonly string[]) => StateWords | undefined;
  /** Receives what is wrong with services, and what they throw. Default: the console's error stream. */
  readonly onFault?: FaultReporter;
}

const modes: ReadonlySet<unknown> = new Set([undefined, "omit", "resource", "tool"]);
const flags = ["links", "listLinks"] as const;
const functions = ["describe", "describeState", "onFault"] as const;
const known: readonly (keyof AgenticOptions)[] = ["states", ...flags, ...functions];

function fail(problem: string): never {
  throw new SurfaceError("INVALID_OPTION", `Showing a service: ${problem}`);
}

function assertTypes(
  options: AgenticOptions,
  names: readonly (keyof AgenticOptions)[],
  type: "boolean" | "function",
): void {
  const wrong = names.find((name) => options[name] !== undefined && typeof options[name] !== type);
  if (wrong !== undefined) fail(`"${wrong}" must be ${type === "boolean" ? "true or false" : "a function"}`);
}

/**
 * Refuses options that the compiler would have refused.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertAgenticOptions(options: AgenticOptions): void {
  assertKnownOptions(options, known, "Showing a service");
  if (!modes.has(options.states)) fail('"states" must be "omit", "resource" or "tool"');
  assertTypes(options, flags, "boolean");
  assertTypes(options, functions, "function");
  // What keeps somebody from a resource would keep nobody from the tool that answers all states.
  if (options.describeState !== undefined && options.states !== "resource") {
    fail('"describeState" is of states that are resources, and "states" must be "resource" with it');
  }
}
