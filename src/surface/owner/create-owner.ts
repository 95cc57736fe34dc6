import { SurfaceError } from "../../errors.ts";
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

/** What owns one member's implementation. */
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
  throw new SurfaceError("MISSING_HANDLER", `Implementing ${where}: its handler must be a function`);
}

/** A handler may be written as a method that uses its siblings: `this` is the object that they were handed over in. */
function toHandler(value: unknown, where: string, handlers: object): Handler {
  assertHandler(value, where);
  return isDerived(value) ? value : value.bind(handlers);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  // Atoms of some libraries are functions with properties.
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return names.every((name) => typeof Reflect.get(value, name) === "function");
}

interface SourceShape {
  readonly subscribe?: unknown;
  readonly pollMs?: unknown;
}

function assertSource(
  value: unknown,
  where: string,
): asserts value is AsyncSource<unknown> & MapSource<unknown, unknown> {
  if (!hasMethods(value, ["get"])) {
    const keyed = where.startsWith("collection") ? ", or with keys() or list(page) beside get(key)" : "";
    throw new SurfaceError(
      "MISSING_HANDLER",
      `Implementing ${where}: it needs a source with get(), such as cellSource(…) or polled(…)${keyed}`,
    );
  }
  // It is an object or a function: these may be there and hold anything.
  const { subscribe, pollMs } = value as SourceShape;
  if (subscribe !== undefined && typeof subscribe !== "function") {
    throw new SurfaceError("MISSING_HANDLER", `Implementing ${where}: "subscribe" of its source must be a function`);
  }
  pickOptions({ pollMs }, { pollMs: pollTime }, `Implementing ${where}`);
}

/** What is there to be read has an owner of its own: nobody need wait for its first value. */
function createCellOwner(member: MemberOfKind<"cell">, handler: unknown, setting: OwnerSetting): Owner {
  const where = `cell "${setting.key}"`;
  if (hasMethods(handler, ["peek", "subscribe"]) && !hasMethods(handler, ["get"])) {
    throw new SurfaceError("MISSING_HANDLER", `Implementing ${where}: a signal is made a source by fromSignal(…)`);
  }
  const upstream = hasMethods(handler, ["get", "subscribe"]) ? undefined : toUpstream(handler);
  if (upstream !== undefined) return new PushedCellOwner(member, upstream, setting);
  assertSource(handler, where);
  return new CellOwner(member, handler, setting);
}

/**
 * Makes the owner of a member: one arm a kind.
 *
 * @throws SurfaceError `MISSING_HANDLER` when the handler is not what the member's kind needs.
 */
export function createOwner(member: Member, handler: unknown, setting: OwnerSetting): Owner {
  const { handlers } = setting;
  const where = `${member.kind} "${setting.key}"`;
  switch (member.kind) {
    case "cell":
      return createCellOwner(member, handler, setting);
    case "collection":
      if (member.filter !== undefined && !hasMethods(handler, ["list", "get"])) {
        throw new SurfaceError(
          "MISSING_HANDLER",
          `Implementing ${where}: it declares a filter: it needs a source with list(page) and get(key)`,
        );
      }
      if (isPushedCollection(handler)) return new PushedCollectionOwner(member, handler, setting);
      assertSource(handler, where);
      return new CollectionOwner(member, handler, setting);
    case "stream":
      return new StreamOwner(member, toHandler(handler, where, handlers), setting);
    case "event":
      return new EventOwner(member, toHandler(handler, where, handlers), setting);
    case "procedure":
      return new ProcedureOwner(member, toHandler(handler, where, handlers), setting);
  }
}
