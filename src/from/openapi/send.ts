import { codeOf, Refusal, SurfaceError } from "../../errors.ts";
import { invalidOption } from "../../options/read-options.ts";
import { isObject } from "../../options/is-object.ts";
import { getOwn, isPlainObject, type JsonObject } from "../../schema/json.ts";
import type { RpcCall } from "../rpc/procedure.ts";
import type { Caller } from "../../surface/caller.ts";
import { isHeaderName, type ArgumentOf, type RequestInput } from "./parameters.ts";
import { isHeaderText, toHeader, type UrlTemplate } from "./request-url.ts";
import {
  discard,
  readResult,
  toFailedRefusal,
  toRefusal,
  type DeclaredResponses,
  type OpenApiResponse,
} from "./responses.ts";

/** An operation as `credentials` sees it. */
export interface OpenApiOperation {
  /** The key in the map. */
  readonly key: string;
  readonly method: string;
  /** The template of its path. */
  readonly path: string;
  /** The names of the security schemes that it accepts, of which the document tells. */
  readonly security: readonly string[];
}

/** Headers by name. */
export type OpenApiHeaders = Readonly<Record<string, string>>;

/** Returns the headers that authorise a request, such as `authorization`. */
export type OpenApiCredentials = (
  operation: OpenApiOperation,
  caller: Caller,
  signal: AbortSignal,
) => OpenApiHeaders | PromiseLike<OpenApiHeaders>;

/** The request that is sent. */
export interface OpenApiRequest {
  readonly method: string;
  readonly headers: OpenApiHeaders;
  readonly body?: string;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

/** A function such as the global `fetch`. It must not follow redirects. */
export type OpenApiFetch = (url: string, request: OpenApiRequest) => PromiseLike<OpenApiResponse>;

/** Everything about one exposed operation. */
export interface PreparedOperation {
  readonly credentials: OpenApiCredentials | undefined;
  readonly fetch: OpenApiFetch;
  readonly about: OpenApiOperation;
  readonly isRead: boolean;
  readonly input: RequestInput;
  readonly responses: DeclaredResponses;
  readonly url: UrlTemplate;
}

/** Codes of failures before anything was sent. */
const unsentCodes: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"],
  // A header of `credentials` that fetch sets itself.
  "UND_ERR_INVALID_ARG",
]);

/** Returns the error of a request that failed. A change that may have been made is an unknown outcome. */
function toFailure(cause: unknown, { isRead }: PreparedOperation): Error {
  const inner: unknown = isObject(cause) ? Reflect.get(cause, "cause") : undefined;
  const isUnsent = [cause, inner].some((one) => unsentCodes.has(codeOf(one)));
  if (isRead || isUnsent)
    return new SurfaceError("INTERNAL", "Cannot reach the API, or its connection broke", { cause });
  return new SurfaceError("OUTCOME_UNKNOWN", "The connection to the API broke after the request was sent", { cause });
}

function toHeaders({ parameters }: RequestInput, argumentOf: ArgumentOf): Record<string, string> {
  const present = parameters.flatMap((parameter) => {
    const value = parameter.place === "header" ? argumentOf(parameter) : undefined;
    return value === undefined ? [] : [[parameter.name.toLowerCase(), toHeader(parameter, value)] as const];
  });
  return Object.fromEntries(present);
}

async function readCredentials(prepared: PreparedOperation, call: RpcCall): Promise<OpenApiHeaders> {
  const { about, credentials } = prepared;
  if (credentials === undefined) return {};
  const doing = "Cannot use credentials";
  const given: unknown = await credentials(about, call.caller, call.signal);
  // `Headers` and maps have no own fields: the request would go out without its key.
  if (!isObject(given) || !isPlainObject(given) || Array.isArray(given)) {
    throw invalidOption(doing, "return a plain object of headers, such as { authorization }; {} for none");
  }
  const headers = Object.entries<unknown>({ ...given });
  const isHeader = ([name, value]: readonly [string, unknown]): boolean =>
    isHeaderName(name) && typeof value === "string" && isHeaderText(value);
  const wrong = headers.find((header) => !isHeader(header));
  if (wrong === undefined)
    return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), String(value)]));
  // Without the value, which is a secret.
  const problem = `header ${JSON.stringify(wrong[0])} must have the name of a header, and a text of one line of ASCII`;
  throw invalidOption(doing, problem);
}

/**
 * Sends the request of a call, and returns the result.
 *
 * @throws Refusal for an argument that its place cannot hold, and for a response with another status than 2xx; SurfaceError
 * `OUTCOME_UNKNOWN`, `INVALID_OUTPUT`; an error to mask.
 */
export async function send(prepared: PreparedOperation, args: JsonObject, call: RpcCall): Promise<unknown> {
  const { about, input, url, fetch } = prepared;
  const argumentOf: ArgumentOf = ({ name }) => getOwn(args, name) ?? undefined;
  const target = url.build(argumentOf);
  const headers = { ...toHeaders(input, argumentOf), ...(await readCredentials(prepared, call)) };
  const body = input.bodyType === undefined ? undefined : args["body"];
  const content = body === undefined ? {} : { "content-type": input.bodyType ?? "" };
  call.signal.throwIfAborted();
  const request: OpenApiRequest = {
    method: about.method,
    headers: { accept: "application/json", ...headers, ...content },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: "manual",
    signal: call.signal,
  };
  try {
    return await toResult(await fetch(target.href, request), prepared);
  } catch (cause) {
    if (call.signal.aborted) throw call.signal.reason;
    throw cause instanceof Refusal || cause instanceof SurfaceError ? cause : toFailure(cause, prepared);
  }
}

async function toResult(response: OpenApiResponse, { isRead, responses }: PreparedOperation): Promise<unknown> {
  const { status } = response;
  if (status >= 200 && status < 300) return readResult(response, responses);
  if (status >= 400 && status < 500) throw await toRefusal(response, responses);
  discard(response);
  throw toFailedRefusal(status, isRead);
}
