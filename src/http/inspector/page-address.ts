import { isLoopbackAuthority } from "../addresses.ts";

/** The address at which browsers find the page, and what follows from it. */
export interface PageAddress {
  /** The scheme and `://`, the start of the page's own `Origin`. */
  readonly scheme: string;
  /** The accepted values of `Host`, each exactly. */
  readonly hosts: ReadonlySet<string>;
  /** The path of the page. Starts and ends with a slash. */
  readonly base: string;
  /** The address of the page, which ends with {@link base}. */
  readonly url: string;
  /** Whether only browsers on this machine may connect. */
  readonly isLocal: boolean;
  /** Differs between the instances of one host, because browsers send a cookie to every port of it. */
  readonly cookieName: string;
  readonly isSecure: boolean;
}

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];

/** Reads the address of a page. */
export function toPageAddress(url: URL): PageAddress {
  const { host, port, origin, protocol } = url;
  const isLocal = isLoopbackAuthority(host);
  const isSecure = protocol === "https:";
  const end = port === "" ? "" : `:${port}`;
  const base = url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`;
  return {
    scheme: `${protocol}//`,
    hosts: new Set(isLocal ? [host, ...loopbackNames.map((name) => `${name}${end}`)] : [host]),
    base,
    url: `${origin}${base}`,
    isLocal,
    cookieName: `surface-inspect-${port === "" ? (isSecure ? "443" : "80") : port}`,
    isSecure,
  };
}
