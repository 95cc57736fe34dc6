import { SurfaceError } from "../errors.ts";
import { assertResourceOptions } from "../tags/check-options.ts";
import { isMimeType } from "../tags/looks.ts";
import { isClimbing } from "./is-climbing.ts";
import { unknownResourceKeyOf } from "./keep-operation.ts";
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
    const text = decodeURIComponent(segment);
    return text !== "." && !control.test(text) && !isClimbing(text);
  } catch {
    return false;
  }
}

/**
 * Refuses a resource that the compiler would have refused, for sources that cast or come from somewhere else: what `keepResource()`
 * gave, since it is read again.
 *
 * @throws SurfaceError `INVALID_OPTION`, `INVALID_NAME`.
 */
export function assertMountedResource(given: unknown, prefix: string): asserts given is MountedResource {
  const fail = (attempt: string, problem: string): never => {
    throw new SurfaceError("INVALID_OPTION", `${attempt}: ${problem}`);
  };
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return fail("Mounting a resource", "it must be an object");
  }
  // It is one, and everything that is read of it is looked at.
  const resource = given as MountedResource;
  const path: unknown = resource.path;
  if (typeof path !== "string") return fail("Mounting a resource", '"path" must be a text');
  const attempt = `Mounting ${mountedResourceOrigin(prefix, path)}`;
  if (path.length > maxPathLength || !path.split("/").every(isSegment)) {
    const must = `"path" must be segments joined by "/", encoded where they have to be, at most ${maxPathLength} characters`;
    throw new SurfaceError("INVALID_NAME", `${attempt}: ${must}`);
  }
  // A key that nobody knows may be one that was to keep somebody out.
  const unknown = unknownResourceKeyOf(resource);
  if (unknown !== undefined) fail(attempt, `"${unknown.slice(0, maxTold)}" is nothing that a resource has`);
  assertWords(resource, (problem) => fail(attempt, problem));
  const { scopes, scopesAny, resource: thing } = resource;
  const access = Object.entries({ scopes, scopesAny, resource: thing }).filter(([, value]) => value !== undefined);
  assertResourceOptions("resource", Object.fromEntries(access), attempt);
}

function assertWords({ title, description, mimeType }: MountedResource, fail: (problem: string) => never): void {
  for (const [word, text] of Object.entries({ title, description })) {
    if (text !== undefined && typeof text !== "string") fail(`"${word}" must be a text`);
  }
  if (mimeType !== undefined && !isMimeType(mimeType))
    fail('"mimeType" must be a type and a subtype, like "text/plain"');
}
