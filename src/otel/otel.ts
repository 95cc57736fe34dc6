import type { Observation, WorkEnd, WorkStart } from "../observe/observation.ts";
import type { Observer } from "../observe/observers.ts";
import { isObject } from "../options/is-object.ts";
import type { TraceContext } from "../surface/trace-context.ts";
import { objectWithMethods, option, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import {
  findGlobalApi,
  spanOf,
  withSpan,
  type OtelApi,
  type OtelAttributes,
  type OtelContext,
  type OtelGetter,
  type OtelHistogram,
  type OtelLink,
  type OtelMeter,
  type OtelSetter,
  type OtelSpan,
  type OtelTracer,
} from "./otel-api.ts";
import {
  toEndAttributes,
  toOperationAttributes,
  toSessionAttributes,
  toSpanName,
  toStartAttributes,
} from "./otel-attributes.ts";

/** Options of {@link otel}. */
export interface OtelOptions {
  /** Creates the spans. @default the tracer `surface-mcp` of `api` */
  readonly tracer?: OtelTracer;
  /** Creates the histograms. @default the meter `surface-mcp` of `api` */
  readonly meter?: OtelMeter;
  /** The module `@opentelemetry/api`. @default the instance that the SDK registered in this process */
  readonly api?: OtelApi;
}

const optionFields: OptionFields<OtelOptions> = {
  tracer: objectWithMethods(["startSpan"], "a tracer of OpenTelemetry"),
  meter: objectWithMethods(["createHistogram"], "a meter of OpenTelemetry"),
  api: option("the module @opentelemetry/api", isObject),
};

const scope = "surface-mcp";
/** `SpanKind` and `SpanStatusCode` of the API. */
const kinds = { internal: 0, server: 1 };
const errorStatus = { code: 2 };

/** Seconds, by the conventions. */
const buckets = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

const getter: OtelGetter = {
  keys: (carrier) => Object.keys(carrier),
  get(carrier, key) {
    const value: unknown = Object.hasOwn(carrier, key) ? Reflect.get(carrier, key) : undefined;
    return typeof value === "string" ? value : undefined;
  },
};

const setter: OtelSetter = { set: (carrier, key, value) => void Reflect.set(carrier, key, value) };

interface Histograms {
  readonly operation: OtelHistogram;
  readonly session: OtelHistogram;
}

function createHistograms(meter: OtelMeter): Histograms {
  const create = (name: string, description: string): OtelHistogram =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: buckets } });
  return {
    operation: create("mcp.server.operation.duration", "Duration of a request, until its result is sent."),
    session: create("mcp.server.session.duration", "Duration of a session."),
  };
}

/** Returns a function that creates a value once for each origin, and has the latest alone: an SDK may be registered at any time. */
function rememberLatest<TOrigin, TValue>(create: (origin: TOrigin) => TValue): (origin: TOrigin) => TValue {
  let latest: { readonly origin: TOrigin; readonly value: TValue } | undefined;
  return (origin) => {
    if (latest?.origin !== origin) latest = { origin, value: create(origin) };
    return latest.value;
  };
}

/** A request or nested call that runs. Has no span without a tracer, and no context if none is registered. */
interface RunningWork {
  readonly span: OtelSpan;
  readonly context: OtelContext | undefined;
}

/** The parent of a span, and its links. */
interface Parentage {
  readonly context: OtelContext | undefined;
  readonly links: OtelLink[];
}

class OtelObserver implements Observer {
  readonly #options: OtelOptions;
  readonly #running = new Map<string, RunningWork>();
  readonly #tracerOf = rememberLatest((trace: NonNullable<OtelApi["trace"]>) => trace.getTracer(scope));
  readonly #meterOf = rememberLatest((metrics: NonNullable<OtelApi["metrics"]>) => metrics.getMeter(scope));
  readonly #histogramsOf = rememberLatest(createHistograms);

  constructor(options: OtelOptions) {
    this.#options = options;
  }

  record(observation: Observation): void {
    const { type } = observation;
    if (type === "request-start" || type === "call-start") this.#start(observation);
    else if (type === "request-end" || type === "call-end") this.#end(observation);
    else if (type === "session-end")
      this.#histograms()?.session.record(observation.ms / 1000, toSessionAttributes(observation));
  }

  around(start: WorkStart, run: () => unknown): void {
    const context = this.#running.get(start.id)?.context;
    const contexts = this.#api().context;
    if (context === undefined || contexts === undefined) run();
    else contexts.with(context, run);
  }

  /** Returns the context of the span. Not that of the active one: a call that waits for a connection is sent by other code. */
  trace(start: WorkStart): TraceContext | undefined {
    const context = this.#running.get(start.id)?.context;
    if (context === undefined) return undefined;
    const carrier = {};
    this.#api().propagation?.inject(context, carrier, setter);
    // The text is checked by its reader: a propagator may write other headers.
    return carrier as TraceContext;
  }

  #start(start: WorkStart): void {
    const tracer = this.#tracer();
    if (tracer === undefined) return;
    const { context, links } = this.#findParent(start);
    const kind = start.type === "request-start" ? kinds.server : kinds.internal;
    const span = tracer.startSpan(toSpanName(start), { kind, attributes: toStartAttributes(start), links }, context);
    this.#running.set(start.id, { span, context: context && withSpan(context, span) });
  }

  #end(end: WorkEnd): void {
    const running = this.#running.get(end.id);
    this.#running.delete(end.id);
    if (running !== undefined) endSpan(running.span, toEndAttributes(end));
    // A nested call is no operation of the protocol.
    if (end.type === "request-end")
      this.#histograms()?.operation.record(end.ms / 1000, toOperationAttributes(end), running?.context);
  }

  /** Finds the parent: the caller of a nested call, the trace of the request, or the span of the HTTP server. */
  #findParent(start: WorkStart): Parentage {
    const caller = start.type === "call-start" ? this.#running.get(start.parent) : undefined;
    if (caller !== undefined) return { context: caller.context, links: [] };
    const { context: contexts, propagation } = this.#api();
    if (contexts === undefined) return { context: undefined, links: [] };
    const active = contexts.active();
    // Over stdio the active span, if any, is that of the start of the server.
    const base = start.transport === "stdio" ? withSpan(active, undefined) : active;
    const ambient = spanOf(base);
    const trace = toRemoteTrace(start, ambient !== undefined);
    if (trace === undefined || propagation === undefined) return { context: base, links: [] };
    const context = propagation.extract(base, trace, getter);
    const isLinked = ambient !== undefined && spanOf(context) !== ambient;
    return { context, links: isLinked ? [{ context: ambient.spanContext() }] : [] };
  }

  #api(): OtelApi {
    return this.#options.api ?? findGlobalApi() ?? {};
  }

  #tracer(): OtelTracer | undefined {
    const { trace } = this.#api();
    return this.#options.tracer ?? (trace && this.#tracerOf(trace));
  }

  #histograms(): Histograms | undefined {
    const { metrics } = this.#api();
    const meter = this.#options.meter ?? (metrics && this.#meterOf(metrics));
    return meter && this.#histogramsOf(meter);
  }
}

/** Returns the trace context that is the parent of a span. @param isActive - whether a span is active. */
function toRemoteTrace(start: WorkStart, isActive: boolean): TraceContext | undefined {
  // The instrumentation of the HTTP server made the active span of the headers, or instead of them.
  return isActive && "traceFrom" in start && start.traceFrom === "headers" ? undefined : start.trace;
}

function endSpan(span: OtelSpan, attributes: OtelAttributes): void {
  span.setAttributes(attributes);
  if (attributes["error.type"] !== undefined) span.setStatus(errorStatus);
  span.end();
}

/**
 * Creates an observer that makes OpenTelemetry spans and metrics by the conventions for MCP: a span of kind `SERVER` for each
 * request, a child for each nested call, and the histograms `mcp.server.operation.duration` and `mcp.server.session.duration`.
 *
 * The parent is the trace context in the request's `_meta`, else the active span, such as that of an HTTP server. Handlers run within
 * the span. Does nothing while no SDK is registered. With `api`, register the metrics SDK before the first request.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function otel(options: OtelOptions = {}): Observer {
  return new OtelObserver(readOptions(options, optionFields, "Cannot trace an app"));
}
