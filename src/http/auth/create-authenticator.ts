import type { CatalogScopes } from "../../catalog/entry-scopes.ts";
import { SurfaceError } from "../../errors.ts";
import { rpcCodes } from "../../mcp/protocol.ts";
import { pickOptions } from "../../options/read-options.ts";
import type { Clock } from "../../spine/clock.ts";
import type { Caller } from "../../surface/caller.ts";
import type { FaultReporter } from "../../surface/fault.ts";
import type { HttpAnswer, HttpRequest } from "../message.ts";
import { type HttpAuth, authFields, toHttpAuth, type AuthOptions } from "./http-auth.ts";
import { readVerdict } from "./verdict.ts";
import {
  type Leaving,
  type VerificationBudgets,
  Verifications,
  VerifierFaults,
  withoutSecrets,
} from "./verifications.ts";

/** Dependencies of an {@link Authenticator}. */
export interface AuthenticatorDeps {
  readonly scopes: CatalogScopes;
  /** Path of the MCP endpoint. */
  readonly path: string;
  readonly clock: Clock;
  /** Bounds of the tokens that are being verified. */
  readonly budgets: VerificationBudgets;
  readonly report: FaultReporter;
  /** Milliseconds since 1970. @default the clock of this machine */
  readonly today?: () => number;
}

/** Authenticates requests before anything of their bodies is read. */
export type Authenticator = Pick<TokenAuthenticator, "authenticate" | "challenge" | "metadataPaths" | "metadata">;

const maxTokenChars = 16 * 1024;

/** RFC 6750: the scheme, in any case, and one token. */
const bearerForm = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const bearerScheme = /^bearer(?: |$)/i;

/**
 * Reads the token of a request. `missing`: none of this scheme; `malformed`: more than one, or one of another form. Ignores tokens in
 * a query, because URLs end in logs.
 */
function readBearerToken(request: HttpRequest): { readonly token: string } | "missing" | "malformed" {
  const value = request.header("authorization");
  if (value === undefined) return "missing";
  if (request.count("authorization") !== 1) return "malformed";
  if (!bearerScheme.test(value)) return "missing";
  if (value.length > maxTokenChars + "bearer ".length) return "malformed";
  const token = bearerForm.exec(value)?.[1];
  return token === undefined ? "malformed" : { token };
}

/** Status, error and headers of an answer to a request that is not authenticated. */
interface Failure {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

function toAnswer({ status, code, message, data, headers }: Failure): HttpAnswer {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
    // The body of the request is not read, so its id is not known.
    body: JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message, ...(data && { data }) } }),
  };
}

const clientGone: HttpAnswer = Object.freeze({ status: 499 });

const busy: HttpAnswer = Object.freeze(
  toAnswer({
    status: 503,
    code: rpcCodes.busy,
    message: "Server busy: too many tokens are being verified",
    headers: { "retry-after": "1" },
  }),
);

const wellKnown = "/.well-known/oauth-protected-resource";

/** A scope for the client and its issuer, which no resource needs. */
const offlineAccess = "offline_access";

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Returns a path to append to another one; empty for the root. */
function toTail(path: string): string {
  return path === "/" ? "" : path;
}

/**
 * Authenticates by access tokens. Calls the verifier for a valid token again once no verification of it runs, since the token may have
 * been revoked a moment ago. A refused token is refused for two seconds without a call.
 */
class TokenAuthenticator {
  /**
   * The paths of the metadata (RFC 9728): under the resource's path, under the server's own if a proxy has changed it, and at the
   * root. Empty without authorization servers: metadata that names none sends clients into an OAuth flow that cannot succeed.
   */
  readonly metadataPaths: readonly string[];
  readonly #auth: HttpAuth;
  readonly #setting: AuthenticatorDeps;
  readonly #verifications: Verifications;
  readonly #faults: VerifierFaults;
  readonly #metadataUrl: string | undefined;
  readonly #metadata: string;

  constructor(auth: HttpAuth, setting: AuthenticatorDeps) {
    this.#auth = auth;
    this.#setting = setting;
    const { budgets, clock, report, path, scopes } = setting;
    this.#verifications = new Verifications({
      budgets,
      clock,
      timeoutMs: auth.timeoutMs,
      verify: (token, signal) => auth.verify(token, { signal }),
      read: (verdict, token) => this.#read(verdict, token),
    });
    this.#faults = new VerifierFaults(clock, report);
    const { resource, authorizationServers, scopesSupported = [] } = auth;
    const { origin, pathname } = new URL(resource);
    const own = wellKnown + toTail(pathname);
    const isPublished = authorizationServers.length > 0;
    this.metadataPaths = Object.freeze(isPublished ? [...new Set([own, wellKnown + toTail(path), wellKnown])] : []);
    this.#metadataUrl = isPublished ? origin + own : undefined;
    // Only the scopes that clients need to begin with: a scope of a tool would reveal that there is such a tool.
    const supported = new Set([...auth.scopes, scopes.read, scopes.write, ...scopesSupported]);
    supported.delete(offlineAccess);
    this.#metadata = JSON.stringify({
      resource,
      authorization_servers: authorizationServers,
      scopes_supported: [...supported].toSorted(),
      bearer_methods_supported: ["header"],
    });
  }

  /**
   * Returns the caller, or the answer to a request without one: 401, 403, or 503 if the token cannot be verified now. Never rejects.
   *
   * @param reply - its `onGone` is used meanwhile: no token is verified for a client that has left.
   * @param address - the client's address, under which unknown tokens are counted. @default the request's
   */
  async authenticate(
    request: HttpRequest,
    reply: Leaving = { isOver: false, onGone: undefined },
    address: string | undefined = request.address,
  ): Promise<Caller | HttpAnswer> {
    const read = readBearerToken(request);
    if (read === "missing") return this.#refuse();
    if (read === "malformed") return this.#refuse("invalid_token");
    const outcome = await this.#verifications.verify(read.token, address, reply);
    if (outcome === "refused") return this.#refuse("invalid_token");
    if (outcome === "busy") return busy;
    if (outcome === "left") return clientGone;
    if (outcome instanceof SurfaceError) return this.#fail(outcome);
    return this.#auth.scopes.every((scope) => outcome.scopes.includes(scope)) ? outcome : this.#deny();
  }

  /** Returns the value of `WWW-Authenticate` for a caller without all of these scopes. */
  challenge(scopes: readonly string[]): string {
    return this.#challenge(scopes, "insufficient_scope");
  }

  /** Returns the metadata (RFC 9728). */
  metadata(): HttpAnswer {
    // The only answer that caches may keep. `vary`, because an answer to a request without an Origin must not reach a page.
    const headers = { "content-type": "application/json", "cache-control": "max-age=300", vary: "origin" };
    return { status: 200, headers, body: this.#metadata };
  }

  /** Writes `WWW-Authenticate` (RFC 6750). Adds the scopes of every token: with fewer, the client would be refused again. */
  #challenge(wanted: readonly string[], error?: "invalid_token" | "insufficient_scope"): string {
    const scope = [...new Set([...this.#auth.scopes, ...wanted])].join(" ");
    return [
      ...(error === undefined ? [] : [`Bearer error=${quote(error)}`]),
      `${error === undefined ? "Bearer " : ""}scope=${quote(scope)}`,
      ...(this.#metadataUrl === undefined ? [] : [`resource_metadata=${quote(this.#metadataUrl)}`]),
    ].join(", ");
  }

  #read(verdict: unknown, token: string): Caller | undefined {
    const { today = Date.now } = this.#setting;
    const { resource, identityClaims } = this.#auth;
    const elsewhere = (message: string): void =>
      void this.#faults.add(new SurfaceError("VALIDATION_ERROR", withoutSecrets(message, token)));
    return readVerdict(verdict, { token, resource, elsewhere, now: today() / 1000, identityClaims });
  }

  #refuse(error?: "invalid_token"): HttpAnswer {
    const message =
      error === undefined ? "A bearer token is required" : "The bearer token is not valid for this server";
    const headers = { "www-authenticate": this.#challenge([this.#setting.scopes.read], error) };
    return toAnswer({ status: 401, code: rpcCodes.unauthenticated, message, headers });
  }

  #deny(): HttpAnswer {
    const { scopes } = this.#auth;
    const headers = { "www-authenticate": this.challenge([this.#setting.scopes.read]) };
    const code = rpcCodes.insufficientScope;
    return toAnswer({ status: 403, code, message: "Insufficient scope", data: { scopes }, headers });
  }

  /** Answers with 503. After 401 a client would drop a token that may be valid, and ask its user for another. */
  #fail(cause: SurfaceError): HttpAnswer {
    const correlationId = this.#faults.add(cause);
    const data = correlationId === undefined ? {} : { correlationId };
    return toAnswer({ status: 503, code: rpcCodes.internal, message: "Tokens cannot be verified now", data });
  }
}

/**
 * Creates an authenticator. The token of a request ends there: a caller has copies of the verifier's answer, and reports of a failed
 * verifier do not contain the token. Needs no disposing.
 *
 * @throws SurfaceError `INVALID_OPTION` for an `auth` that neither `bearer()` nor `oauthResource()` would have made.
 */
export function createAuthenticator(auth: HttpAuth, setting: AuthenticatorDeps): Authenticator {
  const verify: HttpAuth["verify"] = (token, options) => auth.verify(token, options);
  const read = pickOptions<AuthOptions, typeof authFields>(auth, authFields, "Cannot serve over HTTP with auth");
  return new TokenAuthenticator({ ...toHttpAuth(read), verify }, setting);
}
