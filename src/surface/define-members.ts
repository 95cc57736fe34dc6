import { SurfaceError } from "../errors.ts";
import { assertKnownOptions } from "../options/known-names.ts";
import { isSchema, describeInvalidSchema, type InferInput, type InferOutput, type Schema } from "../schema/standard.ts";
import type { Scalar, UnfitForUri } from "../tags/mcp-resource.ts";
import { nameKind } from "../tags/retag.ts";
import { kEffect, kExposure } from "../tags/tag-of.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type {
  Cell,
  Collection,
  Event,
  Filtered,
  Kind,
  MaybeSchema,
  MemberMeta,
  Procedure,
  Settled,
  Stream,
} from "./member.ts";

/** The options of a definition beside its title and description: a schema, a schema that may be left out, or another value. */
type Parts<TDefinition> = {
  readonly [Key in Exclude<keyof TDefinition, keyof MemberMeta>]-?: "schema" | "optional" | "value";
};

function assertSchema(kind: Kind, name: string, value: unknown): void {
  if (isSchema(value)) return;
  const problem = `"${name}" is not a Standard Schema: ${describeInvalidSchema(value)}`;
  throw new SurfaceError("INVALID_MEMBER", `Cannot define ${nameKind({ kind })}: ${problem}`);
}

/** Checks a definition, and returns its title and description, without those that are left out. */
function readDefinition<TDefinition extends MemberMeta>(
  kind: Kind,
  definition: TDefinition,
  parts: Parts<TDefinition>,
): MemberMeta {
  assertKnownOptions(
    definition,
    [...Object.keys(parts), "title", "description"],
    `Cannot define ${nameKind({ kind })}`,
  );
  for (const [name, part] of Object.entries<string>(parts)) {
    const value: unknown = Reflect.get(definition, name);
    if (part === "schema" || (part === "optional" && value !== undefined)) assertSchema(kind, name, value);
  }
  const { title, description } = definition;
  return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
}

/** Options of {@link cell}. */
export interface CellDefinition<TValue extends Schema> extends MemberMeta {
  /** The value's schema. Handlers produce its input type, clients receive its output type. */
  readonly schema: TValue;
  /** The first value of `cellSource`, in the process that owns the state. Never served in place of a value. */
  readonly default?: InferInput<TValue>;
}

/**
 * Defines a cell: one value that changes.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `schema` is not a Standard Schema.
 * @example
 * ```ts
 * const status = cell({ schema: z.enum(["idle", "busy"]), default: "idle" });
 * ```
 */
export function cell<$Value extends Schema>(definition: CellDefinition<$Value>): Cell<$Value> {
  const meta = readDefinition("cell", definition, { schema: "schema", default: "value" });
  const { schema, default: first } = definition;
  return Object.freeze({ kind: "cell", ...meta, schema, default: first, [kExposure]: "none" } as const);
}

/** The type of a collection's keys: a scalar, or a flat object of scalars in declared order, optional ones last. */
export type CollectionKey = Scalar | { readonly [field: string]: Scalar | undefined };

/** `unknown` when a URI can carry the key, else the sentence that says why not. */
export type KeyProblem<TKey extends Schema> = [Schema] extends [TKey]
  ? // Inferred where the definition has no key.
    TypeProblem<"a collection needs a key: the schema of its keys, such as z.string()">
  : [UnfitForUri<InferOutput<TKey>>] extends [never]
    ? unknown
    : TypeProblem<"the key of a collection must be a scalar or a flat object of declared scalars: it is spelled in a URI">;

/** Options of {@link collection}. */
export interface CollectionDefinition<
  TKey extends Schema,
  TValue extends Schema,
  TFilter extends MaybeSchema = undefined,
> extends MemberMeta {
  /**
   * The schema of a key: a scalar or a flat object of scalars, because a URI carries it. Let the schema refuse texts that cannot
   * be a segment of a URI: the empty text, `.`, `..`, and texts with control characters. Clients can list and read an item with
   * such a key, but agents cannot read it.
   */
  readonly key: TKey;
  /** The schema of one item. */
  readonly schema: TValue;
  /** The schema of the filter of a page: a flat object of scalars, all optional. The source receives it in `list`. */
  readonly filter?: TFilter;
}

/**
 * Defines a collection: values by key.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `key`, `schema` or `filter` is not a Standard Schema.
 * @example
 * ```ts
 * const notes = collection({ key: z.string(), schema: z.object({ text: z.string() }) });
 * ```
 */
export function collection<$Key extends Schema, $Value extends Schema, $Filter extends MaybeSchema = undefined>(
  definition: CollectionDefinition<$Key, $Value, $Filter> & { readonly key: KeyProblem<$Key> },
): Collection<$Key, $Value> & Filtered<$Filter> {
  const parts = { key: "schema", schema: "schema", filter: "optional" } as const;
  const meta = readDefinition<CollectionDefinition<$Key, $Value, $Filter>>("collection", definition, parts);
  const { key, schema, filter } = definition;
  const filtered = filter === undefined ? {} : { filter };
  const made = Object.freeze({ kind: "collection", ...meta, key, schema, ...filtered, [kExposure]: "none" } as const);
  // The filter is there where the definition has one.
  return made as unknown as Collection<$Key, $Value> & Filtered<$Filter>;
}

/** Options of {@link stream}. */
export interface StreamDefinition<TInput extends MaybeSchema, TOutput extends Schema> extends MemberMeta {
  /** The schema of the input that opens the stream. @default no input */
  readonly input?: TInput;
  /** The schema of one frame. */
  readonly output: TOutput;
}

/**
 * Defines a stream: frames that are computed from an input while a client listens.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `input` or `output` is not a Standard Schema.
 * @example
 * ```ts
 * const log = stream({ input: z.object({ node: z.string() }), output: z.string() });
 * ```
 */
export function stream<$Output extends Schema, $Input extends MaybeSchema = undefined>(
  definition: StreamDefinition<$Input, $Output>,
): Stream<Settled<$Input>, $Output> {
  const meta = readDefinition("stream", definition, { input: "optional", output: "schema" });
  // Left out means undefined, which is the default of the type parameter.
  const input = definition.input as Settled<$Input>;
  return Object.freeze({ kind: "stream", ...meta, input, output: definition.output, [kExposure]: "none" } as const);
}

/** Options of {@link event}. */
export interface EventDefinition<TInput extends MaybeSchema, TOutput extends Schema> extends MemberMeta {
  /** The schema of the input that selects the occurrences. @default no input */
  readonly input?: TInput;
  /** The schema of one occurrence. */
  readonly output: TOutput;
  /** Whether a first wait without a cursor starts at the newest occurrence instead of the next one. @default false */
  readonly replayLast?: boolean;
}

/**
 * Defines an event: single occurrences. The live surface keeps the last ones, so that an occurrence between two waits is not lost.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `input` or `output` is not a Standard Schema.
 * @example
 * ```ts
 * const settled = event({ output: z.object({ ok: z.boolean() }), replayLast: true });
 * ```
 */
export function event<$Output extends Schema, $Input extends MaybeSchema = undefined>(
  definition: EventDefinition<$Input, $Output>,
): Event<Settled<$Input>, $Output> {
  const meta = readDefinition("event", definition, { input: "optional", output: "schema", replayLast: "value" });
  // Left out means undefined, which is the default of the type parameter.
  const input = definition.input as Settled<$Input>;
  const { output, replayLast = false } = definition;
  return Object.freeze({ kind: "event", ...meta, input, output, replayLast, [kExposure]: "none" } as const);
}

/** Options of {@link procedure}. */
export interface ProcedureDefinition<
  TInput extends MaybeSchema,
  TOutput extends MaybeSchema,
  TProgress extends MaybeSchema,
> extends MemberMeta {
  /** The schema of the argument. @default no argument */
  readonly input?: TInput;
  /** The schema of the answer. @default any JSON value, unchecked */
  readonly output?: TOutput;
  /** The schema of the values that a generator handler yields. */
  readonly progress?: TProgress;
  /**
   * Codes that the handler may refuse with, each with the schema of its details or `undefined`. Details are validated against
   * their schema; details that do not fit are withheld and reported, while code and message reach the caller. A refusal without a
   * schema, or with a code that is not declared here, reaches the caller as it is.
   */
  readonly errors?: Readonly<Record<string, MaybeSchema>>;
}

/**
 * Defines a procedure: an action with input and output. No agent can reach it until it is tagged or exposed.
 *
 * @throws SurfaceError `INVALID_MEMBER` when a part that should be a Standard Schema is not.
 * @example
 * ```ts
 * const rerun = procedure({ input: z.object({ node: z.string() }), errors: { UNKNOWN_NODE: undefined } });
 * ```
 */
export function procedure<
  $Input extends MaybeSchema = undefined,
  $Output extends MaybeSchema = undefined,
  $Progress extends MaybeSchema = undefined,
>(
  definition: ProcedureDefinition<$Input, $Output, $Progress>,
): Procedure<Settled<$Input>, Settled<$Output>, Settled<$Progress>, "none", "unstated"> {
  const parts = { input: "optional", output: "optional", progress: "optional", errors: "value" } as const;
  const meta = readDefinition("procedure", definition, parts);
  const errors = definition.errors ?? {};
  for (const [code, details] of Object.entries(errors)) {
    if (details !== undefined) assertSchema("procedure", `errors.${code}`, details);
  }
  return Object.freeze({
    kind: "procedure",
    ...meta,
    // Left out means undefined, which is the default of the three type parameters.
    input: definition.input as Settled<$Input>,
    // As above.
    output: definition.output as Settled<$Output>,
    // As above.
    progress: definition.progress as Settled<$Progress>,
    errors,
    [kExposure]: "none",
    [kEffect]: "unstated",
  } as const);
}
