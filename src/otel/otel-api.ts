/** Attributes of a span or a measurement. */
export type OtelAttributes = Readonly<Record<string, string>>;

/** A context of OpenTelemetry. Immutable. */
export interface OtelContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OtelContext;
  deleteValue(key: symbol): OtelContext;
}

/** A span of OpenTelemetry. */
export interface OtelSpan {
  spanContext(): OtelLink["context"];
  setAttributes(attributes: OtelAttributes): unknown;
  setStatus(status: { readonly code: number }): unknown;
  end(): void;
}

/** A link from a span to another one. */
export interface OtelLink {
  readonly context: { readonly traceId: string; readonly spanId: string; readonly traceFlags: number };
}

/** Options of a new span. */
export interface OtelSpanOptions {
  readonly kind?: number;
  readonly attributes?: OtelAttributes;
  readonly links?: OtelLink[];
}

/** A tracer of OpenTelemetry. */
export interface OtelTracer {
  startSpan(name: string, options: OtelSpanOptions, context?: OtelContext): OtelSpan;
}

/** A histogram of OpenTelemetry. */
export interface OtelHistogram {
  record(value: number, attributes: OtelAttributes, context?: OtelContext): void;
}

/** Options of a new histogram. */
export interface OtelHistogramOptions {
  readonly description?: string;
  readonly unit?: string;
  readonly advice?: { explicitBucketBoundaries?: number[] };
}

/** A meter of OpenTelemetry. */
export interface OtelMeter {
  createHistogram(name: string, options: OtelHistogramOptions): OtelHistogram;
}

/** Reads a carrier of trace context. */
export interface OtelGetter {
  keys(carrier: object): string[];
  get(carrier: object, key: string): string | undefined;
}

/** Writes a carrier of trace context. */
export interface OtelSetter {
  set(carrier: object, key: string, value: string): void;
}

/** The members of the module `@opentelemetry/api` that are used. The global object that the module registers has the same. */
export interface OtelApi {
  readonly trace?: { getTracer(name: string): OtelTracer };
  readonly metrics?: { getMeter(name: string): OtelMeter };
  readonly context?: { active(): OtelContext; with(context: OtelContext, run: () => unknown): unknown };
  readonly propagation?: {
    extract(context: OtelContext, carrier: object, getter: OtelGetter): OtelContext;
    inject(context: OtelContext, carrier: object, setter: OtelSetter): void;
  };
}

/** The global object of `@opentelemetry/api` 1.x, whose members the SDK registers. */
const globalKey = Symbol.for("opentelemetry.js.api.1");

/** The key of the span in a context: `createContextKey` of `@opentelemetry/api` 1.x. */
const spanKey = Symbol.for("OpenTelemetry Context Key SPAN");

/** Returns the API that the SDK registered in this process, if any. */
export function findGlobalApi(): OtelApi | undefined {
  // The shape is that of the major version in the key.
  return Reflect.get(globalThis, globalKey) as OtelApi | undefined;
}

/** Returns the span of a context. */
export function spanOf(context: OtelContext): OtelSpan | undefined {
  // Only `trace.setSpan` and `withSpan` write this key.
  return context.getValue(spanKey) as OtelSpan | undefined;
}

/** Returns a context with a span, or without one. */
export function withSpan(context: OtelContext, span: OtelSpan | undefined): OtelContext {
  return span === undefined ? context.deleteValue(spanKey) : context.setValue(spanKey, span);
}
