/** Whose pages may ask: those of the origins in the list, or those of this machine. */
export type AllowedOrigins = readonly string[] | "loopback";

const loopbackOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/;

/** The values of `Origin` that are answered. */
export class OriginList {
  readonly #origins: ReadonlySet<string> | "loopback";

  constructor(origins: AllowedOrigins) {
    this.#origins = origins === "loopback" ? origins : new Set(origins.map((origin) => origin.toLowerCase()));
  }

  /** Whether a value is one of them. `null`, which every sandboxed page and every file sends, is none. */
  has(value: string): boolean {
    const origin = value.toLowerCase();
    if (this.#origins === "loopback") return loopbackOrigin.test(origin);
    return origin !== "null" && this.#origins.has(origin);
  }
}
