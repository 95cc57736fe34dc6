import type { HttpRequest } from "../message.ts";

const maxTokenChars = 16 * 1024;

/** RFC 6750: the scheme, in any case, and one token. */
const bearerForm = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const bearerScheme = /^bearer(?: |$)/i;

/**
 * The token that a request came with. `missing`: none of this scheme; `malformed`: not exactly one that can be read. A token
 * in a query is not looked for: addresses end in logs.
 */
export function readBearerToken(request: HttpRequest): { readonly token: string } | "missing" | "malformed" {
  const value = request.header("authorization");
  if (value === undefined) return "missing";
  if (request.count("authorization") !== 1) return "malformed";
  if (!bearerScheme.test(value)) return "missing";
  if (value.length > maxTokenChars + "bearer ".length) return "malformed";
  const token = bearerForm.exec(value)?.[1];
  return token === undefined ? "malformed" : { token };
}
