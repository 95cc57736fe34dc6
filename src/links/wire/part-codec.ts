import { SurfaceError } from "../../errors.ts";
import type { CompiledSchema } from "../../schema/compiled-schema.ts";
import { isJsonObject, type JsonValue } from "../../schema/json.ts";
import { toReceiver } from "../../schema/receive.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { Part } from "./protocol.ts";

/** How the values of one schema, its output side, travel between peers. */
export interface PartCodec {
  /** Writes a validated value. Errors: `UNSERIALISABLE`. */
  encode(value: unknown): Part;
  /**
   * Reads a value of a peer, which is not to be trusted; runs no schema.
   *
   * @throws SurfaceError `INVALID_OUTPUT` with the issues, for what does not fit.
   */
  receive(part: unknown): unknown;
}

function unfit(message: string): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", "Reading an answer: it does not fit its schema", {
    issues: [{ path: "", message }],
  });
}

function valueOf(part: unknown): JsonValue | undefined {
  if (!isJsonObject(part)) throw unfit("it is not an object");
  return part["value"];
}

/** The codec of values that no schema describes. */
export const anyPart: PartCodec = {
  encode: (value) => (value === undefined ? {} : { value: anyCodec.encode(value) }),
  receive: valueOf,
};

function createPartCodec(schema: CompiledSchema): PartCodec {
  const { codec, wrapped } = schema;
  const receive = toReceiver(schema);
  return {
    encode(value) {
      const json = codec.encode(value);
      // What is wrapped for agents is wrapped alike for peers.
      return wrapped && isJsonObject(json) ? json : { value: json };
    },
    receive(part) {
      const received = receive(valueOf(part));
      if (received.ok) return received.value;
      const { issues } = received;
      throw new SurfaceError("INVALID_OUTPUT", "Reading an answer: it does not fit its schema", { issues });
    },
  };
}

const known = new WeakMap<CompiledSchema, PartCodec>();

/** The codec of a schema's output side; without one, of any JSON. Made once a schema. */
export function toPartCodec(schema: CompiledSchema | undefined): PartCodec {
  if (schema === undefined) return anyPart;
  let codec = known.get(schema);
  if (codec === undefined) {
    codec = createPartCodec(schema);
    known.set(schema, codec);
  }
  return codec;
}
