import { readBespokePrompt } from "../catalog/custom/bespoke-prompt.ts";
import { assertBespokeResource } from "../catalog/custom/bespoke-resource.ts";
import { readBespokeTool } from "../catalog/custom/bespoke-tool.ts";
import {
  assertMountSource,
  type MountSource,
  assertPrefix,
  mountOrigin,
  reservesWireName,
} from "../catalog/mounts/mount.ts";
import { pullOrigin, pullToolNames } from "../catalog/resources/pull-tools.ts";
import { gatewayOrigin, gatewayToolNames, replayOrigin, replayToolName, toWireName } from "../catalog/wire-name.ts";
import { SurfaceError } from "../errors.ts";
import { flag, oneOf, withDefault } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import type { ConfirmOptions, ConfirmRule } from "../tags/tool-options.ts";
import { readViewRules } from "../views/read-view-rules.ts";
import type { ViewsInput } from "../views/view-rules.ts";
import { findGateway, isRulesSource } from "../views/views.ts";
import type { AppDefinition } from "./app-definition.ts";
import type { ViewsOptions } from "./view-names.ts";

type EntryKind = "tool" | "prompt" | "resource";

const checks: Readonly<Record<EntryKind, (name: string, entry: unknown) => void>> = {
  tool: readBespokeTool,
  prompt: readBespokePrompt,
  resource: assertBespokeResource,
};

/** Adds hand-written entries. @throws SurfaceError `NAME_COLLISION`, `MISSING_HANDLER`, `INVALID_OPTION`, `INVALID_NAME`. */
export function addEntries<TEntry>(
  kind: EntryKind,
  known: ReadonlyMap<string, TEntry>,
  more: Readonly<Record<string, TEntry | undefined>>,
): ReadonlyMap<string, TEntry> {
  const all = new Map(known);
  for (const [name, entry] of Object.entries(more)) {
    if (entry === undefined) continue;
    checks[kind](name, entry);
    if (all.has(name)) {
      throw new SurfaceError("NAME_COLLISION", `Cannot add ${kind} "${name}": the app has one; use another name`);
    }
    all.set(name, entry);
  }
  return all;
}

/** Adds a mount. @throws SurfaceError `NAME_COLLISION` if the prefix is taken, `INVALID_NAME`, `INVALID_OPTION`. */
export function addMount(
  known: ReadonlyMap<string, MountSource>,
  prefix: string,
  source: MountSource,
): ReadonlyMap<string, MountSource> {
  assertPrefix(prefix);
  assertMountSource(source, `Cannot add ${mountOrigin(prefix)}`);
  if (known.has(prefix)) {
    throw new SurfaceError("NAME_COLLISION", `Cannot add mount "${prefix}": the app has one; use another prefix`);
  }
  return new Map([...known, [prefix, source]]);
}

/** Checks a call of `.context()`: a function, once, before handlers. @throws SurfaceError `INVALID_OPTION`. */
export function assertContext({ context, tools, prompts, resources }: AppDefinition, factory: unknown): void {
  const doing = "Cannot call context()";
  if (typeof factory !== "function") {
    throw invalidOption(doing, "its argument must be a function that returns the context of a call");
  }
  if (context !== undefined) throw invalidOption(doing, "it was called already; call it once");
  if (tools.size + prompts.size + resources.size > 0) {
    throw invalidOption(doing, "the app has handlers already; call it before tools(), prompts() and resources()");
  }
}

/** The arguments of `.confirm()`. */
export interface ConfirmArguments {
  readonly which: unknown;
  readonly options: ConfirmOptions | undefined;
}

/**
 * Reads the rule for calls whose client cannot ask its user.
 *
 * @param known - the rule of an earlier call.
 * @throws SurfaceError `INVALID_OPTION`, also for a second call.
 */
export function readConfirm(known: ConfirmRule | undefined, { which, options = {} }: ConfirmArguments): ConfirmRule {
  const doing = "Cannot call confirm()";
  if (known !== undefined) throw invalidOption(doing, "it was called already; call it once");
  if (which !== "mutating") {
    throw invalidOption(doing, 'its first argument must be "mutating": tools that may change something');
  }
  return readOptions(options, { otherwise: withDefault(oneOf("refuse", "allow"), "refuse") }, doing).otherwise;
}

/** Reads the arguments of `.views()`. A source is read when the app is opened. @throws SurfaceError `INVALID_OPTION`. */
export function readViewsInput(
  input: ViewsInput,
  options: Partial<ViewsOptions> = {},
): Required<Pick<AppDefinition, "views" | "replay">> {
  const { replay } = readOptions(options, { replay: withDefault(flag, false) }, "Cannot call views()");
  return { views: isRulesSource(input) ? input : readViewRules(input), replay };
}

/** The origins of names. */
type Claims = Map<string, string>;

function collision(origin: string, problem: string, taken: string): SurfaceError {
  return new SurfaceError(
    "NAME_COLLISION",
    `Cannot name ${origin}: ${problem} is taken by ${taken}; rename one of them`,
  );
}

function claim(claims: Claims, name: string, origin: string): void {
  const taken = claims.get(name);
  if (taken !== undefined) throw collision(origin, `the wire name "${name}"`, taken);
  claims.set(name, origin);
}

/** Claims all names with the prefix of a mount, since its names are known only at run time. */
function claimMounts(claims: Claims, mounts: AppDefinition["mounts"]): void {
  const origins = new Map(Array.from(mounts.keys(), (prefix) => [prefix, mountOrigin(prefix)] as const));
  for (const [prefix, origin] of origins) {
    for (const [name, taken] of [...claims, ...origins]) {
      if (taken !== origin && reservesWireName(prefix, name))
        throw collision(origin, `"${name}", which has its prefix,`, taken);
    }
  }
}

/** Returns whether a view shows a gateway, or may do so later because its rules have a source. */
export function mayShowGateway(views: AppDefinition["views"]): boolean {
  return views !== undefined && ("get" in views || findGateway(views) !== undefined);
}

function claimGateway(claims: Claims, views: AppDefinition["views"]): void {
  if (!mayShowGateway(views)) return;
  const when = views !== undefined && "get" in views ? ", which rules may turn on later" : "";
  for (const name of gatewayToolNames) claim(claims, name, `${gatewayOrigin(name)}${when}`);
}

function claimTools({ exposures, tools, pull, views, replay, mounts }: AppDefinition): void {
  const claims: Claims = new Map();
  for (const { key, as, member } of exposures) {
    const origin = `${member.kind} "${key}"`;
    if (as === "tool") claim(claims, toWireName(key, { origin }), origin);
  }
  for (const [name, { allowDash = false }] of tools) {
    const origin = `tool "${name}"`;
    claim(claims, toWireName(name, { origin, allowDash }), origin);
  }
  if (pull) for (const name of pullToolNames) claim(claims, name, pullOrigin(name));
  claimGateway(claims, views);
  if (replay) claim(claims, replayToolName, replayOrigin);
  claimMounts(claims, mounts);
}

/**
 * Refuses an app in which two tools, two prompts or two resources have one name.
 *
 * @throws SurfaceError `NAME_COLLISION` naming both origins, `INVALID_NAME`.
 */
export function claimNames(definition: AppDefinition): void {
  const { exposures, prompts, resources } = definition;
  claimTools(definition);
  const claims: Claims = new Map();
  for (const name of prompts.keys()) {
    const origin = `prompt "${name}"`;
    claim(claims, toWireName(name, { origin }), origin);
  }
  for (const { key, as, member } of exposures) {
    if (as === "resource" && resources.has(key)) {
      throw collision(`resource "${key}"`, "its key", `${member.kind} "${key}"`);
    }
  }
}
