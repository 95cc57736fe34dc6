import { SurfaceError } from "../../errors.ts";
import type { Member } from "../member.ts";
import type { Source } from "../source.ts";
import { CellOwner } from "./cell-owner.ts";
import { assertCollectionSource, CollectionOwner } from "./collection-owner.ts";
import { EventOwner } from "./event-owner.ts";
import type { ListenHandler } from "./listening.ts";
import type { OwnerSetting } from "./owner.ts";
import { ProcedureOwner, type ProcedureHandler } from "./procedure-owner.ts";
import { StreamOwner } from "./stream-owner.ts";

/** What owns one member's implementation. */
export type Owner = CellOwner | CollectionOwner | StreamOwner | EventOwner | ProcedureOwner;

function assertHandler(value: unknown, where: string): asserts value is ListenHandler & ProcedureHandler {
  if (typeof value === "function") return;
  throw new SurfaceError("MISSING_HANDLER", `Implementing ${where}: its handler must be a function`);
}

function assertSource(value: unknown, where: string): asserts value is Source<unknown> {
  const source: unknown = value;
  if (typeof source === "object" && source !== null && "get" in source && "subscribe" in source) return;
  // Atoms of some libraries are functions with properties.
  if (typeof source === "function" && "get" in source && "subscribe" in source) return;
  throw new SurfaceError("MISSING_HANDLER", `Implementing ${where}: it needs a source with get() and subscribe()`);
}

/**
 * Makes the owner of a member: one arm a kind.
 *
 * @throws SurfaceError `MISSING_HANDLER` when the handler is not what the member's kind needs.
 */
export function createOwner(member: Member, handler: unknown, setting: OwnerSetting): Owner {
  const where = `${member.kind} "${setting.key}"`;
  switch (member.kind) {
    case "cell":
      assertSource(handler, where);
      return new CellOwner(member, handler, setting);
    case "collection":
      assertCollectionSource(handler, where);
      return new CollectionOwner(member, handler, setting);
    case "stream":
      assertHandler(handler, where);
      return new StreamOwner(member, handler, setting);
    case "event":
      assertHandler(handler, where);
      return new EventOwner(member, handler, setting);
    case "procedure":
      assertHandler(handler, where);
      return new ProcedureOwner(member, handler, setting);
  }
}
