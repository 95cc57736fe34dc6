import { SurfaceError } from "../../errors.ts";
import { toInputSchema, toOutputSchema, type CompiledSchema } from "../../schema/compile-schema.ts";
import { flattenRoot } from "../../schema/flatten-root.ts";
import { isObject } from "../../options/is-object.ts";
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { describeInvalidSchema, isSchema, standardOf, type Schema } from "../../schema/standard.ts";
import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import type { Caller } from "../../surface/caller.ts";
import type { RpcKind } from "./expose.ts";

/** The call of a procedure. */
export interface RpcCall {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The texts about a procedure, as an entry has them. */
export interface RpcTexts {
  readonly title?: string;
  readonly description?: string;
}

/** A procedure of a router, read once. */
export interface RpcProcedure {
  readonly kind: RpcKind;
  readonly texts: RpcTexts;
  /** The media type of its results, which are texts. @default JSON */
  readonly mimeType?: string;
  readonly input: RpcInput;
  /** The result, or an item of a subscription. @default any JSON */
  readonly output: RpcOutput | undefined;
  /** Runs it with an input as its own parsers take it. A subscription resolves with an async iterable. */
  call(input: unknown, call: RpcCall): Promise<unknown>;
  /** Returns the refusal for an error of {@link call} or of an item, or the error to mask. Must not throw. */
  toError(cause: unknown): unknown;
  /** Splits an item that carries its own id. @default an item has none */
  toItem?(given: unknown): { readonly id?: string; readonly item: unknown };
}

/** The input of a procedure: raw values are held to `json`, then parsed by the router. */
export interface RpcInput {
  /** `undefined` for a procedure without a parser. */
  readonly json: JsonSchema | undefined;
  /** Returns whether a call without arguments is invalid. */
  isRequired(): boolean;
  /** Returns the input of a call without arguments, with the id of the last item if the procedure takes it as `lastEventId`. */
  empty(lastEventId?: string): unknown;
  /** The name of the value itself in an issue: `"value"` if it travels under that key, else empty. */
  readonly root: string;
  /** Returns the raw input: dates and other values without a JSON form are decoded. */
  decode(args: JsonObject): unknown;
}

/** The output of a procedure, which its own parser has validated. */
export interface RpcOutput {
  readonly json: JsonSchema;
  encode(value: unknown): JsonValue;
}

/** Returns a text of metadata; `undefined` for an empty one. */
export function textAt(meta: unknown, name: string): string | undefined {
  const found: unknown = isObject(meta) ? Reflect.get(meta, name) : undefined;
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** Returns the texts that there are. */
export function toTexts(title: string | undefined, description: string | undefined): RpcTexts {
  return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
}

/** Runs code of a router's author while it is read. @throws SurfaceError, also for an error of a getter. */
export function reading<TValue>(read: () => TValue, doing: string): TValue {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof SurfaceError) throw cause;
    throw new SurfaceError("INVALID_OPTION", `${doing} throws; see the cause`, { cause });
  }
}

function toCompiled(parser: unknown, compile: (schema: Schema) => CompiledSchema, origin: string): CompiledSchema {
  if (isSchema(parser)) return compile(parser);
  throw new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `Cannot convert a parser of ${origin} to JSON Schema: ${describeInvalidSchema(parser)}`,
  );
}

/**
 * Returns the input of a procedure. The parsers of one are intersected.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` for a parser without JSON Schema.
 */
export function toRpcInput(parsers: readonly unknown[], origin: string): RpcInput {
  if (parsers.length === 0)
    return { json: undefined, isRequired: () => false, empty: () => undefined, root: "", decode: () => undefined };
  const all = parsers.map((parser) => toCompiled(parser, (schema) => toInputSchema(schema, origin), origin));
  const [first, ...others] = all.map(({ json }) => json);
  const json: JsonSchema =
    first === undefined || others.length === 0
      ? (first ?? {})
      : flattenRoot({ type: "object", allOf: [first, ...others].map((each) => ({ ...each })) });
  const decode = (args: JsonObject): unknown =>
    // Parts that one codec has decoded are no JSON, and pass the others as they are.
    all.reduce<unknown>((value, { codec }) => codec.decode(value as JsonValue), args);
  const isOptional = all.every(({ optional }) => optional);
  const fits = (args: JsonObject): boolean => {
    const checked = standardOf(fromJsonSchema(json)).validate(args);
    return !(checked instanceof Promise) && checked.issues === undefined;
  };
  return {
    json,
    isRequired: () => !isOptional && !fits({}),
    empty(lastEventId) {
      const { properties } = json;
      const takesId = isJsonObject(properties) && Object.hasOwn(properties, "lastEventId");
      if (takesId && lastEventId !== undefined && fits({ lastEventId })) return decode({ lastEventId });
      return isOptional ? undefined : decode({});
    },
    root: all.some(({ wrapped }) => wrapped) ? "value" : "",
    decode,
  };
}

/** Returns the output of a procedure. @throws SurfaceError `SCHEMA_UNSUPPORTED` for a parser without JSON Schema. */
export function toRpcOutput(parser: unknown, origin: string): RpcOutput | undefined {
  if (parser === undefined) return undefined;
  const compiled = toCompiled(
    parser,
    (schema) => toOutputSchema(schema, origin) ?? toInputSchema(undefined, origin),
    origin,
  );
  const { json, codec } = compiled.optional ? compiled : compiled.bare;
  return { json, encode: codec.encode.bind(codec) };
}
