import { SurfaceError } from "../errors.ts";
import { matching, type Option } from "../options/option.ts";
import { pickOptions } from "../options/read-options.ts";

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

/**
 * Prefixes that the key of a member can be appended to: a scheme and `://`, followed by nothing or by segments that each end in a
 * slash. Lower case, since parsers of URIs fold the scheme; segments of RFC 3986's pchar that need no encoding.
 */
export const uriPrefix: Option = matching(
  'like "app://" or "app://name/": a lower-case scheme, then whole segments',
  /^[a-z][a-z0-9+.-]*:\/\/(?:[A-Za-z0-9._~@:-]+\/)*$/,
);

/** Refuses a prefix of URIs that no key can be appended to. @throws SurfaceError `INVALID_OPTION`. */
export function assertUriPrefix(prefix: string): void {
  pickOptions({ uriPrefix: prefix }, { uriPrefix }, "Making a catalog");
}

// A dot, a slash, and what somebody strips behind dots: as they are, or as what decoding makes them, however often.
const dot = String.raw`(?:\.|%(?:25)*2e)`;
const slash = String.raw`(?:[/\\]|%(?:25)*(?:2f|5c))`;
const stripped = String.raw`(?:[. ]|%(?:25)*2[e0])*`;

const climbing = new RegExp(`(?:^|${slash})${dot}{2}${stripped}(?:$|${slash})`, "i");

/**
 * Whether a text has a segment that leads out of the folder that it is read in, also where whoever has it decodes it once
 * more than it was encoded (CWE-22, CWE-174). Takes time in proportion to the length of the text.
 */
export function isClimbing(text: string): boolean {
  return climbing.test(text);
}
