import type { RpcKind, RpcProcedureType } from "../rpc/expose.ts";

/** A router of tRPC 10 or 11. */
export interface TrpcRouter {
  readonly _def: {
    /** Procedures and routers by key. */
    readonly record: object;
    /** Procedures by path. */
    readonly procedures: object;
  };
}

/** The types of a router's context and metadata. */
interface RootTypes {
  readonly _def: { readonly _config: { readonly $types: { readonly ctx: unknown; readonly meta: unknown } } };
}

/** The context of a router; anything if its type does not tell. */
export type TrpcContextOf<TRouter> = TRouter extends RootTypes ? TRouter["_def"]["_config"]["$types"]["ctx"] : unknown;

/** The metadata of a router's procedures. */
export type TrpcMetaOf<TRouter> = TRouter extends RootTypes ? TRouter["_def"]["_config"]["$types"]["meta"] : unknown;

/** The record of a router. */
export type TrpcRecordOf<TRouter extends TrpcRouter> = TRouter["_def"]["record"];

/** A value of a record -> the record of a router in it: tRPC 10 keeps the router, tRPC 11 its record. */
type NestedRecord<TValue> = TValue extends { readonly _def: { readonly record: infer Record } } ? Record : TValue;

/** A procedure of tRPC 11. */
interface Procedure11 {
  readonly _def: { readonly type: RpcKind; readonly $types: { readonly input: unknown } };
}

/** A procedure of tRPC 10. Without a parser its input is a symbol. */
interface Procedure10 {
  readonly _type: RpcKind;
  readonly _def: { readonly _input_in: unknown };
}

/** A value of a record -> the procedure; `never` for anything else. */
type ProcedureOf<TValue> = 0 extends 1 & TValue
  ? RpcProcedureType
  : TValue extends Procedure11
    ? { readonly kind: TValue["_def"]["type"]; readonly input: TValue["_def"]["$types"]["input"] }
    : TValue extends Procedure10
      ? {
          readonly kind: TValue["_type"];
          readonly input: TValue["_def"]["_input_in"] extends symbol ? undefined : TValue["_def"]["_input_in"];
        }
      : never;

// Walks along the path. A map over all procedures would cost each of them, though few are exposed.
/** record, path -> the value there; `never` without one. */
type ValueAt<TRecord, TPath> = TPath extends keyof TRecord
  ? TRecord[TPath]
  : TPath extends `${infer Head}.${infer Rest}`
    ? Head extends keyof TRecord
      ? ValueAt<NestedRecord<TRecord[Head]>, Rest>
      : never
    : never;

/** record, expose map -> the procedure under each key of the map; `never` for a key that is not a procedure. */
export type TrpcProceduresAt<TRecord, TExpose> = {
  readonly [Key in keyof TExpose]: ProcedureOf<ValueAt<TRecord, Key>>;
};

/** The paths of all procedures of a record; `never` for a record whose keys are not known. */
export type TrpcPathsOf<TRecord, TBefore extends string = ""> = string extends keyof TRecord
  ? never
  : {
      [Key in keyof TRecord & string]: TRecord[Key] extends Procedure11 | Procedure10
        ? `${TBefore}${Key}`
        : TrpcPathsOf<NestedRecord<TRecord[Key]>, `${TBefore}${Key}.`>;
    }[keyof TRecord & string];
