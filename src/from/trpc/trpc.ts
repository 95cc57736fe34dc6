import type { MountSource } from "../../catalog/mounts/mount.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { isFunction, isObject, isObjectOrFunction, isRecord } from "../../options/is-object.ts";
import { didYouMean } from "../../options/known-names.ts";
import { callable, required, type OptionFields } from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import type { Caller } from "../../surface/caller.ts";
import { toRpcRefusal } from "../rpc/errors.ts";
import type { RpcExposeChecked, RpcExposeHints, RpcKind, RpcNames } from "../rpc/expose.ts";
import { reading, textAt, toRpcInput, toRpcOutput, toTexts, type RpcProcedure } from "../rpc/procedure.ts";
import { createRpcSource, readExposeValue, rpcExposures } from "../rpc/source.ts";
import { toAsyncIterable } from "./observable.ts";
import type {
  TrpcContextOf,
  TrpcMetaOf,
  TrpcPathsOf,
  TrpcProceduresAt,
  TrpcRecordOf,
  TrpcRouter,
} from "./trpc-types.ts";

/** The call of a procedure, for which a context is created. */
export interface TrpcCall<TMeta = unknown> {
  /** Fires when the caller cancels, the deadline passes or the subscription ends. */
  readonly signal: AbortSignal;
  /** The metadata of the procedure, as `meta` in middleware of tRPC: the argument of its `.meta()`. Not `_meta` of the MCP request. */
  readonly meta: TMeta | undefined;
}

/** Options of {@link fromTrpc}. */
export interface TrpcOptions<TRouter extends TrpcRouter> {
  /**
   * Creates the context of one call, as `createContext` does for other clients. Called once for each call, and once for a subscription.
   * An error that it throws is masked, unless it is a `Refusal` or a `TRPCError`.
   */
  readonly context: (
    caller: Caller,
    call: TrpcCall<TrpcMetaOf<TRouter>>,
  ) => TrpcContextOf<TRouter> | PromiseLike<TrpcContextOf<TRouter>>;
}

/** The expose map of a router: the map itself, or problems by key. */
export type TrpcExpose<TRouter extends TrpcRouter, TExpose> = RpcExposeChecked<
  TrpcProceduresAt<TrpcRecordOf<TRouter>, TExpose>,
  TExpose
>;

/** The source of a router's procedures, with their exact names. */
export type TrpcSource<TRouter extends TrpcRouter, TExpose> = MountSource<TrpcNames<TRouter, TExpose>>;

/** The names that an expose map of a router makes. */
export type TrpcNames<TRouter extends TrpcRouter, TExpose> = RpcNames<
  TrpcProceduresAt<TrpcRecordOf<TRouter>, TExpose>,
  TExpose
>;

const doing = "Cannot mount a tRPC router";
const kinds: readonly RpcKind[] = ["query", "mutation", "subscription"];

/** The parts of a router that are read. */
interface OpenRouter {
  readonly procedures: object;
  /** Parts that are not loaded, by path. */
  readonly lazy: object;
}

function readRouter(router: unknown): OpenRouter {
  const def: unknown = isObjectOrFunction(router) ? Reflect.get(router, "_def") : undefined;
  const procedures: unknown = isRecord(def) ? Reflect.get(def, "procedures") : undefined;
  if (!isRecord(def) || !isRecord(procedures)) {
    throw invalidOption(doing, "the first argument must be a router of tRPC 10 or 11, as t.router() returns it");
  }
  const lazy: unknown = Reflect.get(def, "lazy");
  return { procedures, lazy: isRecord(lazy) ? lazy : {} };
}

function notFound(key: string, { procedures, lazy }: OpenRouter): SurfaceError {
  const part = Object.keys(lazy).find((path) => key === path || key.startsWith(`${path}.`));
  if (part !== undefined) {
    return invalidOption(doing, `"${key}" is in the lazy part "${part}"; pass "await loadTrpc(router)" as the router`);
  }
  const near = didYouMean(key, Object.keys(procedures));
  return invalidOption(doing, `"${key}" is in the map and is not a procedure of the router${near}`, "UNKNOWN_MEMBER");
}

function kindOf(def: object): RpcKind | undefined {
  return kinds.find((kind) => Reflect.get(def, "type") === kind || Reflect.get(def, kind) === true);
}

/** Returns the refusal for an error of tRPC, or the error to mask. */
function toError(cause: unknown, root: string): unknown {
  try {
    if (!(cause instanceof Error) || cause.name !== "TRPCError") return cause;
    const { message, cause: inner } = cause;
    const code: unknown = Reflect.get(cause, "code");
    if (inner instanceof Refusal) return inner;
    const issues: unknown = isObject(inner) ? Reflect.get(inner, "issues") : undefined;
    const refusal = typeof code === "string" ? toRpcRefusal({ code, message, cause: inner, issues }, root) : undefined;
    // tRPC wraps the errors of resolvers. Logs and `toRefusal` get the error that was thrown.
    const isWrapped = inner instanceof Error && inner.message === message;
    return refusal ?? (isWrapped ? inner : cause);
  } catch {
    // A getter of the error throws.
    return cause;
  }
}

/** Returns an item of `tracked()`, which is a list with its id, its value and a symbol. */
function toItem(given: unknown): { readonly id?: string; readonly item: unknown } {
  if (!Array.isArray(given) || given.length !== 3 || typeof given[2] !== "symbol") return { item: given };
  const envelope: readonly unknown[] = given;
  const [id, item] = envelope;
  return typeof id === "string" ? { id, item } : { item: given };
}

type AnyContext = (caller: Caller, call: TrpcCall) => unknown;

/** A procedure as it is in the router. */
interface Found {
  readonly procedure: (options: unknown) => unknown;
  readonly def: object;
  readonly type: RpcKind;
}

function findProcedure(key: string, parts: OpenRouter): Found {
  const procedure: unknown = Object.hasOwn(parts.procedures, key) ? Reflect.get(parts.procedures, key) : undefined;
  if (procedure === undefined) throw notFound(key, parts);
  const def: unknown = isFunction(procedure) ? Reflect.get(procedure, "_def") : undefined;
  const type = isRecord(def) ? kindOf(def) : undefined;
  if (!isFunction(procedure) || !isRecord(def) || type === undefined) {
    throw invalidOption(doing, `"${key}" is neither a query, nor a mutation, nor a subscription`, "WRONG_KIND");
  }
  return { procedure, def, type };
}

function readProcedure(key: string, parts: OpenRouter, context: AnyContext): RpcProcedure {
  const { procedure, def, type } = findProcedure(key, parts);
  const parsers: unknown = Reflect.get(def, "inputs");
  const meta: unknown = Reflect.get(def, "meta");
  const origin = `procedure "${key}"`;
  const input = toRpcInput(Array.isArray(parsers) ? parsers : [], origin);
  return {
    kind: type,
    texts: toTexts(textAt(meta, "title"), textAt(meta, "description")),
    input,
    // The output parser of a subscription parses the iterable.
    output: type === "subscription" ? undefined : toRpcOutput(Reflect.get(def, "output"), origin),
    async call(raw, { caller, signal }) {
      const ctx = await context(caller, Object.freeze({ signal, meta }));
      // A caller who has cancelled meanwhile was told so: nothing may change after that.
      signal.throwIfAborted();
      // The options of `callTRPCProcedure()` of tRPC 11 and of `callProcedure()` of tRPC 10, which look the procedure up and do this.
      const options = { ctx, path: key, type, signal, batchIndex: 0, rawInput: raw, getRawInput: async () => raw };
      const answer: unknown = await procedure(options);
      return type === "subscription" ? toAsyncIterable(answer) : answer;
    },
    toError: (cause) => toError(cause, input.root),
    toItem,
  };
}

const fields: OptionFields<TrpcOptions<TrpcRouter>> = { context: required(callable) };

/**
 * Creates a mount source of the procedures of a tRPC router that the map names, and of no others. A query is a tool that only reads, or
 * a resource if it requires no input. A mutation is a tool that may change something. A subscription is a resource with its newest
 * item, or a tool that pulls some items. Middleware runs as for every other client. Nothing to close.
 *
 * @param expose - exposures by the path of the procedure, such as `"order.show"`.
 * @throws SurfaceError `UNKNOWN_MEMBER`, `WRONG_KIND`, `INVALID_OPTION`, also for a procedure of a part that {@link loadTrpc} has not
 * loaded; `INVALID_NAME`, `NAME_COLLISION`, `CONTRADICTION`, `INVALID_MEMBER`; `SCHEMA_UNSUPPORTED` for a parser without JSON Schema.
 * @example
 * ```ts
 * const shop = fromTrpc(
 *   router,
 *   { orders: "resource", "order.show": "tool", "order.cancel": { tool: { confirm: true } } },
 *   { context: (caller) => ({ user: caller.id }) },
 * );
 * ```
 */
export function fromTrpc<$Router extends TrpcRouter, const $Expose>(
  router: $Router,
  expose: $Expose & NoInfer<TrpcExpose<$Router, $Expose>> & RpcExposeHints<TrpcPathsOf<TrpcRecordOf<$Router>>>,
  options: TrpcOptions<$Router>,
): TrpcSource<$Router, $Expose> {
  const { context } = readOptions<TrpcOptions<$Router>, typeof fields>(options, fields, doing);
  const parts = reading(() => readRouter(router), `${doing}: reading it`);
  return createRpcSource<TrpcNames<$Router, $Expose>>(expose, (key, value) => {
    // The compiler holds the context to the router, and the metadata are the router's.
    const read = (): RpcProcedure => readProcedure(key, parts, context as AnyContext);
    const procedure = reading(read, `${doing}: reading "${key}"`);
    return { procedure, ...readExposeValue(`Cannot expose procedure "${key}"`, value, rpcExposures) };
  });
}

/**
 * Loads all lazy parts of a tRPC 11 router, those within others too. Resolves with the same router.
 *
 * @throws SurfaceError `INVALID_OPTION` for a value that is not a router, or a part that cannot be loaded.
 * @example
 * ```ts
 * const shop = fromTrpc(await loadTrpc(router), { "reports.daily": "tool" }, { context });
 * ```
 */
export async function loadTrpc<$Router extends TrpcRouter>(router: $Router): Promise<$Router> {
  const { lazy } = reading(() => readRouter(router), `${doing}: reading it`);
  const known = new Set<unknown>();
  const load = async ([path, part]: readonly [string, unknown]): Promise<void> => {
    known.add(part);
    try {
      const loader: unknown = isObject(part) ? Reflect.get(part, "load") : undefined;
      if (isFunction(loader)) await Reflect.apply(loader, part, []);
    } catch (cause) {
      throw new SurfaceError("INVALID_OPTION", `Cannot load the lazy part "${path}" of a tRPC router; see the cause`, {
        cause,
      });
    }
  };
  // tRPC removes a part from the record when it is loaded, and adds the parts within it.
  for (;;) {
    const all = reading(() => Object.entries<unknown>({ ...lazy }), `${doing}: reading its lazy parts`);
    const parts = all.filter(([, part]) => !known.has(part));
    if (parts.length === 0) return router;
    await Promise.all(parts.map(load));
  }
}
