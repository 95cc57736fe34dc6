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
