import { internalError, handleRejection, type FaultReporter } from "../surface/fault.ts";
import type { HttpRequest } from "./message.ts";

/** Returns whether a host is a name or an address of this machine. Other names are not looked up. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(host);
}

const mappedPrefix = "::ffff:";

/** Returns whether the address of a client is a loopback address, also one of IPv4 in the form of IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return isLoopback(address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address);
}

/** Returns whether the value of a `Host` header, with or without a port, is a name of this machine. */
export function isLoopbackAuthority(authority: string): boolean {
  const name = authority.toLowerCase().replace(/:[0-9]+$/, "");
  return isLoopback(name === "[::1]" ? "::1" : name);
}

/** Returns an address in the form of a URL: IPv6 in brackets. */
export function toAuthority(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Request from which the option `clientAddress` reads the address of its client. */
export interface AddressedRequest {
  /** Address at the other end of the connection: the address of the proxy, behind one. `undefined` if the runtime has none. */
  readonly address: string | undefined;
  /** Returns a header by its name, in any case. Values of a repeated header are joined by commas. */
  header(name: string): string | undefined;
}

/** Longer than the longest IPv6 address with a zone and a port. */
const maxAddressChars = 100;

const portForm = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

function toAddress(read: unknown): string | undefined {
  if (typeof read !== "string") return undefined;
  const text = read.trim();
  if (text === "" || text.length > maxAddressChars) return undefined;
  const [, inBrackets, ipv4] = portForm.exec(text) ?? [];
  return inBrackets ?? ipv4 ?? text;
}

/**
 * Creates the function that reads addresses of clients, without brackets and ports. It returns the address of the connection if
 * the option returns no address or throws.
 */
export function createAddressReader(
  read: (request: AddressedRequest) => string | undefined,
  report: FaultReporter,
): (request: HttpRequest) => string | undefined {
  let hasFailed = false;
  const fail = (cause: unknown): void => {
    // Once, because the senders of requests would fill the log.
    if (!hasFailed) internalError(cause, 'the option "clientAddress" of the HTTP server (reported once)', report);
    hasFailed = true;
  };
  return (request) => {
    const { address } = request;
    try {
      const found: unknown = read({ address, header: (name) => request.header(name.toLowerCase()) });
      handleRejection(found, fail);
      return toAddress(found) ?? address;
    } catch (cause) {
      fail(cause);
      return address;
    }
  };
}
