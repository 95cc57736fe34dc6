/** Whether only this machine can reach what listens on an address; of other names nobody knows where they lead. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(host);
}

/** Returns whether the address of a client is one of this machine's loopback addresses, also as IPv6 writes those of IPv4. */
export function isLoopbackAddress(address: string): boolean {
  return isLoopback(address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address);
}

/** Whether the value of a `Host` header, with or without a port, is a name of this machine. */
export function isLoopbackAuthority(authority: string): boolean {
  const name = authority.toLowerCase().replace(/:[0-9]+$/, "");
  return isLoopback(name === "[::1]" ? "::1" : name);
}

/** How an address stands in a URL. */
export function toAuthority(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
