import { SurfaceError } from "../../errors.ts";
import { pickOptions } from "../../options/read-options.ts";
import type { Caller } from "../../surface/caller.ts";
import { rpcCodes } from "../../mcp/protocol.ts";
import type { CatalogScopes } from "../../catalog/entry-scopes.ts";
import type { Clock } from "../../spine/clock.ts";
import type { FaultReporter } from "../../surface/fault.ts";
import type { HttpAnswer, HttpRequest } from "../message.ts";
import { type HttpAuth, authFields, toHttpAuth, type AuthOptions } from "./http-auth.ts";
import { readVerdict } from "./read-verdict.ts";
import { type Leaving, type VerificationBudgets, Verifications } from "./verifications.ts";
import { VerifierFaults, withoutSecrets } from "./verifier-faults.ts";

/** What {@link createAuthenticator} needs besides who may ask. */
export interface AuthenticatorSetting {
  readonly scopes: CatalogScopes;
  /** Where the server is served. */
  readonly path: string;
  readonly clock: Clock;
  /** Places for tokens that are being verified. */
  readonly budgets: VerificationBudgets;
  readonly report: FaultReporter;
  /** Milliseconds since 1970. Default: this machine's. */
  readonly today?: () => number;
}

/** Says who asks, before anything of a request's body is read. */
export interface Authenticator {
  /**
   * Who asks, or what they are answered instead: 401, 403, or 503 where it cannot be known now. Never rejects; in doubt it is
   * nobody.
   *
   * @param reply - whose `onGone` is used meanwhile: nothing is verified for a client that has left.
   * @param address - the client's address, under which unknown tokens are counted. @default the request's
   */
  authenticate(request: HttpRequest, reply?: Leaving, address?: string): Promise<Caller | HttpAnswer>;
  /** The value of `WWW-Authenticate` for who was not granted all of these. */
  challenge(scopes: readonly string[]): string;
  /** Where the metadata of RFC 9728 is served, as paths. */
  readonly metadataPaths: readonly string[];
  /** The metadata itself. */
  metadata(): HttpAnswer;
}

const maxTokenChars = 16 * 1024;

/** RFC 6750: the scheme, in any case, and one token. */
const bearerForm = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const bearerScheme = /^bearer(?: |$)/i;

/**
 * The token that a request came with. `missing`: none of this scheme; `malformed`: not exactly one that can be read. A token
 * in a query is not looked for: addresses end in logs.
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

interface Said {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: object;
  readonly challenge?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whose request it was is not known: nothing of its body was read. */
function toAnswer({ status, code, message, data, challenge, headers }: Said): HttpAnswer {
  return {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(challenge === undefined ? {} : { "www-authenticate": challenge }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message, ...(data && { data }) } }),
  };
}

const nobodyThere: HttpAnswer = Object.freeze({ status: 499 });

const busy: HttpAnswer = Object.freeze(
  toAnswer({
    status: 503,
    code: rpcCodes.busy,
    message: "Server busy: too many tokens are being verified",
    headers: { "retry-after": "1" },
  }),
);

/** Where nobody tells whether a client leaves. */
function createStaying(): Leaving {
  return { isOver: false, onGone: undefined };
}

/**
 * Asks the verifier about a good token again once no verification of it runs, since the token may have been revoked a moment ago.
 * A refused token is refused for two seconds without asking.
 */
class TokenAuthenticator implements Authenticator {
  readonly metadata: () => HttpAnswer;
  readonly metadataPaths: readonly string[];
  readonly #auth: HttpAuth;
  readonly #setting: AuthenticatorSetting;
  readonly #challenges: Challenges;
  readonly #verifications: Verifications;
  readonly #faults: VerifierFaults;

  constructor(auth: HttpAuth, setting: AuthenticatorSetting) {
    this.#auth = auth;
    this.#setting = setting;
    const { budgets, clock } = setting;
    this.#verifications = new Verifications({
      budgets,
      clock,
      timeoutMs: auth.timeoutMs,
      verify: (token, signal) => auth.verify(token, { signal }),
      read: (verdict, token) => this.#read(verdict, token),
    });
    this.#faults = new VerifierFaults(setting.clock, setting.report);
    this.#challenges = new Challenges(auth, setting.scopes, setting.path);
    this.metadata = this.#challenges.answer;
    this.metadataPaths = this.#challenges.paths;
  }

  async authenticate(
    request: HttpRequest,
    reply = createStaying(),
    address = request.address,
  ): Promise<Caller | HttpAnswer> {
    const read = readBearerToken(request);
    if (read === "missing") return this.#refuse();
    if (read === "malformed") return this.#refuse("invalid_token");
    const outcome = await this.#verifications.verify(read.token, address, reply);
    if (outcome === "refused") return this.#refuse("invalid_token");
    if (outcome === "busy") return busy;
    if (outcome === "left") return nobodyThere;
    if (outcome instanceof SurfaceError) return this.#fail(outcome);
    const { scopes } = outcome;
    return this.#auth.scopes.every((scope) => scopes.includes(scope)) ? outcome : this.#deny();
  }

  challenge(scopes: readonly string[]): string {
    return this.#challenges.write(scopes, "insufficient_scope");
  }

  #read(verdict: unknown, token: string): Caller | undefined {
    const { today = Date.now } = this.#setting;
    const { resource, identityClaims } = this.#auth;
    const elsewhere = (sentence: string): void =>
      void this.#faults.add(new SurfaceError("VALIDATION_ERROR", withoutSecrets(sentence, token)));
    return readVerdict(verdict, { token, resource, elsewhere, now: today() / 1000, identityClaims });
  }

  #refuse(error?: "invalid_token"): HttpAnswer {
    const challenge = this.#challenges.write([this.#setting.scopes.read], error);
    const message = error === undefined ? "A bearer token is required" : "The bearer token is not valid here";
    return toAnswer({ status: 401, code: rpcCodes.unauthenticated, message, challenge });
  }

  #deny(): HttpAnswer {
    const scopes = this.#auth.scopes;
    const challenge = this.challenge([this.#setting.scopes.read]);
    return toAnswer({
      status: 403,
      code: rpcCodes.insufficientScope,
      message: "Insufficient scope",
      data: { scopes },
      challenge,
    });
  }

  /** Not 401: the token may be good, and a client would throw it away and ask its user for another. */
  #fail(cause: SurfaceError): HttpAnswer {
    const correlationId = this.#faults.add(cause);
    const message = "Tokens cannot be verified now";
    return toAnswer({
      status: 503,
      code: rpcCodes.internal,
      message,
      data: correlationId === undefined ? {} : { correlationId },
    });
  }
}

/**
 * Makes what says who asks. The token of a request ends here: a caller has copies of what its verifier said, and what is
 * reported of a verifier that fails has nothing of it. Needs no disposing.
 *
 * @throws SurfaceError `INVALID_OPTION` for an `auth` that neither `bearer()` nor `oauthResource()` would have made.
 */
export function createAuthenticator(auth: HttpAuth, setting: AuthenticatorSetting): Authenticator {
  const verify: HttpAuth["verify"] = (token, options) => auth.verify(token, options);
  const read = pickOptions<AuthOptions, typeof authFields>(auth, authFields, "Serving with auth");
  return new TokenAuthenticator({ ...toHttpAuth(read), verify }, setting);
}

const wellKnown = "/.well-known/oauth-protected-resource";

/** A scope of a client's own dealings with its issuer, which no resource has a use for. */
const notOurs = "offline_access";

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** A path as it stands behind another; nothing for the root. */
function toTail(path: string): string {
  return path === "/" ? "" : path;
}

/** What clients are told of how to be let in: challenges (RFC 6750), and the metadata that those lead to (RFC 9728). */
export class Challenges {
  /**
   * The paths of the metadata: under the resource's path, under the server's own where a proxy has changed it, and at the root.
   * Empty without authorization servers: metadata that names none sends clients into an OAuth flow that cannot succeed.
   */
  readonly paths: readonly string[];
  readonly #url: string | undefined;
  readonly #door: readonly string[];
  readonly #document: string;

  /** @param path - where the server itself is served. */
  constructor(
    { resource, scopes: door, authorizationServers, scopesSupported = [] }: HttpAuth,
    scopes: CatalogScopes,
    path: string,
  ) {
    const { origin, pathname } = new URL(resource);
    const own = wellKnown + toTail(pathname);
    const isPublished = authorizationServers.length > 0;
    this.paths = Object.freeze(isPublished ? [...new Set([own, wellKnown + toTail(path), wellKnown])] : []);
    this.#url = isPublished ? origin + own : undefined;
    this.#door = door;
    // No more than clients need to begin with: what a tool asks for besides says that there is such a tool.
    const supported = new Set([...door, scopes.read, scopes.write, ...scopesSupported]);
    supported.delete(notOurs);
    this.#document = JSON.stringify({
      resource,
      authorization_servers: authorizationServers,
      scopes_supported: [...supported].toSorted(),
      bearer_methods_supported: ["header"],
    });
  }

  /**
   * The value of `WWW-Authenticate`.
   *
   * @param wanted - what is asked for besides what every token must have: with less a client would come back to the same door.
   */
  write(wanted: readonly string[], error?: "invalid_token" | "insufficient_scope"): string {
    const scope = [...new Set([...this.#door, ...wanted])].join(" ");
    return [
      ...(error === undefined ? [] : [`Bearer error=${quote(error)}`]),
      `${error === undefined ? "Bearer " : ""}scope=${quote(scope)}`,
      ...(this.#url === undefined ? [] : [`resource_metadata=${quote(this.#url)}`]),
    ].join(", ");
  }

  /** The metadata. */
  readonly answer = (): HttpAnswer => ({
    status: 200,
    // The only answer that others may keep: one without an Origin must not be given to a page that has one.
    headers: { "content-type": "application/json", "cache-control": "max-age=300", vary: "origin" },
    body: this.#document,
  });
}
