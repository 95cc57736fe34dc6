import { internalError, onRejection, type FaultReporter } from "../surface/fault.ts";
import type { HttpRequest } from "./message.ts";

/** Request from which the option `clientAddress` reads the address of its client. */
export interface AddressedRequest {
  /** Address at the other end of the connection: a proxy's, behind one. Undefined where the runtime does not tell. */
  readonly address: string | undefined;
  /** Returns a header by its name, in any case. Values of a header that came more than once are joined by commas. */
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
 * Creates the function that reads addresses of clients, without brackets and ports. It returns the address of the connection where
 * the option returns no address, and where it throws.
 */
export function createAddressReader(
  read: ((request: AddressedRequest) => string | undefined) | undefined,
  report: FaultReporter,
): (request: HttpRequest) => string | undefined {
  if (read === undefined) return ({ address }) => address;
  let hasFailed = false;
  const fail = (cause: unknown): void => {
    if (hasFailed) return;
    // Once: the sender of requests would write the log.
    hasFailed = true;
    internalError(cause, 'the option "clientAddress" of the HTTP server (reported once)', report);
  };
  return (request) => {
    const { address } = request;
    try {
      const found: unknown = read({ address, header: (name) => request.header(name.toLowerCase()) });
      onRejection(found, fail);
      return toAddress(found) ?? address;
    } catch (cause) {
      fail(cause);
      return address;
    }
  };
}
