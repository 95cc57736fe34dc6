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
  OtelSpan,
  OtelSpanOptions,
  OtelTracer,
} from "./otel-api.ts";
