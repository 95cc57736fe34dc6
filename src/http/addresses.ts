const mappedPrefix = "::ffff:";

/**
 * Returns what addresses of one client have in common: an IPv4 address itself, the first 64 bits of an IPv6 address, since one
 * client has all addresses behind them.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.includes("."))
    return address.slice(address.toLowerCase().startsWith(mappedPrefix) ? mappedPrefix.length : 0);
  const [left = "", right = ""] = address.split("%", 1).join("").split("::");
  const before = left === "" ? [] : left.split(":");
  const after = right === "" ? [] : right.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

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
