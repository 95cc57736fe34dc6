import { isJsonObject } from "../schema/json.ts";

/** A trace context in the form of the W3C headers. MCP clients send it in `_meta` (SEP-414), HTTP clients in headers. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
  /** Key-value pairs of the client. Nothing proves them, and they may be private: do not write them into a log. */
  readonly baggage?: string;
}

/** The version `ff`, and ids of zeros only, are invalid. */
const traceparentForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const tracestateForm = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;
const baggageForm = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ *= *[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*(?: *;[^,]*)?$/;

/** Bounds of the W3C recommendations, in characters and members. */
const maxTracestate = { length: 512, members: 32 };
const maxBaggage = { length: 8192, members: 64 };

interface ListBounds {
  readonly length: number;
  readonly members: number;
}

/** Returns a list of members if each has the form. */
function readList(value: unknown, form: RegExp, { length, members }: ListBounds): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > length) return undefined;
  // The split is bounded, so that a list of separators costs no more than a list of members.
  const parts = value.split(",", members + 1);
  return parts.length <= members && parts.every((part) => form.test(part.trim())) ? value : undefined;
}

/** Reads a trace context, a frozen object. Drops malformed and long fields; without a valid `traceparent` there is no context. */
export function readTraceContext(carrier: unknown): TraceContext | undefined {
  if (!isJsonObject(carrier) || !Object.hasOwn(carrier, "traceparent")) return undefined;
  const field = (key: keyof TraceContext): unknown => (Object.hasOwn(carrier, key) ? carrier[key] : undefined);
  const traceparent = field("traceparent");
  if (typeof traceparent !== "string" || !traceparentForm.test(traceparent)) return undefined;
  const tracestate = readList(field("tracestate"), tracestateForm, maxTracestate);
  const baggage = readList(field("baggage"), baggageForm, maxBaggage);
  return Object.freeze({
    traceparent,
    ...(tracestate === undefined ? {} : { tracestate }),
    ...(baggage === undefined ? {} : { baggage }),
  });
}
