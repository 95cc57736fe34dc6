import type { InferInput, InferOutput, Schema } from "../../schema/standard.ts";
import type { LiteralKeys } from "../../surface/define-surface.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import type {
  RpcExposeChecked,
  RpcExposeHints,
  RpcExposure,
  RpcExposureHint,
  RpcNames,
  RpcToolOptions,
} from "../rpc/expose.ts";

/** The kind of a procedure, which its author says: a read and a stream only read. A stream returns an event iterator. */
export type OrpcKind = "read" | "write" | "stream";

/** The value of one procedure in an expose map. A kind alone makes a tool. A procedure that is left out is not exposed. */
export type OrpcExposure =
  | OrpcKind
  | { readonly read: RpcExposure }
  | { readonly write: "tool" | { readonly tool: RpcToolOptions } }
  | { readonly stream: RpcExposure };

/** A procedure of a router or of a contract. */
interface Procedure {
  readonly "~orpc": { readonly route: object; readonly errorMap: object };
}

/** A kind -> the same one by the name that it has in tRPC. */
interface RpcKinds {
  readonly read: "query";
  readonly write: "mutation";
  readonly stream: "subscription";
}

type IsAny<TValue> = 0 extends 1 & TValue ? true : false;

/** A schema of a procedure -> its type on one side. */
type TypeOf<TProcedure, TField extends "inputSchema" | "outputSchema"> = TProcedure extends {
  readonly "~orpc": { readonly [_ in TField]?: infer Given };
}
  ? IsAny<Given> extends true
    ? unknown
    : NonNullable<Given> extends infer Known extends Schema
      ? TField extends "inputSchema"
        ? InferInput<Known>
        : InferOutput<Known>
      : unknown
  : unknown;

// Walks along the path. A map over all procedures would cost each of them, though few are exposed.
/** router, path -> the value there; `never` without one. */
type ValueAt<TRouter, TPath> =
  IsAny<TRouter> extends true
    ? TRouter
    : TPath extends keyof TRouter
      ? TRouter[TPath]
      : TPath extends `${infer Head}.${infer Rest}`
        ? Head extends keyof TRouter
          ? ValueAt<TRouter[Head], Rest>
          : never
        : never;

/** A value of an object of a map -> its one kind; `never` for several, none or another. */
type KindOfObject<TValue> = [keyof TValue] extends [never]
  ? never
  : { [Kind in OrpcKind]: [keyof TValue] extends [Kind] ? Kind : never }[OrpcKind];

/** A value of a map -> its kinds. */
type KindOf<TValue> =
  IsAny<TValue> extends true ? OrpcKind : TValue extends string ? Extract<TValue, OrpcKind> : KindOfObject<TValue>;

/** A value of a map -> its exposure without the kind. */
type ExposureOf<TValue> = TValue extends string
  ? "tool"
  : TValue extends undefined
    ? undefined
    : TValue[KindOfObject<TValue> & keyof TValue];

/** An expose map without its kinds. */
type Exposures<TExpose> = { readonly [Key in keyof TExpose]: ExposureOf<TExpose[Key]> };

type ProcedureAt<TValue, TGiven> =
  IsAny<TValue> extends true
    ? { readonly kind: RpcKinds[KindOf<TGiven>]; readonly input: unknown }
    : TValue extends Procedure
      ? { readonly kind: RpcKinds[KindOf<TGiven>]; readonly input: TypeOf<TValue, "inputSchema"> }
      : never;

/** router, expose map -> the procedure under each key of the map; `never` for a key that is not a procedure. */
type ProceduresAt<TRouter, TExpose> = {
  readonly [Key in keyof TExpose]: ProcedureAt<ValueAt<TRouter, Key>, TExpose[Key]>;
};

/** `unknown` if a procedure returns what its kind says, or its output is not known. */
type KindProblem<TValue, TKind> = [TValue] extends [never]
  ? unknown
  : unknown extends TypeOf<TValue, "outputSchema">
    ? unknown
    : [TypeOf<TValue, "outputSchema">] extends [AsyncIterator<unknown, unknown, never>]
      ? [TKind] extends ["stream"]
        ? unknown
        : TypeProblem<'this procedure returns an event iterator: expose it as "stream"'>
      : ["stream"] extends [TKind]
        ? TypeProblem<'this procedure returns no event iterator: expose it as "read" or "write"'>
        : unknown;

/** A value of a map, its problem -> the value, or the problem where it is. */
type ValueChecked<TValue, TProblem> = TValue extends string
  ? TValue extends OrpcKind
    ? TProblem
    : TypeProblem<KindMissing>
  : TValue extends undefined
    ? unknown
    : [KindOfObject<TValue>] extends [never]
      ? TypeProblem<KindMissing>
      : { readonly [Key in keyof TValue]: TProblem };

type KindMissing = 'say the kind: "read", "write" or "stream", alone or as in { read: "resource" }';

/** The expose map of a router: the map itself, or problems by key. */
export type OrpcExpose<TRouter, TExpose> = {
  readonly [Key in keyof TExpose]: ValueChecked<
    TExpose[Key],
    KindProblem<ValueAt<TRouter, Key>, KindOf<TExpose[Key]>> &
      RpcExposeChecked<ProceduresAt<TRouter, TExpose>, Exposures<TExpose>>[Key]
  >;
} & LiteralKeys<TExpose>;

/** The names that an expose map of a router makes. */
export type OrpcNames<TRouter, TExpose> = RpcNames<ProceduresAt<TRouter, TExpose>, Exposures<TExpose>>;

/** The paths of all procedures of a router; `never` for a router whose keys are not known. */
type PathsOf<TRouter, TBefore extends string = ""> = string extends keyof TRouter
  ? never
  : {
      [Key in keyof TRouter & string]: TRouter[Key] extends Procedure
        ? `${TBefore}${Key}`
        : PathsOf<TRouter[Key], `${TBefore}${Key}.`>;
    }[keyof TRouter & string];

/** The types by which an editor completes an expose map. */
export type OrpcHints<TRouter> = RpcExposeHints<
  PathsOf<TRouter>,
  string | { readonly [_ in OrpcKind]?: RpcExposureHint }
>;

// The functions are not compared: that would cost about 170 instantiations for each procedure.
/** A client of a router: `createRouterClient()` and `createORPCClient()` of oRPC make one. */
export type OrpcClient<TRouter> =
  IsAny<TRouter> extends true
    ? object
    : {
        readonly [Key in keyof TRouter & string]: TRouter[Key] extends Procedure ? object : OrpcClient<TRouter[Key]>;
      };
