import { callable, required, type OptionFields } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import { type HttpAuth, authFields, toHttpAuth, type AuthOptions } from "./http-auth.ts";

/** What {@link bearer} takes. */
export interface BearerOptions extends AuthOptions {
  /** Says what is in a token; `undefined`: it is no good. What throws or does not answer in time lets nobody in. */
  readonly verify: HttpAuth["verify"];
}

const fields = { ...authFields, verify: required(callable) } satisfies OptionFields<BearerOptions>;

/**
 * Lets in who has a token that your own verifier knows. It is asked on every request, so that a token that was taken back is
 * no good from the next one on. Holds nothing that is to be disposed.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { bearer } from "surface-mcp/http";
 *
 * const resource = "https://ci.example/mcp";
 * const people = new Map([["0a1b2c", { id: "alice", scopes: ["ci:read"], resource }]]);
 * const auth = bearer({ resource, verify: async (token) => people.get(token) });
 * ```
 */
export function bearer(options: BearerOptions): HttpAuth {
  const { verify, ...common } = readOptions(options, fields, "Making bearer()");
  return Object.freeze({ ...toHttpAuth(common), verify });
}
