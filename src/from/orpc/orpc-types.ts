import type { ExposedResourceKeys, ExposedToolKeys } from "../../catalog/expose.ts";
import type { InferInput, InferOutput, Schema } from "../../schema/standard.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import type {
  RpcExposeHints,
  RpcExposure,
  RpcExposureHint,
  RpcExposureProblem,
  RpcKeysChecked,
  RpcToolOptions,
  RpcUnknownKey,
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
  readonly "~orpc": { readonly errorMap: object; readonly meta: object };
}

/** A kind -> the same one by the name that it has in tRPC. */
interface RpcKinds {
  readonly read: "query";
  readonly write: "mutation";
  readonly stream: "subscription";
}

type IsAny<TValue> = 0 extends 1 & TValue ? true : false;

/** A schema of a procedure of oRPC 1, or those of oRPC 2 as one -> the type on one side. */
type TypeOf<TProcedure, TField extends "inputSchema" | "outputSchema"> = TProcedure extends {
  readonly "~orpc":
    | { readonly [_ in TField]?: infer Given }
    | { readonly [_ in `__T${Capitalize<TField>}`]?: { readonly type: infer Given } };
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

/** A value of a map -> its kinds; `never` without one. */
type KindOf<TValue> =
  IsAny<TValue> extends true ? OrpcKind : Extract<TValue extends string ? TValue : keyof TValue, OrpcKind>;

/** `unknown` if a procedure returns what its kind says, or its output is not known. */
type OutputProblem<TOutput, TKind> = unknown extends TOutput
  ? unknown
  : [TOutput] extends [AsyncIterator<unknown, unknown, never>]
    ? [TKind] extends ["stream"]
      ? unknown
      : TypeProblem<'this procedure returns an event iterator: expose it as "stream"'>
    : ["stream"] extends [TKind]
      ? TypeProblem<'this procedure returns no event iterator: expose it as "read" or "write"'>
      : unknown;

type KindMissing = 'say the kind: "read", "write" or "stream", alone or as in { read: "resource" }';

/** procedure, a value of a map -> `unknown` if the value fits, else the problem where it is. */
type ValueProblem<TProcedure, TValue> = TValue extends OrpcKind | undefined
  ? unknown
  : [KindOf<TValue>] extends [never]
    ? TypeProblem<KindMissing>
    : {
        readonly [Kind in keyof TValue]: [keyof TValue] extends [Kind]
          ? RpcExposureProblem<
              { readonly kind: RpcKinds[Kind & OrpcKind]; readonly input: TypeOf<TProcedure, "inputSchema"> },
              TValue[Kind]
            >
          : TypeProblem<KindMissing>;
      };

/** A value of a map -> its exposure without the kind. */
type ExposureOf<TValue> = TValue extends string ? "tool" : TValue extends undefined ? undefined : TValue[keyof TValue];

/** An expose map without its kinds. */
type Exposures<TExpose> = { readonly [Key in keyof TExpose]: ExposureOf<TExpose[Key]> };

// `any` is a procedure too.
/** router, expose map -> the map, or problems by key. */
export type OrpcExpose<TRouter, TExpose> = {
  readonly [Key in keyof TExpose]: ValueAt<TRouter, Key> extends infer Found
    ? [Found] extends [never]
      ? TypeProblem<RpcUnknownKey<Key>>
      : Found extends Procedure
        ? OutputProblem<TypeOf<Found, "outputSchema">, KindOf<TExpose[Key]>> & ValueProblem<Found, TExpose[Key]>
        : TypeProblem<RpcUnknownKey<Key>>
    : never;
} & RpcKeysChecked<Exposures<TExpose>>;

/** The keys of an expose map whose procedures may change something: all whose kind is not provably another. */
type WriteKeys<TExpose> = {
  [Key in keyof TExpose]: [KindOf<TExpose[Key]>] extends [never]
    ? Key
    : [KindOf<TExpose[Key]>] extends ["read" | "stream"]
      ? never
      : Key;
}[keyof TExpose];

/** The names that an expose map makes. */
export interface OrpcNames<TExpose> {
  readonly tools: ExposedToolKeys<Exposures<TExpose>>;
  readonly mutating: ExposedToolKeys<Exposures<TExpose>> & WriteKeys<TExpose>;
  readonly resources: ExposedResourceKeys<Exposures<TExpose>>;
}

/** The keys of a part of a router. A lazy part of oRPC 2 has its definition only. */
type KeysOf<TRouter> = Exclude<keyof TRouter & string, "~orpc">;

/** The paths of all procedures of a router; `never` for a router whose keys are not known. */
type PathsOf<TRouter, TBefore extends string = ""> = string extends keyof TRouter
  ? never
  : {
      [Key in KeysOf<TRouter>]: TRouter[Key] extends Procedure
        ? `${TBefore}${Key}`
        : PathsOf<TRouter[Key], `${TBefore}${Key}.`>;
    }[KeysOf<TRouter>];

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
        readonly [Key in KeysOf<TRouter>]: TRouter[Key] extends Procedure ? unknown : OrpcClient<TRouter[Key]>;
      };
