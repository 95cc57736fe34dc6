/** Whether only this machine can reach what listens on an address; of other names nobody knows where they lead. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(host);
}

/** How an address stands in a URL. */
export function toAuthority(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
