import { SurfaceError } from "../errors.ts";

/** One segment of a template of its own: a text that has to be there, or a variable. */
export type UriSegment = { readonly literal: string } | { readonly variable: string };

const schemePattern = /^[a-z][a-z0-9+.-]*:\/\/[^{}/]+(?:\/|$)/;
const literalPattern = /^[A-Za-z0-9._~!$&'()*+,;=:@%-]*$/;
const variablePattern = /^\{([A-Za-z0-9_]+)\}$/;
const maxLength = 1024;

function refuse(origin: string, uri: string, must: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Adding ${origin}: its URI "${uri}" ${must}`);
}

function assertFree(uri: unknown, origin: string, prefix: string): asserts uri is string {
  if (typeof uri !== "string" || uri.length > maxLength || !schemePattern.test(uri)) {
    throw refuse(origin, String(uri), 'must be like "app://name/…": a lower-case scheme, then segments');
  }
  if (uri.startsWith(prefix)) throw refuse(origin, uri, `must not begin with "${prefix}", which is for keys`);
}

/**
 * Refuses a URI of a resource's own that is none, or that begins as those of members do.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertFreeUri(uri: unknown, origin: string, prefix: string): asserts uri is string {
  assertFree(uri, origin, prefix);
  if (uri.split("/").every((segment) => literalPattern.test(segment))) return;
  throw refuse(origin, uri, "must be written with no more than what needs no encoding");
}

/**
 * Reads a template of a resource's own: every variable is one whole segment, behind a scheme and a first segment.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readFreeTemplate(uri: unknown, origin: string, prefix: string): readonly UriSegment[] {
  assertFree(uri, origin, prefix);
  return uri.split("/").map((segment) => {
    const variable = variablePattern.exec(segment)?.[1];
    if (variable !== undefined) return { variable };
    if (literalPattern.test(segment)) return { literal: segment };
    throw refuse(origin, uri, "must have each {variable} as a whole segment");
  });
}
