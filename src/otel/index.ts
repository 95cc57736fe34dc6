export { otel } from "./otel.ts";
export type { OtelOptions } from "./otel.ts";
export type {
  OtelApi,
  OtelAttributes,
  OtelContext,
  OtelGetter,
  OtelHistogram,
  OtelHistogramOptions,
  OtelLink,
  OtelMeter,
  OtelSetter,
  OtelSpan,
  OtelSpanOptions,
  OtelTracer,
} from "./otel-api.ts";
