import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { MountedGate } from "../catalog/mounts/mounted-entry.ts";
import { mountedPath, reservesWireName } from "../catalog/mounts/mount.ts";
import { gatewayToolNames } from "../catalog/wire-name.ts";
import { SurfaceError, type Issue } from "../errors.ts";
import { isRecord } from "../options/is-object.ts";
import { invalidOption } from "../options/read-options.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { AppDefinition } from "./app-definition.ts";
import type { AppNames } from "./app-names.ts";
import { mayShowGateway } from "./read-steps.ts";

/** The kinds of names, each with its noun in messages. */
const nouns = { tools: "tool", resources: "resource", prompts: "prompt", mutating: "mutating tool" } as const;

type NameKind = keyof typeof nouns;

// Has the keys of `nouns`.
const kinds = Object.keys(nouns) as readonly NameKind[];

/** The names that an app exposes: `true` under each. A kind that is left out has none. */
export type ExactNames = { readonly [_ in NameKind]?: Readonly<Record<string, true>> };

/** known names, given names -> problems of names that the app does not have. */
type NamesKnown<TName extends string, TGiven> = {
  readonly [Key in keyof TGiven]: Key extends TName
    ? true
    : TypeProblem<`"${Key & string}" is in exactly(), and the app does not have it`>;
};

// The record requires each name. Of a pattern, such as the names of a mount, it requires none: the catalog is compared at boot.
/** The argument of `.exactly()`: all names of the app, and no others. */
export type ExactlyChecked<TNames extends AppNames, TGiven> = {
  readonly [Noun in keyof TGiven]: Noun extends NameKind
    ? NamesKnown<TNames[Noun], TGiven[Noun]>
    : TypeProblem<"exactly() takes tools, resources, prompts and mutating">;
} & {
  readonly [Noun in NameKind as [TNames[Noun]] extends [never] ? never : Noun]: Readonly<Record<TNames[Noun], true>>;
};

const doing = "Cannot call exactly()";

function readNames(kind: string, names: unknown): readonly string[] {
  if (names === undefined) return [];
  if (!isRecord(names)) throw invalidOption(doing, `"${kind}" must be a record of names`);
  return Object.entries(names).map(([name, value]) => {
    if (value !== true) throw invalidOption(doing, `"${kind}" must have true under "${name}"`);
    return name;
  });
}

/** Exact names by kind, as `.exactly()` was given them. */
export type ReadNames = Readonly<Record<NameKind, ReadonlySet<string>>>;

/** Reads the argument of `.exactly()`. @throws SurfaceError `INVALID_OPTION`, also for a second call. */
export function readExactNames(known: ReadNames | undefined, names: unknown): ReadNames {
  if (known !== undefined) throw invalidOption(doing, "it was called already; call it once");
  if (!isRecord(names)) throw invalidOption(doing, "its argument must be an object");
  const unknown = Object.keys(names).find((kind) => !Object.hasOwn(nouns, kind));
  if (unknown !== undefined) {
    throw invalidOption(doing, `it takes tools, resources, prompts and mutating, and not "${unknown}"`);
  }
  const sets = kinds.map((kind) => [kind, new Set(readNames(kind, Reflect.get(names, kind)))]);
  // Has every kind.
  return Object.freeze(Object.fromEntries(sets) as Record<NameKind, ReadonlySet<string>>);
}

/** Creates the error about an app that differs from a review of it. Its message has the first five issues. */
export function exposureDiffers(issues: readonly Issue[], subject: string): SurfaceError {
  const shown = issues.slice(0, 5).map(({ message }) => message);
  const more = issues.length > shown.length ? [`and ${issues.length - shown.length} more`] : [];
  return new SurfaceError("EXPOSURE_DIFFERS", `${subject}: ${[...shown, ...more].join("; ")}`, { issues });
}

function namesOf(catalog: Catalog, views: AppDefinition["views"]): ReadNames {
  const gateway = mayShowGateway(views) ? gatewayToolNames : [];
  // Only mounts have internal operations.
  const { tools } = catalog;
  const mutating = tools.filter(({ hints }) => !hints.readOnlyHint);
  return {
    tools: new Set([...tools.map(({ name }) => name), ...gateway]),
    resources: new Set([...catalog.resources, ...catalog.templates].map(({ id }) => id)),
    prompts: new Set(catalog.prompts.map(({ name }) => name)),
    mutating: new Set([...mutating.map(({ name }) => name), ...gateway.filter((name) => name === "call")]),
  };
}

/** Returns whether a name is reserved for a mount, whose entries come and go. */
function isMounted(kind: NameKind, name: string, mounts: AppDefinition["mounts"]): boolean {
  if (kind === "prompts") return false;
  const prefixes = [...mounts.keys()];
  if (kind === "resources") return prefixes.some((prefix) => name.startsWith(mountedPath(prefix, "")));
  return prefixes.some((prefix) => prefix === "" || reservesWireName(prefix, name));
}

/**
 * Compares an app with the names of its `.exactly()`. Mounted entries are left to {@link toMountedGate}.
 *
 * @param catalog - the catalog without mounts.
 * @throws SurfaceError `EXPOSURE_DIFFERS` that names each difference in its `issues`.
 */
export function assertExactNames({ exact, mounts, views, surface }: AppDefinition, catalog: Catalog): void {
  if (exact === undefined) return;
  const names = namesOf(catalog, views);
  const issues = kinds.flatMap((kind): readonly Issue[] => {
    const extra = [...names[kind]].filter((name) => !exact[kind].has(name));
    const absent = [...exact[kind]].filter((name) => !names[kind].has(name) && !isMounted(kind, name, mounts));
    const issue = (name: string, problem: string): Issue => ({
      path: `${kind}.${name}`,
      message: `${nouns[kind]} "${name}" is ${problem}`,
    });
    return [
      ...extra.map((name) => issue(name, "in the app, and not in exactly()")),
      ...absent.map((name) => issue(name, "in exactly(), and not in the app")),
    ];
  });
  if (issues.length > 0) throw exposureDiffers(issues, `Cannot open the app over surface "${surface.name}"`);
}

/** Returns whether names include one, or a pattern that ends with `*` and fits it. */
function includes(names: ReadonlySet<string>, patterns: readonly string[], name: string): boolean {
  return names.has(name) || patterns.some((pattern) => name.startsWith(pattern.slice(0, -1)));
}

/** Returns a function that refuses mounted entries that `.exactly()` does not name; `undefined` without exact names. */
export function toMountedGate(exact: ReadNames | undefined): MountedGate | undefined {
  if (exact === undefined) return undefined;
  const patterns = Object.fromEntries(kinds.map((kind) => [kind, [...exact[kind]].filter((one) => one.endsWith("*"))]));
  const assertNamed = (kind: NameKind, name: string, origin: string): void => {
    if (includes(exact[kind], patterns[kind] ?? [], name)) return;
    const message = `${nouns[kind]} "${name}" is in the app, and not in exactly()`;
    throw exposureDiffers([{ path: `${kind}.${name}`, message }], `Cannot show ${origin}`);
  };
  return {
    assertTool({ name, origin, hints, isInternal }: ToolEntry) {
      if (isInternal === true) return;
      assertNamed("tools", name, origin);
      if (!hints.readOnlyHint) assertNamed("mutating", name, origin);
    },
    assertResource: ({ id, origin }) => assertNamed("resources", id, origin),
  };
}
