import { SurfaceError } from "../errors.ts";

// Lower case, since parsers of URIs fold the scheme; segments of RFC 3986's pchar that need no encoding.
const prefixPattern = /^[a-z][a-z0-9+.-]*:\/\/(?:[A-Za-z0-9._~@:-]+\/)*$/;

/**
 * Refuses what a member's key cannot simply be put behind.
 *
 * @throws SurfaceError `INVALID_OPTION` when it is not a scheme and `://`, followed by nothing or by segments that each
 * end in a slash.
 */
export function assertUriPrefix(prefix: string): void {
  if (prefixPattern.test(prefix)) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Setting "uriPrefix": "${prefix}" must be like "app://" or "app://name/": a lower-case scheme, then whole segments`,
  );
}
