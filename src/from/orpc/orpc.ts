import type { MountSource } from "../../catalog/mounts/mount.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { isFunction, isObject, isObjectOrFunction, isRecord } from "../../options/is-object.ts";
import { didYouMean } from "../../options/known-names.ts";
import { callable, required, type OptionFields } from "../../options/option.ts";
import { invalidOption, readChoice, readOptions } from "../../options/read-options.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { Caller } from "../../surface/caller.ts";
import { toRpcRefusal } from "../rpc/errors.ts";
import type { RpcKind } from "../rpc/expose.ts";
import { reading, textAt, toRpcInput, toRpcOutput, toTexts, type RpcProcedure } from "../rpc/procedure.ts";
import { createRpcSource, readExposeValue, rpcExposures } from "../rpc/source.ts";
import type { OrpcClient, OrpcExpose, OrpcHints, OrpcKind, OrpcNames } from "./orpc-types.ts";

/** The call of a procedure, for which a client is created. */
export interface OrpcCall {
  /** Fires when the caller cancels, the deadline passes or the stream ends. */
  readonly signal: AbortSignal;
  /** The metadata of the procedure: the argument of its `.meta()`. */
  readonly meta: object;
}

/** Options of {@link fromOrpc}. */
export interface OrpcOptions<TRouter extends object> {
  /**
   * Creates the client of one call, with the context of its caller: `createRouterClient(router, { context })`, or a client of a remote
   * server. A procedure has its handler and middleware, and only code of oRPC runs them: this package imports none of it. Called once for each call, and once for a stream. An error that it throws is masked, unless it is a `Refusal`.
   */
  readonly client: (caller: Caller, call: OrpcCall) => OrpcClient<TRouter>;
}

/** The source of a router's procedures, with their exact names. */
export type OrpcSource<TExpose> = MountSource<OrpcNames<TExpose>>;

const doing = "Cannot mount an oRPC router";
const rpcKinds: Readonly<Record<OrpcKind, RpcKind>> = { read: "query", write: "mutation", stream: "subscription" };
/** The depth to which parts of a router are searched for near names. */
const maxDepth = 8;

/**
 * Returns true for a part that `lazy()` loads. In oRPC 1 it has a symbol only, and one of a builder has any key, as a proxy. In oRPC 2
 * its definition has a loader.
 */
function isLazy(value: unknown): boolean {
  if (!isObject(value)) return false;
  const keys = Object.keys(value);
  if (keys.length === 0) return Object.getOwnPropertySymbols(value).length > 0;
  const def: unknown = keys.length === 1 ? Reflect.get(value, "~orpc") : undefined;
  return isObject(def) && isFunction(Reflect.get(def, "loader"));
}

/** The definition of a procedure. */
interface Definition {
  readonly route: object;
  readonly errorMap: object;
  readonly meta: object;
  readonly inputs: readonly unknown[];
  /** The schema of the output that the client returns. */
  readonly output: unknown;
}

function definitionOf(value: unknown): Definition | undefined {
  const def: unknown = isObjectOrFunction(value) && !isLazy(value) ? Reflect.get(value, "~orpc") : undefined;
  if (!isRecord(def)) return undefined;
  const errorMap: unknown = Reflect.get(def, "errorMap");
  const given: unknown = Reflect.get(def, "meta");
  const meta = isRecord(given) ? given : {};
  // In oRPC 2 the route is metadata of @orpc/openapi.
  const route: unknown = Reflect.get(def, "route") ?? Reflect.get(meta, "~openapi") ?? {};
  if (!isRecord(route) || !isRecord(errorMap)) return undefined;
  const schemas = (name: string): readonly unknown[] => {
    const several: unknown = Reflect.get(def, `${name}s`);
    const only: unknown = Reflect.get(def, name);
    return Array.isArray(several) ? several : only === undefined ? [] : [only];
  };
  // oRPC 2 has several schemas of a side. Its first one of outputs comes last.
  return { route, errorMap, meta, inputs: schemas("inputSchema"), output: schemas("outputSchema")[0] };
}

/** Returns the paths of all procedures that are loaded. */
function pathsOf(router: unknown, before = "", depth = maxDepth): readonly string[] {
  if (!isRecord(router) || isLazy(router) || depth === 0) return [];
  return Object.entries<unknown>({ ...router }).flatMap(([key, value]) =>
    definitionOf(value) === undefined ? pathsOf(value, `${before}${key}.`, depth - 1) : [`${before}${key}`],
  );
}

function findProcedure(router: object, key: string): Definition {
  let found: unknown = router;
  const path = key.split(".");
  for (const [index, segment] of path.entries()) {
    found = isObject(found) && Object.hasOwn(found, segment) ? Reflect.get(found, segment) : undefined;
    if (isLazy(found)) {
      const part = path.slice(0, index + 1).join(".");
      const advice = 'pass "await unlazyRouter(router)" of @orpc/server as the router';
      throw invalidOption(doing, `"${key}" is in the lazy part "${part}"; ${advice}`);
    }
    const def = definitionOf(found);
    if (def !== undefined && index === path.length - 1) return def;
  }
  const near = didYouMean(key, pathsOf(router));
  throw invalidOption(doing, `"${key}" is in the map and is not a procedure of the router${near}`, "UNKNOWN_MEMBER");
}

/** @throws SurfaceError `WRONG_KIND` for a kind that only reads, and a method that may change something. */
function assertMethod(key: string, kind: OrpcKind, route: object): void {
  const method = textAt(route, "method");
  if (kind === "write" || method === undefined || method === "GET" || method === "HEAD") return;
  const advice = 'expose it as "write", or correct its route';
  throw invalidOption(
    doing,
    `"${key}" only reads by the map, and its route has the method ${method}; ${advice}`,
    "WRONG_KIND",
  );
}

/** An error of oRPC. One of another copy of oRPC is of another class. */
interface OrpcError extends Error {
  readonly code: string;
  readonly defined: unknown;
  readonly data: unknown;
}

function isOrpcError(cause: unknown): cause is OrpcError {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" && "defined" in cause;
}

/** Returns the issues of a procedure's own parser. */
function issuesOf({ code, message, data }: OrpcError): unknown {
  if (code !== "BAD_REQUEST" || message !== "Input validation failed" || !isObject(data)) return undefined;
  return Reflect.get(data, "issues");
}

function toRefusal(error: OrpcError, errorMap: object, root: string): Refusal | undefined {
  const { code, message, data, cause } = error;
  const issues = issuesOf(error);
  // The error of a remote server has no cause: its message stands for that of the parser.
  if (issues !== undefined) return toRpcRefusal({ code, message, cause: { message }, issues }, root);
  if (error.defined === true && Object.hasOwn(errorMap, code)) {
    return new Refusal(code, message, data === undefined ? undefined : anyCodec.encode(data));
  }
  return toRpcRefusal({ code, message, cause }, root);
}

/** Returns the refusal for an error of oRPC, or the error to mask. */
function toError(cause: unknown, errorMap: object, root: string): unknown {
  try {
    return isOrpcError(cause) ? (toRefusal(cause, errorMap, root) ?? cause) : cause;
  } catch {
    // A getter of the error throws, or its data have no JSON form.
    return cause;
  }
}

/** Returns the schema of an item of an event iterator, which oRPC keeps under a symbol; `undefined` for an iterator without one. */
function itemOf(schema: unknown): unknown {
  const standard: unknown = isObjectOrFunction(schema) ? Reflect.get(schema, "~standard") : undefined;
  if (!isObject(standard)) return undefined;
  const details = Object.getOwnPropertySymbols(standard).map((symbol): unknown => Reflect.get(standard, symbol));
  const items = details
    .filter(isRecord)
    .map((one): unknown => Reflect.get(one, "yields") ?? Reflect.get(one, "yieldSchema"));
  return items.find((item) => item !== undefined);
}

function toIterable(key: string, answer: unknown): unknown {
  if (isObject(answer) && isFunction(Reflect.get(answer, Symbol.asyncIterator))) return answer;
  throw new SurfaceError("INVALID_OUTPUT", `Cannot follow stream "${key}": it returned no event iterator`);
}

type AnyClient = (caller: Caller, call: OrpcCall) => unknown;

function readProcedure(key: string, kind: OrpcKind, parts: { router: object; client: AnyClient }): RpcProcedure {
  const { route, errorMap, meta, inputs, output } = findProcedure(parts.router, key);
  assertMethod(key, kind, route);
  const origin = `procedure "${key}"`;
  const input = toRpcInput(inputs, origin);
  const summary = textAt(route, "summary");
  const title = textAt(meta, "title") ?? summary;
  const description = textAt(meta, "description") ?? textAt(route, "description") ?? summary;
  return {
    kind: rpcKinds[kind],
    texts: toTexts(title, description),
    input,
    output: toRpcOutput(kind === "stream" ? itemOf(output) : output, origin),
    async call(raw, { caller, signal }) {
      let run: unknown = parts.client(caller, Object.freeze({ signal, meta }));
      for (const segment of key.split(".")) run = isObjectOrFunction(run) ? Reflect.get(run, segment) : undefined;
      if (!isFunction(run)) {
        throw new SurfaceError("INVALID_OPTION", `Cannot call procedure "${key}": the client does not have it`);
      }
      const answer = await run(raw, { signal });
      return kind === "stream" ? toIterable(key, answer) : answer;
    },
    toError: (cause) => toError(cause, errorMap, input.root),
  };
}

/** Splits a value of the map into its kind and its exposure. @throws SurfaceError `INVALID_OPTION`. */
function readKind(key: string, value: unknown): { readonly kind: OrpcKind; readonly exposure: unknown } {
  const choice = readChoice(value, ["read", "write", "stream"], "tool");
  if (choice !== undefined) return { kind: choice.word, exposure: choice.given };
  throw invalidOption(
    `Cannot expose procedure "${key}"`,
    'say the kind: "read", "write" or "stream", alone or as in { read: "resource" }',
  );
}

const fields: OptionFields<OrpcOptions<object>> = { client: required(callable) };

/**
 * Creates a mount source of the procedures of an oRPC router, or of a contract, that the map names, and of no others. The map says the
 * kind of each: a `"read"` is a tool that only reads, a `"write"` one that may change something, a `"stream"` one that pulls some
 * items. `{ read: "resource" }` and `{ stream: "resource" }` make resources. Middleware runs as for every other client. Nothing to close.
 *
 * @param router - the router, or the contract of a remote one. Its schemas are read, the client is called.
 * @param expose - exposures by the path of the procedure, such as `"order.show"`.
 * @throws SurfaceError `UNKNOWN_MEMBER`, `WRONG_KIND` also for a read or a stream whose route has a method other than GET and HEAD,
 * `INVALID_OPTION` also for a procedure in a lazy part, `INVALID_NAME`, `NAME_COLLISION`, `CONTRADICTION`, `INVALID_MEMBER`,
 * `SCHEMA_UNSUPPORTED`.
 * @example
 * ```ts
 * const store = fromOrpc(
 *   orpcRouter,
 *   { orders: { read: "resource" }, "order.show": "read", "order.cancel": { write: { tool: { confirm: true } } } },
 *   { client: (caller) => createRouterClient(orpcRouter, { context: { user: caller.id } }) },
 * );
 * ```
 */
export function fromOrpc<$Router extends object, const $Expose>(
  router: $Router,
  expose: $Expose & NoInfer<OrpcExpose<$Router, $Expose>> & OrpcHints<$Router>,
  options: OrpcOptions<$Router>,
): OrpcSource<$Expose> {
  const { client } = readOptions<OrpcOptions<$Router>, typeof fields>(options, fields, doing);
  if (!isRecord(router) || isLazy(router)) {
    throw invalidOption(doing, "the first argument must be a router of oRPC, or a contract: an object of procedures");
  }
  // The compiler holds the client to the router.
  const parts = { router, client: client as AnyClient };
  return createRpcSource<OrpcNames<$Expose>>(expose, (key, value) => {
    const { kind, exposure } = readKind(key, value);
    const procedure = reading(() => readProcedure(key, kind, parts), `${doing}: reading "${key}"`);
    return { procedure, ...readExposeValue(`Cannot expose procedure "${key}"`, exposure, rpcExposures) };
  });
}
