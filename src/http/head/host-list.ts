/** A name or address and maybe a port: no user, no path, nothing else that two readers could read differently. */
const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/;

/** The values of `Host` that are answered. Without this list a page of anybody's could reach a server on its reader's machine. */
export class HostList {
  readonly #hosts: ReadonlySet<string>;

  /** @param hosts - a name with any port, or with the one that it names. */
  constructor(hosts: readonly string[]) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /** Whether a value is one of them, character by character but for case. */
  has(value: string): boolean {
    const host = value.toLowerCase();
    const name = hostForm.exec(host)?.[1];
    return name !== undefined && (this.#hosts.has(host) || this.#hosts.has(name));
  }
}
