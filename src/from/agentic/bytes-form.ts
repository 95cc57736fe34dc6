type ArrayName = "Uint8Array" | "Int32Array" | "Uint32Array" | "Float32Array" | "Float64Array";

/** JavaScript value that the base64 text of an input becomes. */
export interface BytesForm {
  readonly name: "Blob" | ArrayName;
  /** Media type of a `Blob`; `""` if the schema names none. */
  readonly mediaType: string;
}

const arrays = { Uint8Array, Int32Array, Uint32Array, Float32Array, Float64Array };

/** Outcome of decoding: the value, or the reason why the text was refused. */
type Decoded = { readonly value: unknown } | { readonly problem: string };

const [minInt32, maxInt32, maxUint32] = [-(2 ** 31), 2 ** 31 - 1, 2 ** 32 - 1];

function isWithin(items: object, min: number, max: number): boolean {
  const minimum: unknown = Reflect.get(items, "minimum");
  const maximum: unknown = Reflect.get(items, "maximum");
  return typeof minimum === "number" && typeof maximum === "number" && minimum >= min && maximum <= max;
}

/** Returns the array in which a typed buffer of `@adobe/data` keeps such items; bytes for any but plain numbers. */
function arrayOf(items: unknown): ArrayName {
  if (typeof items !== "object" || items === null || "const" in items || "enum" in items) return "Uint8Array";
  const type: unknown = Reflect.get(items, "type");
  if (type === "number") return Reflect.get(items, "precision") === 1 ? "Float32Array" : "Float64Array";
  if (type !== "integer") return "Uint8Array";
  if (isWithin(items, 0, maxUint32)) return "Uint32Array";
  return isWithin(items, minInt32, maxInt32) ? "Int32Array" : "Float64Array";
}

/** Returns the form of the bytes that a schema declares; `undefined` if it declares none. */
export function bytesFormOf(schema: object): BytesForm | undefined {
  const type: unknown = Reflect.get(schema, "type");
  if (type === "typed-buffer") return { name: arrayOf(Reflect.get(schema, "items")), mediaType: "" };
  if (type !== "blob") return undefined;
  const mediaType: unknown = Reflect.get(schema, "mediaType");
  return { name: "Blob", mediaType: typeof mediaType === "string" ? mediaType : "" };
}

/** Decodes canonical base64: padded, without blanks and without the URL alphabet. */
export function decodeBytes({ name, mediaType }: BytesForm, text: string): Decoded {
  const read = Buffer.from(text, "base64");
  if (read.toString("base64") !== text) return { problem: "expected base64" };
  // A copy, since a small Buffer shares its memory with others.
  const bytes = Uint8Array.from(read);
  if (name === "Blob") return { value: new Blob([bytes], { type: mediaType }) };
  const { BYTES_PER_ELEMENT: size } = arrays[name];
  if (bytes.length % size === 0) return { value: new arrays[name](bytes.buffer) };
  return { problem: `expected ${size} bytes for each item of a ${name}, received ${bytes.length} bytes` };
}
