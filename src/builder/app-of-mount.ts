import { assertMountSource, type MountSource } from "../catalog/mounts/mount.ts";
import { SurfaceError } from "../errors.ts";
import { defineSurface } from "../surface/define-surface.ts";
import { kDefinition, type McpOptions } from "./app-definition.ts";
import type { ExposedNames } from "./app-names.ts";
import { mcp, toApp } from "./mcp.ts";
import type { LinkedApp } from "./stages.ts";

/** An app of what a source has, whatever that is: its tools and resources may have any name, and change something. */
export type MountedApp = LinkedApp<ExposedNames<string, string, string>, Record<never, never>>;

const maxNameLength = 64;

/** A surface has to have a name that scopes and URIs can hold. */
function toSurfaceName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z]+/, "");
  return plain === "" ? "app" : plain.slice(0, maxNameLength);
}

/**
 * Makes an app of one source and nothing else: what that has is called as it is there, without a prefix, and its URIs are what all
 * start with and its paths. What is added to the app goes before what the source has of the same name: that is left out then, and
 * reported. Whoever made the source closes it.
 *
 * @param name - how the server is called; what is no letter, digit, `_` or `-` is `-` in scopes and URIs.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function appOfMount(name: string, source: MountSource, options: McpOptions = {}): MountedApp {
  if (typeof name !== "string" || name === "") {
    throw new SurfaceError("INVALID_OPTION", "Making an app of a source: its name comes first, and it must be a text");
  }
  assertMountSource(source, `Making app "${name.slice(0, maxNameLength)}"`);
  const surface = defineSurface(toSurfaceName(name), {});
  const { [kDefinition]: parts } = mcp(surface, { name, ...options }).implement({});
  // The seam: one class behind stages that show only what is legal.
  return toApp({ ...parts, mounts: new Map([["", source]]) }) as unknown as MountedApp;
}
