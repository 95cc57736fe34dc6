import { anonymous, defaultView, type Caller, type CallerView } from "../surface/caller.ts";
import type { RateLimiter } from "../call/rate-limiter.ts";
import { SurfaceError } from "../errors.ts";
import { readClient, withClient } from "../mcp/envelope.ts";
import { callable, having, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { viewFields } from "../surface/caller-options.ts";
import type { V1AuthInfo, V1RequestInfo } from "./v1-server.ts";

/** What {@link attach} may be told. */
export interface AttachOptions {
  /** The view that the server's client is served by. Default `"default"`. */
  readonly surface?: string;
  /** The project that rules of views are asked about. Default: none. */
  readonly project?: string;
  /** What somebody of whom nothing is known is granted. Default: none. */
  readonly scopes?: readonly string[];
  /**
   * Who asks. Default: by `authInfo`, the program that asks and, where its `extra.sub` says so, for whom; without it somebody of
   * whom nothing is known, as where this answers with `undefined`. Must be right: whoever has the same `id` is the same.
   */
  readonly caller?: (request: V1RequestInfo) => Caller | undefined;
  /** How often callers who are known may call tools. Default: as often as they like. */
  readonly rateLimit?: RateLimiter;
}

const fields: OptionFields<AttachOptions> = {
  ...viewFields,
  caller: callable,
  rateLimit: having(["limit"], 'an object with a method "limit"'),
};

const maxAgentChars = 512;

/** Reads options. @throws SurfaceError `INVALID_OPTION`. */
export function readAttachOptions(options: AttachOptions): AttachOptions {
  return readOptions(options, fields, "Attaching to a server");
}

function fromAuth({ clientId, scopes, expiresAt, extra }: V1AuthInfo): Caller {
  const subject = extra?.["sub"];
  const issuer = extra?.["iss"];
  return {
    // Written so that no program and no subject can be called what two others are.
    id: JSON.stringify(typeof subject === "string" ? [clientId, subject] : [clientId]),
    ...(typeof issuer === "string" ? { issuer } : {}),
    isAnonymous: false,
    scopes: Object.freeze([...scopes]),
    clientId,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** What an author's function says, or what went wrong with it. */
function assertCaller(caller: Caller | undefined): Caller | undefined {
  const isFit =
    caller === undefined || (typeof caller.id === "string" && caller.id !== "" && Array.isArray(caller.scopes));
  if (isFit) return caller;
  const what = 'Attaching to a server: "caller" must answer with an "id" that is not empty and a list of "scopes"';
  throw new SurfaceError("INVALID_OUTPUT", what);
}

function userAgentOf({ requestInfo }: V1RequestInfo): string | undefined {
  const agent = requestInfo?.headers["user-agent"];
  return typeof agent === "string" && agent !== "" ? agent.slice(0, maxAgentChars) : undefined;
}

function viewOf({ surface, project }: AttachOptions, userAgent: string | undefined): CallerView | undefined {
  if (surface === undefined && project === undefined && userAgent === undefined) return undefined;
  return Object.freeze({
    surface: surface ?? defaultView,
    ...(project === undefined ? {} : { project }),
    ...(userAgent === undefined ? {} : { userAgent }),
  });
}

function toUnknown({ scopes }: AttachOptions): Caller {
  return scopes === undefined ? anonymous : { ...anonymous, scopes };
}

function seenBy(caller: Caller, view: CallerView | undefined, client: unknown): Caller {
  return withClient(view === undefined ? caller : Object.freeze({ ...caller, view }), readClient(client));
}

/** Returns the caller of a client that has sent no request yet: the SDK verifies requests only. */
export function toUnknownCaller(options: AttachOptions, client: unknown): Caller {
  return seenBy(toUnknown(options), viewOf(options, undefined), client);
}

/**
 * Says who asks a request, by which view and with which program. Throws what an author's function throws.
 *
 * @param client - what the client says that it is.
 */
export function toCaller(options: AttachOptions, request: V1RequestInfo, client: unknown): Caller {
  const said = options.caller === undefined ? undefined : assertCaller(options.caller(request));
  const { authInfo } = request;
  const isKnown = options.caller === undefined && authInfo !== undefined;
  const caller = said ?? (isKnown ? fromAuth(authInfo) : toUnknown(options));
  return seenBy(caller, caller.view ?? viewOf(options, userAgentOf(request)), client);
}
