import { callable, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "./channel.ts";
import { memberOf, type Surface } from "./define-surface.ts";
import { createReporter, type FaultReporter, type ToRefusal } from "./fault.ts";
import type { Implementation } from "./implementation.ts";
import type { Spec } from "./member.ts";
import { createChannel } from "./owner/create-channel.ts";
import { createOwner, type Owner } from "./owner/create-owner.ts";
import type { OwnerSetting } from "./owner/owner.ts";
import { assertSegment, kSiblings, type Siblings } from "./compose-surfaces.ts";

/** Where the channel of a live surface is kept: for links, not for authors. */
export const kChannel: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.channel");

/** Where the scope of a live surface is kept: for links, which end with it. */
export const kScope: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.scope");

/** A surface with an implementation. Whoever made it closes it. */
export interface LiveSurface<TSpec> {
  readonly surface: Surface<TSpec>;
  /**
   * Ends every watch, aborts every call, waits for what it owns and runs every disposer. Callable twice. Rejects with an
   * `AggregateError` of all faults.
   *
   * A handler that ignores its signal keeps it waiting for as long as that handler takes: only the author knows what
   * may be left half done. A face that serves the surface bounds its own wait. A handler must not wait for it.
   */
  close(): Promise<void>;
  /** For links only. */
  readonly [kChannel]: SurfaceChannel;
  /** @internal */
  readonly [kScope]: Scope;
}

/** Options of {@link implementSurface}. */
export interface ImplementOptions {
  /** Receives every error that was masked before it left. @default the console's error stream */
  readonly onFault?: FaultReporter | undefined;
  /**
   * Returns the refusal to answer with for an error of your own classes that a handler or a source threw. `undefined` keeps
   * the error masked. Never called with a {@link Refusal} or {@link SurfaceError}.
   */
  readonly toRefusal?: ToRefusal | undefined;
}

function isPlain(handlers: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(handlers);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Finds the object that has the handler of a member: the handlers themselves, or the prototype of a class that they are an
 * instance of. The members of every object, such as `toString`, are no handlers, nor is the `constructor` of a class.
 */
function findHolder(handlers: object, key: string): object | undefined {
  if (Object.hasOwn(handlers, key)) return handlers;
  if (key === "constructor") return undefined;
  let at: unknown = Object.getPrototypeOf(handlers);
  while (typeof at === "object" && at !== null) {
    const next: unknown = Object.getPrototypeOf(at);
    if (next === null) return undefined;
    if (Object.hasOwn(at, key)) return at;
    at = next;
  }
  return undefined;
}

function assertHandlers(surface: Surface<Spec>, handlers: Readonly<Record<string, unknown>>): void {
  if (typeof handlers !== "object" || handlers === null) {
    throw new SurfaceError("MISSING_HANDLER", `Implementing surface "${surface.name}": it needs an object of handlers`);
  }
  // An instance of a class has fields that are its own matter.
  const keys = isPlain(handlers) ? Object.keys(handlers) : [];
  const unknown = keys.find((key) => memberOf(surface, key) === undefined);
  for (const key of Object.keys(surface.members)) {
    if (findHolder(handlers, key) !== undefined) continue;
    const misspelt = unknown === undefined ? "" : `, and there is one for "${unknown}", which is not a member of it`;
    throw new SurfaceError(
      "MISSING_HANDLER",
      `Implementing surface "${surface.name}": "${key}" has no handler${misspelt}`,
    );
  }
  if (unknown === undefined) return;
  throw new SurfaceError(
    "UNKNOWN_HANDLER",
    `Implementing surface "${surface.name}": "${unknown}" is not a member of it`,
  );
}

/** One owner a member. Nothing of the author's runs yet, so a misfit leaves nothing behind. */
function createOwners(
  surface: Surface<Spec>,
  handlers: Readonly<Record<string, unknown>>,
  setting: Omit<OwnerSetting, "key" | "handlers">,
): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>();
  for (const [key, member] of Object.entries(surface.members)) {
    const handler: unknown = Reflect.get(findHolder(handlers, key) ?? handlers, key, handlers);
    owners.set(key, createOwner(member, handler, { ...setting, key, handlers }));
  }
  return owners;
}

const fields: OptionFields<ImplementOptions> = { onFault: callable, toRefusal: callable };

/**
 * Gives a surface its sources and handlers: an object of them, or an instance of a class with such fields and methods. All or nothing: when one handler does not fit, none of them has been run.
 * Streams and events without input start now, so that nothing is lost before the first question.
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
  const read = readOptions(options, fields, `Implementing surface "${surface.name}"`);
  assertHandlers(surface, handlers);
  const scope = new Scope(`surface "${surface.name}"`);
  const report = createReporter(read);
  const owners = createOwners(surface, handlers, { scope, report });
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

/**
 * A live surface, whatever its members are. Not `LiveSurface<Spec>`: the compiler takes no other for one of those, since
 * it compares the two by their type parameter.
 */
export type AnyLiveSurface = Pick<LiveSurface<Spec>, keyof LiveSurface<Spec>>;

/** Several live surfaces that are served as one. Whoever made it closes it. */
export interface LiveSurfaces {
  /**
   * Ends the connections that were made through it. The live surfaces live on: whoever made them closes them. Callable
   * twice.
   */
  close(): Promise<void>;
  /** @internal */
  readonly [kSiblings]: Siblings<AnyLiveSurface>;
  /** @internal */
  readonly [kScope]: Scope;
}

/** What can be connected to: a live surface, or several. */
export type Served = AnyLiveSurface | LiveSurfaces;

function assertLive(segment: string, live: AnyLiveSurface): void {
  const doing = "Implementing surfaces";
  assertSegment(segment, doing);
  if (typeof live !== "object" || live === null || !(kChannel in live)) {
    throw new SurfaceError("INVALID_OPTION", `${doing}: "${segment}" must be what implementSurface() returns`);
  }
  live[kScope].assertOpen();
}

/**
 * Puts live surfaces together, for everything that serves one: all of them over one socket, one process, one port. Whoever
 * connects names the one surface that it wants, or a surface that was composed of some of them.
 *
 * One that is closed meanwhile was dropped: its members answer `DROPPED`, and the others go on.
 *
 * @param siblings - live surfaces by segment. Those that ask need not use the same segments: surfaces are found by their
 * names, and by segment only where several have one name.
 * @throws SurfaceError `INVALID_NAME` for a segment, `INVALID_OPTION` for what is not a live surface, `CLOSED` for one that
 * is closed.
 * @example
 * ```ts
 * const both = implementSurfaces({ pipeline: livePipeline, notes: liveNotes });
 * const listening = await listenUnixSocket(both, path);
 * ```
 */
export function implementSurfaces(siblings: Readonly<Record<string, AnyLiveSurface>>): LiveSurfaces {
  const bySegment = new Map(Object.entries(siblings));
  if (bySegment.size === 0)
    throw new SurfaceError("INVALID_OPTION", "Implementing surfaces: there must be at least one");
  for (const [segment, live] of bySegment) assertLive(segment, live);
  const scope = new Scope(`surfaces "${[...bySegment.keys()].join('", "')}"`);
  return Object.freeze({ close: () => scope.close(), [kSiblings]: bySegment, [kScope]: scope });
}

/**
 * Returns the scope of a live surface, or of several.
 *
 * @param doing - starts the message.
 * @throws SurfaceError `INVALID_OPTION` for any other value.
 */
export function scopeOf(served: Served, doing: string): Scope {
  // JavaScript, and casts, pass anything; an app from mcp() is the usual mistake.
  const value: unknown = served;
  if (typeof value !== "object" || value === null || !(kScope in value)) {
    const made = "a live surface, made by implementSurface() or implementSurfaces()";
    const found = typeof value === "object" && value !== null && "serve" in value ? "an app" : "something else";
    throw new SurfaceError("INVALID_OPTION", `Cannot ${doing}: the first argument must be ${made}, and is ${found}`);
  }
  return served[kScope];
}

/** The live surfaces that were put together; `undefined` for a single one. */
export function liveSiblingsOf(served: Served): Siblings<AnyLiveSurface> | undefined {
  return kSiblings in served ? served[kSiblings] : undefined;
}
