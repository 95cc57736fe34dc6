import { readBespokePrompt, type AnyBespokePrompt } from "../catalog/bespoke-prompt.ts";
import type { AnyBespokeResource } from "../catalog/bespoke-resource.ts";
import { readBespokeTool, type AnyBespokeTool } from "../catalog/bespoke-tool.ts";
import type { MountSource } from "../catalog/mount.ts";
import { SurfaceError } from "../errors.ts";
import { assertMountSource } from "../catalog/assert-mount-source.ts";
import { assertPrefix, mountOrigin } from "../catalog/mount-prefix.ts";
import { assertBespokeResource } from "../catalog/assert-bespoke-resource.ts";

/** Entries by name, as an author writes them. */
type Given<TEntry> = Readonly<Record<string, TEntry | undefined>>;

interface Adding {
  /** What messages call one of them. */
  readonly sort: "tool" | "prompt" | "resource";
  readonly check: (name: string, entry: unknown) => void;
}

function add<TEntry>(
  known: ReadonlyMap<string, TEntry>,
  more: Given<TEntry>,
  { sort, check }: Adding,
): ReadonlyMap<string, TEntry> {
  const all = new Map(known);
  for (const [name, entry] of Object.entries(more)) {
    if (entry === undefined) continue;
    check(name, entry);
    if (all.has(name)) throw new SurfaceError("NAME_COLLISION", `Adding ${sort} "${name}": there is one already`);
    all.set(name, entry);
  }
  return all;
}

/** Bespoke tools and those before them. @throws SurfaceError `NAME_COLLISION`, `MISSING_HANDLER`, `INVALID_OPTION`. */
export function addTools(
  known: ReadonlyMap<string, AnyBespokeTool>,
  more: Given<AnyBespokeTool>,
): ReadonlyMap<string, AnyBespokeTool> {
  return add(known, more, { sort: "tool", check: readBespokeTool });
}

/** Prompts and those before them. @throws as {@link addTools} does. */
export function addPrompts(
  known: ReadonlyMap<string, AnyBespokePrompt>,
  more: Given<AnyBespokePrompt>,
): ReadonlyMap<string, AnyBespokePrompt> {
  return add(known, more, { sort: "prompt", check: readBespokePrompt });
}

/** Hand-written resources and those before them. @throws as {@link addTools} does, `INVALID_NAME`. */
export function addResources(
  known: ReadonlyMap<string, AnyBespokeResource>,
  more: Given<AnyBespokeResource>,
): ReadonlyMap<string, AnyBespokeResource> {
  return add(known, more, { sort: "resource", check: assertBespokeResource });
}

/**
 * A mount and those before it.
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
