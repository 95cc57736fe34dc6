import { SurfaceError } from "../errors.ts";
import { matching, type Option } from "../options/option.ts";
import { pickOptions } from "../options/read-options.ts";

/** One segment of a hand-written URI template: a fixed text, or a variable. */
export type UriSegment = { readonly literal: string } | { readonly variable: string };

const schemePattern = /^[a-z][a-z0-9+.-]*:\/\/[^{}/]+(?:\/|$)/;
const literalPattern = /^[A-Za-z0-9._~!$&'()*+,;=:@%-]*$/;
const variablePattern = /^\{([A-Za-z0-9_]+)\}$/;
const maxLength = 1024;

function refuse(origin: string, uri: string, must: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Cannot add ${origin}: its URI "${uri}" ${must}`);
}

function assertScheme(uri: unknown, origin: string, prefix: string): asserts uri is string {
  if (typeof uri !== "string" || uri.length > maxLength || !schemePattern.test(uri)) {
    throw refuse(origin, String(uri), 'must be like "app://name/…": a lower-case scheme, then segments');
  }
  if (uri.startsWith(prefix)) throw refuse(origin, uri, `must not begin with "${prefix}", which is for keys`);
}

/** Refuses an invalid URI of a hand-written resource, and one that begins like the URIs of members. @throws SurfaceError `INVALID_OPTION`. */
export function assertFreeUri(uri: unknown, origin: string, prefix: string): asserts uri is string {
  assertScheme(uri, origin, prefix);
  if (uri.split("/").every((segment) => literalPattern.test(segment))) return;
  throw refuse(origin, uri, "must have only characters that need no percent-encoding");
}

/**
 * Reads the URI template of a hand-written resource: after the scheme and a first segment, every variable is one whole segment.
 *
 * @param variables - the variables of the resource, each of which the template must have once.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readFreeTemplate(
  uri: unknown,
  variables: readonly { readonly name: string; readonly required: boolean }[],
  [origin, prefix]: readonly [origin: string, prefix: string],
): readonly UriSegment[] {
  assertScheme(uri, origin, prefix);
  const named: string[] = [];
  const segments = uri.split("/").map((segment) => {
    const variable = variablePattern.exec(segment)?.[1];
    if (variable !== undefined) {
      named.push(variable);
      return { variable };
    }
    if (literalPattern.test(segment)) return { literal: segment };
    throw refuse(origin, uri, "must have each {variable} as a whole segment");
  });
  const required = variables.filter((variable) => variable.required).map(({ name }) => name);
  if (named.length === variables.length && named.toSorted().join() === required.toSorted().join()) return segments;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot add ${origin}: its "uriTemplate" must have each variable once, and all of them must be required`,
  );
}

/**
 * Prefixes that the key of a member can be appended to: a scheme and `://`, followed by nothing or by segments that each end in a
 * slash. Lower case, since parsers of URIs fold the scheme; segments of RFC 3986's pchar that need no encoding.
 */
export const uriPrefix: Option = matching(
  'like "app://" or "app://name/": a lower-case scheme, then whole segments',
  /^[a-z][a-z0-9+.-]*:\/\/(?:[A-Za-z0-9._~@:-]+\/)*$/,
);

/** Refuses an invalid prefix of URIs. @throws SurfaceError `INVALID_OPTION`. */
export function assertUriPrefix(prefix: string): void {
  pickOptions({ uriPrefix: prefix }, { uriPrefix }, "Cannot create a catalog");
}

// A dot, a slash, and the characters that file systems strip behind dots: plain, or percent-encoded any number of times.
const dot = String.raw`(?:\.|%(?:25)*2e)`;
const slash = String.raw`(?:[/\\]|%(?:25)*(?:2f|5c))`;
const stripped = String.raw`(?:[. ]|%(?:25)*2[e0])*`;

const climbing = new RegExp(`(?:^|${slash})${dot}{2}${stripped}(?:$|${slash})`, "i");

/**
 * Returns whether a text has a segment that leads out of its folder, also after it is decoded once more than it was encoded
 * (CWE-22, CWE-174). Takes time in proportion to the length of the text.
 */
export function isClimbing(text: string): boolean {
  return climbing.test(text);
}
