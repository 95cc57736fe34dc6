import type { TypeProblem } from "../../tags/type-problem.ts";
import type { OpenApiExposure } from "./expose.ts";

/** The key of a document's operations in its type. There is no such symbol at run time. */
declare const kOpenApi: unique symbol;

/**
 * A parsed document of OpenAPI 3.0 or 3.1.
 *
 * @typeParam TPaths - the type `paths` that `openapi-typescript` generates. @default any: keys are checked at startup only
 * @typeParam TOperations - the type `operations` of the same file.
 * @example
 * ```ts
 * const document: OpenApiDocument<api.paths, api.operations> = JSON.parse(text);
 * ```
 */
export interface OpenApiDocument<TPaths = unknown, TOperations = unknown> {
  /** For the compiler only. */
  readonly [kOpenApi]?: { readonly paths: TPaths; readonly operations: TOperations };
  /** The version of OpenAPI. */
  readonly openapi: string;
}

/** Exposures by operation. */
export type OpenApiExposeMap = Readonly<Record<string, OpenApiExposure | undefined>>;

/** A method -> its key in a path item of `openapi-typescript`. */
interface Methods {
  readonly GET: "get";
  readonly HEAD: "head";
  readonly POST: "post";
  readonly PUT: "put";
  readonly PATCH: "patch";
  readonly DELETE: "delete";
  readonly OPTIONS: "options";
}

/** A field; `never` if it is missing, or cannot be present. */
type At<TObject, TKey> = TKey extends keyof TObject ? Exclude<TObject[TKey], undefined> : never;

/** paths, key -> the operation under `"GET /pets"`; `never` if there is not one. */
type OperationAt<TPaths, TKey> = TKey extends `${infer Method extends keyof Methods} ${infer Path}`
  ? At<At<TPaths, Path>, Methods[Method]>
  : never;

/** The operations of a path item that only read. */
type ReadsOf<TItem> = At<TItem, "get"> | At<TItem, "head">;

/** Whether an operation requires an argument in its path or query. */
type RequiresInput<TOperation> =
  At<TOperation, "parameters"> extends infer Parameters
    ? Record<never, never> extends Pick<Parameters, keyof Parameters & ("path" | "query")>
      ? false
      : true
    : false;

type KindOf<TValue> = TValue extends string ? TValue : keyof TValue;

// One value of a union that does not fit is enough.
/** The problem of a value, of an operation that only reads or may change something; `unknown` if it fits. */
type ValueProblem<TIsRead, TOperation, TValue> = [Extract<KindOf<TValue>, "read" | "resource">] extends [never]
  ? unknown
  : [TIsRead] extends [false]
    ? TypeProblem<'this operation may change something: expose it as "write"'>
    : ["resource"] extends [KindOf<TValue>]
      ? RequiresInput<TOperation> extends true
        ? TypeProblem<'an operation with a required input cannot be a resource: expose it as "read"'>
        : unknown
      : unknown;

/** A key with a method and a path. */
type RouteProblem<TPaths, TKey, TValue> = [OperationAt<TPaths, TKey>] extends [never]
  ? TypeProblem<`"${TKey & string}" is not an operation of this document`>
  : ValueProblem<TKey extends `${"GET" | "HEAD"} ${string}` ? true : false, OperationAt<TPaths, TKey>, TValue>;

// The type of an operation is in its path item too. Two with equal types are not told apart: startup does that.
/** An operationId. */
type IdProblem<TPaths, TOperations, TKey, TValue> = TKey extends keyof TOperations
  ? [Extract<KindOf<TValue>, "read" | "resource">] extends [never]
    ? unknown
    : ValueProblem<TOperations[TKey] extends ReadsOf<TPaths[keyof TPaths]> ? true : false, TOperations[TKey], TValue>
  : TypeProblem<`"${TKey & string}" is not an operation of this document`>;

/** document, expose map -> the map, or problems by key. */
export type OpenApiExpose<TDocument, TExpose> = TDocument extends {
  readonly [kOpenApi]?: { readonly paths: infer Paths; readonly operations: infer Operations };
}
  ? unknown extends Paths
    ? unknown
    : {
        readonly [Key in keyof TExpose]: Key extends `${keyof Methods} /${string}`
          ? RouteProblem<Paths, Key, TExpose[Key]>
          : IdProblem<Paths, Operations, Key, TExpose[Key]>;
      }
  : unknown;

type Letter =
  | "a"
  | "b"
  | "c"
  | "d"
  | "e"
  | "f"
  | "g"
  | "h"
  | "i"
  | "j"
  | "k"
  | "l"
  | "m"
  | "n"
  | "o"
  | "p"
  | "q"
  | "r"
  | "s"
  | "t"
  | "u"
  | "v"
  | "w"
  | "x"
  | "y"
  | "z";
type Plain = Letter | Uppercase<Letter> | "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "_" | "." | "-";

/** Whether a text has a character, and only plain ones. */
type IsPlain<TText> = TText extends `${infer First}${infer Rest}`
  ? First extends Plain
    ? Rest extends ""
      ? true
      : IsPlain<Rest>
    : false
  : false;

/** A segment of a path -> the word in it; `never` if that is not plain. */
type WordOf<TSegment> = TSegment extends `{${infer Name}}`
  ? WordOf<Name>
  : IsPlain<TSegment> extends true
    ? TSegment
    : never;

/** A path without its first slash -> the words in it; `never` if one is not plain. */
type WordsOf<TPath> = TPath extends `${infer First}/${infer Rest}`
  ? `${WordOf<First>}_${WordsOf<Rest>}`
  : WordOf<TPath>;

/** A text -> its name, character by character. */
type Escaped<
  TKey extends string,
  TBefore extends string = "",
  TBetween extends string = "",
> = TKey extends `${infer First}${infer Rest}`
  ? First extends Plain
    ? Escaped<Rest, `${TBefore}${TBetween}${First}`>
    : Escaped<Rest, TBefore, TBefore extends "" ? "" : "_">
  : TBefore;

// Most keys are plain, or paths of plain words. To look at each character costs less than to join them again.
/** A key -> its name, as `toName()` makes it. */
type NameOfKey<TKey extends string> = string extends TKey
  ? string
  : IsPlain<TKey> extends true
    ? TKey
    : TKey extends `${infer Method extends keyof Methods} /${infer Path}`
      ? [WordsOf<Path>] extends [never]
        ? Escaped<TKey>
        : `${Method}_${WordsOf<Path>}`
      : Escaped<TKey>;

/** An exposure -> the option `name`; `never` if it has none. */
type GivenName<TValue> =
  TValue extends Readonly<Record<string, { readonly name: infer Name extends string }>> ? Name : never;

type NameOf<TKey, TValue> = [GivenName<TValue>] extends [never] ? NameOfKey<TKey & string> : GivenName<TValue>;

type NamesWith<TExpose, TKind> = {
  [Key in keyof TExpose]: [Extract<KindOf<Exclude<TExpose[Key], undefined>>, TKind>] extends [never]
    ? never
    : NameOf<Key, TExpose[Key]>;
}[keyof TExpose];

/** An expose map -> the names of the source. */
export interface OpenApiNames<TExpose> {
  readonly tools: NamesWith<TExpose, "read" | "write">;
  readonly mutating: NamesWith<TExpose, "write">;
  readonly resources: NamesWith<TExpose, "resource">;
}
