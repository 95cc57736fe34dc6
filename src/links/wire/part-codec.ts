import { SurfaceError } from "../../errors.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import { type JsonValue, isJsonObject } from "../../schema/json.ts";
import { toReceiver } from "../../schema/validator/receive.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { Part } from "./protocol.ts";
import { Stale, type Staleness } from "../../surface/reading.ts";

const reasonPattern = /^[a-z]{1,32}$/;

/** Checks the form of a time only: it is shown, and not computed with. */
const timePattern = /^\d[\dTZ:.+-]{0,39}$/;

function readStaleness(given: unknown): Staleness | undefined {
  if (!isJsonObject(given)) return undefined;
  const { reason, since } = given;
  if (typeof reason !== "string" || !reasonPattern.test(reason)) return undefined;
  if (typeof since !== "string" || !timePattern.test(since)) return undefined;
  // Unknown reasons of a peer of a later version are passed on.
  return { reason: reason as Staleness["reason"], since };
}

/** Returns the codec of a value that may be stale. Malformed staleness is dropped. */
export function orStale(part: PartCodec): PartCodec {
  return {
    encode(carried) {
      if (!(carried instanceof Stale)) return part.encode(carried);
      const { reason, since } = carried.staleness;
      return { ...part.encode(carried.value), stale: { reason, since } };
    },
    receive(answer) {
      const value = part.receive(answer);
      const stale = isJsonObject(answer) ? readStaleness(answer["stale"]) : undefined;
      return stale === undefined ? value : new Stale(value, stale);
    },
  };
}

/** Writes and reads the values of one schema, its output side. */
export interface PartCodec {
  /** Writes a validated value. @throws SurfaceError `UNSERIALISABLE`. */
  encode(value: unknown): Part;
  /**
   * Reads a value of a peer, which is not trusted. Runs no schema.
   *
   * @throws SurfaceError `INVALID_OUTPUT` with the issues, for a value that does not fit.
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

/** The codec of values without a schema. */
const anyPart: PartCodec = {
  encode: (value) => (value === undefined ? {} : { value: anyCodec.encode(value) }),
  receive: valueOf,
};

function createPartCodec(schema: CompiledSchema): PartCodec {
  const { codec, wrapped } = schema;
  const receive = toReceiver(schema);
  return {
    encode(value) {
      const json = codec.encode(value);
      // The wrapper for agents serves peers too.
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

/** Returns the codec of a schema's output side, created once; without a schema, the codec of any JSON. */
export function toPartCodec(schema: CompiledSchema | undefined): PartCodec {
  if (schema === undefined) return anyPart;
  let codec = known.get(schema);
  if (codec === undefined) {
    codec = createPartCodec(schema);
    known.set(schema, codec);
  }
  return codec;
}
