import { SurfaceError } from "../../errors.ts";
import { isFunction, isObjectOrFunction } from "../../options/is-object.ts";
import { pickOptions } from "../../options/read-options.ts";
import { isDerived } from "../implementation.ts";
import type { Member, MemberOfKind } from "../member.ts";
import { pollTime, type AsyncSource, type MapSource } from "../source.ts";
import { CellOwner } from "./cell-owner.ts";
import { CollectionOwner } from "./collection-owner.ts";
import { EventOwner } from "./event-owner.ts";
import type { ListenHandler } from "./listening.ts";
import type { OwnerSetting } from "./owner.ts";
import { ProcedureOwner, type ProcedureHandler } from "./procedure-owner.ts";
import { PushedCellOwner } from "./pushed-cell-owner.ts";
import { isPushedCollection, PushedCollectionOwner } from "./pushed-collection-owner.ts";
import { StreamOwner } from "./stream-owner.ts";
import { toUpstream } from "./upstream.ts";

/** Owner of the implementation of a member. */
export type Owner =
  | CellOwner
  | PushedCellOwner
  | CollectionOwner
  | PushedCollectionOwner
  | StreamOwner
  | EventOwner
  | ProcedureOwner;

type Handler = ListenHandler & ProcedureHandler;

function assertHandler(value: unknown, where: string): asserts value is Handler {
  if (typeof value === "function") return;
  throw new SurfaceError("MISSING_HANDLER", `Cannot implement ${where}: its handler must be a function`);
}

/** Binds `this` of a handler to the object of all handlers, so that a method may use its siblings. */
function bindHandler(value: unknown, where: string, handlers: object): Handler {
  assertHandler(value, where);
  return isDerived(value) ? value : value.bind(handlers);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  // Atoms of some libraries are functions with properties.
  return isObjectOrFunction(value) && names.every((name) => isFunction(Reflect.get(value, name)));
}

function assertSource(
  value: unknown,
  where: string,
): asserts value is AsyncSource<unknown> & MapSource<unknown, unknown> {
  if (!hasMethods(value, ["get"])) {
    const keyed = where.startsWith("collection") ? ", or with keys() or list(page) beside get(key)" : "";
    throw new SurfaceError(
      "MISSING_HANDLER",
      `Cannot implement ${where}: it needs a source with get(), such as cellSource(…) or polled(…)${keyed}`,
    );
  }
  // It is an object or a function, whose properties may have any value.
  const { subscribe, pollMs } = value as { readonly subscribe?: unknown; readonly pollMs?: unknown };
  if (subscribe !== undefined && typeof subscribe !== "function") {
    throw new SurfaceError(
      "MISSING_HANDLER",
      `Cannot implement ${where}: "subscribe" of its source must be a function`,
    );
  }
  pickOptions({ pollMs }, { pollMs: pollTime }, `Implementing ${where}`);
}

function createCellOwner(member: MemberOfKind<"cell">, handler: unknown, deps: OwnerSetting): Owner {
  const where = `cell "${deps.key}"`;
  if (hasMethods(handler, ["peek", "subscribe"]) && !hasMethods(handler, ["get"])) {
    throw new SurfaceError(
      "MISSING_HANDLER",
      `Cannot implement ${where}: its handler is a signal; wrap it in fromSignal(…)`,
    );
  }
  // A source that can be read at any time has an owner that never waits for a first value.
  const upstream = hasMethods(handler, ["get", "subscribe"]) ? undefined : toUpstream(handler);
  if (upstream !== undefined) return new PushedCellOwner(member, upstream, deps);
  assertSource(handler, where);
  return new CellOwner(member, handler, deps);
}

/**
 * Creates the owner of a member.
 *
 * @throws SurfaceError `MISSING_HANDLER` when the handler does not fit the kind of the member.
 */
export function createOwner(member: Member, handler: unknown, deps: OwnerSetting): Owner {
  const { handlers } = deps;
  const where = `${member.kind} "${deps.key}"`;
  switch (member.kind) {
    case "cell":
      return createCellOwner(member, handler, deps);
    case "collection":
      if (member.filter !== undefined && !hasMethods(handler, ["list", "get"])) {
        throw new SurfaceError(
          "MISSING_HANDLER",
          `Cannot implement ${where}: it declares a filter: it needs a source with list(page) and get(key)`,
        );
      }
      if (isPushedCollection(handler)) return new PushedCollectionOwner(member, handler, deps);
      assertSource(handler, where);
      return new CollectionOwner(member, handler, deps);
    case "stream":
      return new StreamOwner(member, bindHandler(handler, where, handlers), deps);
    case "event":
      return new EventOwner(member, bindHandler(handler, where, handlers), deps);
    case "procedure":
      return new ProcedureOwner(member, bindHandler(handler, where, handlers), deps);
  }
}
