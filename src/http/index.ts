export { http, type HttpServing } from "./http.ts";
export { httpHandler, type HttpHandler } from "./http-handler.ts";
export type { HttpStats } from "./create-core.ts";
export type { HttpHandlerOptions, HttpOptions, RateLimits } from "./http-options.ts";
export type { Stage, StageCounts } from "./stages.ts";
