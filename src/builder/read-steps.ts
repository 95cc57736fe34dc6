import { assertBespokeResource } from "../catalog/custom/bespoke-resource.ts";
import { assertMountSource, type MountSource } from "../catalog/mounts/mount.ts";
import { readBespokePrompt } from "../catalog/custom/bespoke-prompt.ts";
import { readBespokeTool } from "../catalog/custom/bespoke-tool.ts";
import { assertPrefix, mountOrigin } from "../catalog/mounts/mounted-names.ts";
import { SurfaceError } from "../errors.ts";
import { flag, oneOf, withDefault } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import type { ConfirmOptions, ConfirmRule } from "../tags/tool-options.ts";
import { isSource } from "../views/views.ts";
import { readViewRules } from "../views/read-view-rules.ts";
import type { ViewsInput } from "../views/view-rules.ts";
import type { AppDefinition } from "./app-definition.ts";
import type { ViewsOptions } from "./view-names.ts";

type EntrySort = "tool" | "prompt" | "resource";

/** Checks of entries written by hand, by what messages call one of them. */
const checks: Readonly<Record<EntrySort, (name: string, entry: unknown) => void>> = {
  tool: readBespokeTool,
  prompt: readBespokePrompt,
  resource: assertBespokeResource,
};

/**
 * Adds entries written by hand to those before them.
 *
 * @throws SurfaceError `NAME_COLLISION`, `MISSING_HANDLER`, `INVALID_OPTION`, `INVALID_NAME`.
 */
export function addEntries<TEntry>(
  sort: EntrySort,
  known: ReadonlyMap<string, TEntry>,
  more: Readonly<Record<string, TEntry | undefined>>,
): ReadonlyMap<string, TEntry> {
  const all = new Map(known);
  for (const [name, entry] of Object.entries(more)) {
    if (entry === undefined) continue;
    checks[sort](name, entry);
    if (all.has(name)) throw new SurfaceError("NAME_COLLISION", `Adding ${sort} "${name}": there is one already`);
    all.set(name, entry);
  }
  return all;
}

/**
 * Adds a mount to those before it.
 *
 * @throws SurfaceError `NAME_COLLISION` for a prefix that is taken by another mount, `INVALID_NAME` for one that no name can
 * begin with, `INVALID_OPTION` for what is no source.
 */
export function addMount(
  known: ReadonlyMap<string, MountSource>,
  prefix: string,
  source: MountSource,
): ReadonlyMap<string, MountSource> {
  assertPrefix(prefix);
  assertMountSource(source, `Adding ${mountOrigin(prefix)}`);
  if (known.has(prefix)) throw new SurfaceError("NAME_COLLISION", `Adding mount "${prefix}": there is one already`);
  return new Map([...known, [prefix, source]]);
}

/**
 * Refuses an argument of `.context()` that is no function, a second call, and a call after handlers were added.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertContext({ context, tools, prompts, resources }: AppDefinition, factory: unknown): void {
  const doing = "Calling context()";
  if (typeof factory !== "function") {
    throw invalidOption(doing, "it takes a function that makes what handlers have of their own, for each call");
  }
  if (context !== undefined) throw invalidOption(doing, "it was called already; once is enough");
  if (tools.size + prompts.size + resources.size > 0) {
    const before = "call it before tools(), prompts() and resources()";
    throw invalidOption(doing, `there are handlers that were written without it; ${before}`);
  }
}

/** The arguments of `.confirm()`. */
export interface GivenConfirm {
  readonly which: unknown;
  readonly options: ConfirmOptions | undefined;
}

/**
 * Reads the rule for calls of clients that cannot ask their user.
 *
 * @param known - the rule of a former call.
 * @throws SurfaceError `INVALID_OPTION`, also for a second call.
 */
export function readConfirm(known: ConfirmRule | undefined, { which, options = {} }: GivenConfirm): ConfirmRule {
  const doing = "Calling confirm()";
  if (known !== undefined) throw invalidOption(doing, "it was called already; once is enough");
  if (which !== "mutating") {
    throw invalidOption(doing, 'what users confirm must be "mutating": tools that may change something');
  }
  return readOptions(options, { otherwise: withDefault(oneOf("refuse", "allow"), "refuse") }, doing).otherwise;
}

/**
 * Reads the arguments of `.views()`. Rules are read and copied at once; those of a source are read when the app is opened.
 *
 * @throws SurfaceError `INVALID_OPTION` naming the rule and the field.
 */
export function readViewsInput(
  input: ViewsInput,
  options: Partial<ViewsOptions> = {},
): Required<Pick<AppDefinition, "views" | "replay">> {
  const { replay } = readOptions(options, { replay: withDefault(flag, false) }, "Calling views()");
  return { views: isSource(input) ? input : readViewRules(input), replay };
}
