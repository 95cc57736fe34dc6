import { matching, type Option } from "../options/option.ts";
import { pickOptions } from "../options/read-options.ts";

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
