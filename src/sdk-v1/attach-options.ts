import { anonymous, defaultView, type Caller, type CallerView, viewOptionFields } from "../surface/caller.ts";
import type { RateLimiter } from "../call/limit-call.ts";
import { SurfaceError } from "../errors.ts";
import { readClient, withClient } from "../mcp/envelope.ts";
import { callable, objectWithMethods, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import type { V1AuthInfo, V1RequestInfo } from "./v1-port.ts";
import { toDefined } from "../observe/to-defined.ts";

/** Options of {@link attach}. */
export interface AttachOptions {
  /** The view of the server's client. @default "default" */
  readonly surface?: string;
  /** The project that rules of views may name. @default none */
  readonly project?: string;
  /** The scopes of an unknown caller. @default none */
  readonly scopes?: readonly string[];
  /**
   * Returns the caller of a request; `undefined` for an unknown one. Callers with the same `id` are the same caller.
   * @default by `authInfo`: its program, and its `extra.sub`; unknown without `authInfo`
   */
  readonly caller?: (request: V1RequestInfo) => Caller | undefined;
  /** Limits the calls of tools by known callers. @default no limit */
  readonly rateLimit?: RateLimiter;
}

const fields: OptionFields<AttachOptions> = {
  ...viewOptionFields,
  caller: callable,
  rateLimit: objectWithMethods(["limit"], 'an object with a method "limit"'),
};

const maxAgentChars = 512;

/** @throws SurfaceError `INVALID_OPTION`. */
export function readAttachOptions(options: AttachOptions): AttachOptions {
  return readOptions(options, fields, "Attaching to a server");
}

function fromAuth({ clientId, scopes, expiresAt, extra }: V1AuthInfo): Caller {
  const subject = extra?.["sub"];
  const issuer = extra?.["iss"];
  return {
    // Unambiguous: no program and subject have the id of two others.
    id: JSON.stringify(typeof subject === "string" ? [clientId, subject] : [clientId]),
    ...(typeof issuer === "string" ? { issuer } : {}),
    isAnonymous: false,
    scopes: Object.freeze([...scopes]),
    clientId,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** @throws SurfaceError `INVALID_OUTPUT`. */
function assertCaller(caller: Caller | undefined): Caller | undefined {
  if (caller === undefined) return undefined;
  if (typeof caller.id === "string" && caller.id !== "" && Array.isArray(caller.scopes)) return caller;
  const what = 'Attaching to a server: "caller" must answer with an "id" that is not empty and a list of "scopes"';
  throw new SurfaceError("INVALID_OUTPUT", what);
}

function userAgentOf({ requestInfo }: V1RequestInfo): string | undefined {
  const agent = requestInfo?.headers["user-agent"];
  return typeof agent === "string" && agent !== "" ? agent.slice(0, maxAgentChars) : undefined;
}

function viewOf({ surface, project }: AttachOptions, userAgent: string | undefined): CallerView | undefined {
  if (surface === undefined && project === undefined && userAgent === undefined) return undefined;
  return Object.freeze(toDefined({ surface: surface ?? defaultView, project, userAgent }));
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
 * Returns the caller of a request, with its view and program. Throws what the author's function throws.
 *
 * @param client - the `clientInfo` of the client.
 */
export function toCaller(options: AttachOptions, request: V1RequestInfo, client: unknown): Caller {
  const said = options.caller === undefined ? undefined : assertCaller(options.caller(request));
  const { authInfo } = request;
  const isKnown = options.caller === undefined && authInfo !== undefined;
  const caller = said ?? (isKnown ? fromAuth(authInfo) : toUnknown(options));
  return seenBy(caller, caller.view ?? viewOf(options, userAgentOf(request)), client);
}
