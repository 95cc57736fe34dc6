import { SurfaceError } from "../errors.ts";
import { isRecord } from "../options/is-object.ts";
import { text, type OptionFields } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import { mimeTypeOption } from "../tags/looks.ts";
import { accessFieldsWithoutArgument } from "../tags/scopes.ts";
import { isClimbing } from "./is-climbing.ts";
import { mountedPath } from "./mount-prefix.ts";
import type { MountedResource } from "./mount.ts";

const maxPathLength = 512;
const maxTold = 64;

// RFC 3986's pchar: what needs encoding is encoded.
const segmentPattern = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;

// oxlint-disable-next-line no-control-regex -- control characters are what it is for
const control = /[\u0000-\u001f\u007f-\u009f]/;

/** How messages name a resource that is mounted. */
export function mountedResourceOrigin(prefix: string, path: string): string {
  return `resource "${mountedPath(prefix, path.slice(0, maxTold))}"`;
}

function isSegment(segment: string): boolean {
  if (!segmentPattern.test(segment)) return false;
  try {
    const decoded = decodeURIComponent(segment);
    return decoded !== "." && !control.test(decoded) && !isClimbing(decoded);
  } catch {
    return false;
  }
}

const fields: OptionFields<MountedResource> = {
  path: text,
  title: text,
  description: text,
  mimeType: mimeTypeOption,
  ...accessFieldsWithoutArgument,
};

/**
 * Refuses a resource that the compiler would have refused, for sources that cast or come from somewhere else: what `keepResource()`
 * gave, since it is read again.
 *
 * @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`.
 */
export function assertMountedResource(given: unknown, prefix: string): asserts given is MountedResource {
  if (!isRecord(given)) throw invalidOption("Mounting a resource", "it must be an object");
  // It is one, and every field is checked below.
  const resource = given as MountedResource;
  const path: unknown = resource.path;
  if (typeof path !== "string") throw invalidOption("Mounting a resource", '"path" must be a text');
  const attempt = `Mounting ${mountedResourceOrigin(prefix, path)}`;
  if (path.length > maxPathLength || !path.split("/").every(isSegment)) {
    const must = `"path" must be segments joined by "/", encoded where they have to be, at most ${maxPathLength} characters`;
    throw new SurfaceError("INVALID_NAME", `${attempt}: ${must}`);
  }
  readOptions(resource, fields, attempt);
}
