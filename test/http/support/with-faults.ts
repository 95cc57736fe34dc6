import type { HttpAuth } from "../../../src/http/auth/http-auth.ts";
import type { Issuer } from "./issuer.ts";

/** The same, with a verifier that throws at one token of the issuer's and never answers another. */
export function withFaults(auth: HttpAuth, { tokens }: Pick<Issuer, "tokens">): HttpAuth {
  return {
    ...auth,
    async verify(token, options) {
      if (token === tokens.VERIFIER_500) throw new Error(`the user store is gone, asked about ${token}`);
      if (token === tokens.VERIFIER_HANG) return new Promise(() => {});
      return auth.verify(token, options);
    },
  };
}
