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
