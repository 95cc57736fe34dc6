import type { TypeProblem } from "../../tags/type-problem.ts";
import type { RpcResourceOptions, RpcToolOptions } from "../rpc/expose.ts";

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

/** Options of an operation as a tool. */
export type OpenApiWriteOptions = RpcToolOptions & {
  /** The name of the tool. @default the key, with `_` for characters that no name has */
  readonly name?: string;
};

/** Options of an operation as a tool that only reads. */
export type OpenApiReadOptions = Omit<OpenApiWriteOptions, "destructive">;

/** Options of an operation as a resource. */
export type OpenApiResourceOptions = RpcResourceOptions & {
  /** The end of its URI. @default the key, with `_` for characters that no name has */
  readonly name?: string;
};

/** The value of one operation in an expose map. An operation that is left out is not exposed. */
export type OpenApiExposure =
  | "read"
  | "write"
  | "resource"
  | { readonly read: OpenApiReadOptions }
  | { readonly write: OpenApiWriteOptions }
  | { readonly resource: OpenApiResourceOptions };

/** Exposures by operation. */
export type OpenApiExposeMap = Readonly<Record<string, OpenApiExposure | undefined>>;

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** A field; `never` if it is missing, or cannot be present. */
type At<TObject, TKey> = TKey extends keyof TObject ? Exclude<TObject[TKey], undefined> : never;

/** paths, operations, key -> the operation under an operationId or `"GET /pets"`; `never` if there is not one. */
type OperationAt<TPaths, TOperations, TKey> = TKey extends `${infer Name extends Method} ${infer Path}`
  ? At<At<TPaths, Path>, Lowercase<Name>>
  : At<TOperations, TKey>;

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

// The type of an operation is in its path item too. Two with equal types are not told apart: startup does that.
/** Whether the operation under a key only reads. */
type IsRead<TPaths, TOperation, TKey> = TKey extends `${Method} ${string}`
  ? TKey extends `${"GET" | "HEAD"} ${string}`
    ? true
    : false
  : TOperation extends ReadsOf<TPaths[keyof TPaths]>
    ? true
    : false;

// One value of a union that does not fit is enough.
/** The problem of a value; `unknown` if it fits. */
type ExposureProblem<TPaths, TOperation, TKey, TValue> = [TOperation] extends [never]
  ? TypeProblem<`"${TKey & string}" is not an operation of this document`>
  : [Extract<KindOf<TValue>, "read" | "resource">] extends [never]
    ? unknown
    : [IsRead<TPaths, TOperation, TKey>] extends [false]
      ? TypeProblem<'this operation may change something: expose it as "write"'>
      : "resource" extends KindOf<TValue>
        ? [TKey extends `HEAD ${string}` ? true : RequiresInput<TOperation>] extends [true]
          ? TypeProblem<'only a GET without required inputs can be a resource: expose it as "read"'>
          : unknown
        : unknown;

/** document, expose map -> the map, or problems by key. */
export type OpenApiExpose<TDocument, TExpose> = TDocument extends {
  readonly [kOpenApi]?: { readonly paths: infer Paths; readonly operations: infer Operations };
}
  ? unknown extends Paths
    ? unknown
    : {
        readonly [Key in keyof TExpose]: ExposureProblem<Paths, OperationAt<Paths, Operations, Key>, Key, TExpose[Key]>;
      }
  : unknown;

type CharactersOf<TText, TFound = never> = TText extends `${infer First}${infer Rest}`
  ? CharactersOf<Rest, TFound | First>
  : TFound;
type Plain = CharactersOf<"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-">;

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
    : TKey extends `${infer Name extends Method} /${infer Path}`
      ? [WordsOf<Path>] extends [never]
        ? Escaped<TKey>
        : `${Name}_${WordsOf<Path>}`
      : Escaped<TKey>;

/** A key, its exposure -> the name. */
type NameOf<TKey, TValue> =
  TValue extends Readonly<Record<string, { readonly name: infer Name extends string }>>
    ? Name
    : NameOfKey<`${TKey & (string | number)}`>;

type NamesWith<TExpose, TKind> = {
  [Key in keyof TExpose]: [Extract<KindOf<Exclude<TExpose[Key], undefined>>, TKind>] extends [never]
    ? never
    : NameOf<Key, Exclude<TExpose[Key], undefined>>;
}[keyof TExpose];

/** An expose map -> the names of the source. */
export interface OpenApiNames<TExpose> {
  readonly tools: NamesWith<TExpose, "read" | "write">;
  readonly mutating: NamesWith<TExpose, "write">;
  readonly resources: NamesWith<TExpose, "resource">;
}
