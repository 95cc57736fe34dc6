import { AsyncLocalStorage } from "node:async_hooks";
import * as api from "@opentelemetry/api";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { OtelAttributes, OtelHistogramOptions, OtelMeter } from "../../src/otel/index.ts";

/** The context manager of the SDK, whose package for Node 20 is of another version. */
class StorageContextManager {
  readonly #storage = new AsyncLocalStorage<api.Context>();
  active(): api.Context {
    return this.#storage.getStore() ?? api.ROOT_CONTEXT;
  }
  with<TResult>(
    ...[context, run, self, ...args]: readonly [
      context: api.Context,
      run: (...args: unknown[]) => TResult,
      self?: unknown,
      ...args: unknown[],
    ]
  ): TResult {
    return this.#storage.run(context, () => Reflect.apply<unknown, unknown[], TResult>(run, self, args));
  }
  bind<TTarget>(_context: api.Context, target: TTarget): TTarget {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

/** Registers the SDK in this process. Returns its finished spans, and a function that removes it. */
export function registerSdk(...more: readonly SpanProcessor[]) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter), ...more] });
  api.trace.setGlobalTracerProvider(provider);
  // The tests pass no arguments to functions that run in a context.
  api.context.setGlobalContextManager(new StorageContextManager() as unknown as api.ContextManager);
  api.propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  return {
    provider,
    spans: (): readonly ReadableSpan[] => exporter.getFinishedSpans(),
    reset: () => exporter.reset(),
    remove: () => {
      api.trace.disable();
      api.context.disable();
      api.propagation.disable();
    },
  };
}

interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly attributes: OtelAttributes;
}

/** Creates a meter that keeps its histograms and measurements. */
export function createMeter() {
  const measured: Measurement[] = [];
  const histograms: [name: string, options: OtelHistogramOptions][] = [];
  const meter: OtelMeter = {
    createHistogram(name, options) {
      histograms.push([name, options]);
      return { record: (value, attributes) => void measured.push({ name, value, attributes }) };
    },
  };
  return { meter, measured, histograms };
}
