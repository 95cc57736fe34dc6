import type { Kind } from "./member.ts";

/** The keys of `TSpec` whose members are of one kind. */
type NamesOf<TSpec, TKind extends Kind> = {
  [Key in keyof TSpec]: TSpec[Key] extends { readonly kind: TKind } ? Key : never;
}[keyof TSpec] &
  string;

/** The keys of a surface's cells. */
export type CellName<TSpec> = NamesOf<TSpec, "cell">;

/** The keys of a surface's collections. */
export type CollectionName<TSpec> = NamesOf<TSpec, "collection">;

/** The keys of a surface's streams. */
export type StreamName<TSpec> = NamesOf<TSpec, "stream">;

/** The keys of a surface's events. */
export type EventName<TSpec> = NamesOf<TSpec, "event">;

/** The keys of a surface's procedures. */
export type ProcedureName<TSpec> = NamesOf<TSpec, "procedure">;
