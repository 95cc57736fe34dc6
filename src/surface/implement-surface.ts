import { SurfaceError } from "../errors.ts";
import { isObject } from "../options/is-object.ts";
import { callable, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "./channel.ts";
import { assertSegment, kSiblings, type Siblings } from "./compose-surfaces.ts";
import { memberOf, type Surface } from "./define-surface.ts";
import { createReporter, type FaultOptions } from "./fault.ts";
import type { Implementation } from "./implementation.ts";
import type { Spec } from "./member.ts";
import { createChannel, createOwner, type Owner } from "./owner/create-owner.ts";
import { isPlainObject } from "../schema/json.ts";

/** The property with the channel of a live surface, for links. */
export const kChannel: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.channel");

/** The property with the scope of a live surface, for links, which end with it. */
export const kScope: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.scope");

/** A surface with an implementation. Its creator closes it. */
export interface LiveSurface<TSpec> {
  readonly surface: Surface<TSpec>;
  /**
   * Ends every watch, aborts every call, waits for all handlers however long they take, and runs every disposer. Callable twice. Rejects
   * with an `AggregateError` of all faults. A handler must not await it.
   */
  close(): Promise<void>;
  /** For links only. */
  readonly [kChannel]: SurfaceChannel;
  /** @internal */
  readonly [kScope]: Scope;
}

/** Options of {@link implementSurface}. */
export type ImplementOptions = FaultOptions;

const fields: OptionFields<ImplementOptions> = { onFault: callable, toRefusal: callable };

/** Returns the handlers, or the prototype of their class, that has a handler as its own property. Leaves out what every object has. */
function findHolder(handlers: object, key: string): object | undefined {
  if (Object.hasOwn(handlers, key)) return handlers;
  if (key === "constructor") return undefined;
  let at: unknown = Object.getPrototypeOf(handlers);
  while (isObject(at)) {
    const next: unknown = Object.getPrototypeOf(at);
    if (next === null) return undefined;
    if (Object.hasOwn(at, key)) return at;
    at = next;
  }
  return undefined;
}

function assertHandlers(surface: Surface<Spec>, handlers: Readonly<Record<string, unknown>>, doing: string): void {
  if (!isObject(handlers)) {
    throw new SurfaceError("MISSING_HANDLER", `${doing}: the second argument must be an object of handlers`);
  }
  // An instance of a class may have other fields.
  const keys = isPlainObject(handlers) ? Object.keys(handlers) : [];
  const unknown = keys.find((key) => memberOf(surface, key) === undefined);
  const missing = Object.keys(surface.members).find((key) => findHolder(handlers, key) === undefined);
  if (missing !== undefined) {
    const misspelt = unknown === undefined ? "" : `, and there is one for "${unknown}", which is not a member of it`;
    throw new SurfaceError("MISSING_HANDLER", `${doing}: "${missing}" has no handler${misspelt}`);
  }
  if (unknown !== undefined) throw new SurfaceError("UNKNOWN_HANDLER", `${doing}: "${unknown}" is not a member of it`);
}

/**
 * Implements a surface with sources and handlers: an object, or an instance of a class with such fields and methods. If one handler does
 * not fit, none of them has run. Streams and events without input start now.
 *
 * @throws SurfaceError `MISSING_HANDLER` or `UNKNOWN_HANDLER`, for callers who cast: both are compile errors too.
 * @example
 * ```ts
 * const count = cellSource(0);
 * const live = implementSurface(counter, {
 *   value: count,
 *   bump: () => { count.set(count.get() + 1); return count.get(); },
 *   reset: () => count.set(0),
 * });
 * ```
 */
export function implementSurface<TSpec extends Spec>(
  surface: Surface<TSpec>,
  handlers: Implementation<TSpec>,
  options: ImplementOptions = {},
): LiveSurface<TSpec> {
  const doing = `Cannot implement surface "${surface.name}"`;
  const report = createReporter(readOptions(options, fields, doing));
  assertHandlers(surface, handlers, doing);
  const scope = new Scope(`surface "${surface.name}"`);
  // Creating an owner runs none of the author's code.
  const owners = new Map<string, Owner>();
  for (const [key, member] of Object.entries(surface.members)) {
    const handler: unknown = Reflect.get(findHolder(handlers, key) ?? handlers, key, handlers);
    owners.set(key, createOwner(member, handler, { scope, report, key, handlers }));
  }
  for (const owner of owners.values()) {
    if (owner.kind === "stream" || owner.kind === "event") owner.start();
  }
  return Object.freeze({
    surface,
    close: () => scope.close(),
    [kChannel]: createChannel(surface.name, owners, scope),
    [kScope]: scope,
  });
}

/** A live surface with any members. To the compiler, no other live surface is assignable to `LiveSurface<Spec>`. */
export type AnyLiveSurface = Pick<LiveSurface<Spec>, keyof LiveSurface<Spec>>;

/** Several live surfaces that are served as one. Its creator closes it. */
export interface LiveSurfaces {
  /** Ends the connections to it. The live surfaces stay open: their creators close them. Callable twice. */
  close(): Promise<void>;
  /** @internal */
  readonly [kSiblings]: Siblings<AnyLiveSurface>;
  /** @internal */
  readonly [kScope]: Scope;
}

/** One or several live surfaces, which a link can connect to. */
export type Served = AnyLiveSurface | LiveSurfaces;

/**
 * Combines live surfaces, so that one socket, process or port serves all of them. A client names the surface that it wants, or one that was
 * composed of them. When one of them closes, its members answer `DROPPED`, and the others go on.
 *
 * @param siblings - live surfaces by segment. A client finds a surface by its name, and by its segment only if several have that name.
 * @throws SurfaceError `INVALID_NAME` for a segment, `INVALID_OPTION` for a value that is not a live surface, `CLOSED` for a closed one.
 * @example
 * ```ts
 * const both = implementSurfaces({ pipeline: livePipeline, notes: liveNotes });
 * const listening = await listenUnixSocket(both, path);
 * ```
 */
export function implementSurfaces(siblings: Readonly<Record<string, AnyLiveSurface>>): LiveSurfaces {
  const doing = "Cannot implement surfaces";
  const bySegment = new Map(Object.entries(siblings));
  if (bySegment.size === 0) throw new SurfaceError("INVALID_OPTION", `${doing}: there must be at least one`);
  for (const [segment, live] of bySegment) {
    assertSegment(segment, doing);
    if (!isObject(live) || !(kChannel in live)) {
      throw new SurfaceError("INVALID_OPTION", `${doing}: "${segment}" must be a result of implementSurface()`);
    }
    live[kScope].assertOpen();
  }
  const scope = new Scope(`surfaces "${[...bySegment.keys()].join('", "')}"`);
  return Object.freeze({ close: () => scope.close(), [kSiblings]: bySegment, [kScope]: scope });
}

/** Returns the scope of one or several live surfaces. `doing` is a verb. @throws SurfaceError `INVALID_OPTION` for any other value. */
export function scopeOf(served: Served, doing: string): Scope {
  // JavaScript, and casts, pass anything; an app from mcp() is the usual mistake.
  const value: unknown = served;
  if (!isObject(value) || !(kScope in value)) {
    const made = "a live surface, made by implementSurface() or implementSurfaces()";
    const found = isObject(value) && "serve" in value ? "an app" : "something else";
    throw new SurfaceError("INVALID_OPTION", `Cannot ${doing}: the first argument must be ${made}, and is ${found}`);
  }
  return served[kScope];
}

/** Returns the live surfaces that were combined; `undefined` for a single one. */
export function liveSiblingsOf(served: Served): Siblings<AnyLiveSurface> | undefined {
  return kSiblings in served ? served[kSiblings] : undefined;
}
