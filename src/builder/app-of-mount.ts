import { assertMountSource, type MountNames, type MountSource, type NamesOfMount } from "../catalog/mounts/mount.ts";
import type { WireName } from "../catalog/wire-name.ts";
import { SurfaceError } from "../errors.ts";
import { defineSurface } from "../surface/define-surface.ts";
import { kDefinition, type McpOptions } from "./app-definition.ts";
import type { ExposedNames } from "./app-names.ts";
import { mcp, toApp } from "./mcp.ts";
import type { LinkedApp } from "./stages.ts";

/** An app of one source. @typeParam TNames - the names of the source. @default any name, and any tool may change something */
export type MountedApp<TNames extends MountNames = MountNames> = LinkedApp<
  ExposedNames<WireName<TNames["tools"]>, TNames["resources"], WireName<TNames["mutating"]>>,
  Record<never, never>
>;

const maxNameLength = 64;

/** Returns a surface name, which must fit into scopes and URIs. */
function toSurfaceName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z]+/, "");
  return plain === "" ? "app" : plain.slice(0, maxNameLength);
}

/**
 * Creates an app of one source. Entries keep their names, without a prefix, and their paths below `uriPrefix`. An entry that you add
 * to the app replaces an entry of the source with the same name, which is reported. Close the source yourself.
 *
 * @param name - the server's name. In scopes and URIs, `-` replaces other characters than letters, digits, `_` and `-`.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function appOfMount<$Source extends MountSource>(
  name: string,
  source: $Source,
  options: McpOptions = {},
): MountedApp<NamesOfMount<$Source>> {
  if (typeof name !== "string" || name === "") {
    throw new SurfaceError(
      "INVALID_OPTION",
      "Cannot create an app of a source: its name must be a text that is not empty",
    );
  }
  assertMountSource(source, `Cannot create app "${name.slice(0, maxNameLength)}"`);
  const surface = defineSurface(toSurfaceName(name), {});
  const { [kDefinition]: parts } = mcp(surface, { name, ...options }).implement({});
  // One class is behind every stage.
  return toApp({ ...parts, mounts: new Map([["", source]]) }) as unknown as MountedApp<NamesOfMount<$Source>>;
}
