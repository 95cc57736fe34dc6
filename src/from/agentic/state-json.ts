import { types } from "node:util";
import { createWalkPath, encodeAny, type EncodeInstance } from "../../schema/encode-value.ts";
import type { JsonValue } from "../../schema/json.ts";
import { setAt, type Path } from "./values.ts";
import { isObject } from "../../options/is-object.ts";

/** A `Blob` in a value, read after everything else is written. */
interface Unread {
  readonly path: Path;
  readonly blob: Blob;
}

/** Returns bytes that are in memory, without a copy; `undefined` for anything else. A typed buffer of `@adobe/data` gives its array. */
function viewOf(value: object): ArrayBufferView | undefined {
  if (ArrayBuffer.isView(value)) return value;
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  const getTypedArray: unknown = Reflect.get(value, "getTypedArray");
  if (typeof getTypedArray !== "function") return undefined;
  const array: unknown = Reflect.apply(getTypedArray, value, []);
  return ArrayBuffer.isView(array) ? array : undefined;
}

function toBase64({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

function isIterable(view: ArrayBufferView): view is ArrayBufferView & Iterable<unknown> {
  return Symbol.iterator in view;
}

/** Returns the schema and its alternatives. One level only, since a schema may contain itself. */
function branchesOf(schema: unknown): readonly object[] {
  if (!isObject(schema)) return [];
  const lists = ["anyOf", "oneOf", "allOf"].map((keyword): unknown => Reflect.get(schema, keyword));
  return [schema, ...lists.flatMap((list): unknown[] => (Array.isArray(list) ? list : []))].filter(isObject);
}

function below(schema: object, key: string | number): unknown {
  if (typeof key === "number") return Reflect.get(schema, "items");
  const properties: unknown = Reflect.get(schema, "properties");
  const isNamed = isObject(properties) && Object.hasOwn(properties, key);
  return isNamed ? Reflect.get(properties, key) : Reflect.get(schema, "additionalProperties");
}

/** Returns true if the schema declares a list at the path. */
function isListAt(schema: unknown, path: Path): boolean {
  const at = path.reduce<readonly object[]>(
    (branches, key) => branches.flatMap((branch) => branchesOf(below(branch, key))),
    branchesOf(schema),
  );
  return at.some((branch) => Reflect.get(branch, "type") === "array");
}

async function readBlobs(json: JsonValue, unread: readonly Unread[]): Promise<JsonValue> {
  const root = { value: json };
  // `json` is a copy down to each Blob, so this does not change the state.
  const texts = unread.map(async ({ path, blob }) => {
    setAt(root, path, toBase64(new Uint8Array(await blob.arrayBuffer())));
  });
  await Promise.all(texts);
  return root.value;
}

/**
 * Writes the value of a state as JSON. Bytes become base64, a typed array a list of numbers if the schema declares an array.
 * Returns a promise only for a value with a `Blob`.
 *
 * @throws SurfaceError `UNSERIALISABLE` with the path, and the errors of getters of the state.
 */
export function toStateJson(value: unknown, schema: unknown): JsonValue | Promise<JsonValue> {
  const unread: Unread[] = [];
  const encodeInstance: EncodeInstance = (instance, path) => {
    if (instance instanceof Blob) {
      unread.push({ path: [...path.keys], blob: instance });
      return null;
    }
    const view = viewOf(instance);
    if (view === undefined) return undefined;
    return isIterable(view) && isListAt(schema, path.keys) ? encodeAny([...view], path) : toBase64(view);
  };
  const json = encodeAny(value, createWalkPath(encodeInstance));
  return unread.length === 0 ? json : readBlobs(json, unread);
}
