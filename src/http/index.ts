export { http, httpHandler, type HttpHandler, type HttpServing, type ServedPage } from "./http.ts";
export { inspectorHandler, type InspectorHandler } from "./inspector/inspector-handler.ts";
export type {
  InspectorHandlerOptions,
  InspectorListenOptions,
  LivePageOptions,
} from "./inspector/inspector-options.ts";
export type { AddressedRequest } from "./addresses.ts";
export type { Stage, StageCounts } from "./admission.ts";
export type { HttpLimits, LimitOptions, LimitUse } from "./budgets.ts";
export type { HttpStats } from "./core.ts";
export { fromRateLimiterFlexible, memoryLimiter, type FlexibleLimiter } from "./limiters.ts";
export type { HttpHandlerOptions, HttpOptions, RateLimits } from "./options.ts";

export { bearer, type AuthOptions, type BearerOptions, type HttpAuth, type VerifiedToken } from "./auth/http-auth.ts";
export { oauthResource, type OauthResourceOptions } from "./auth/oauth-resource.ts";
export {
  tokenRegistry,
  type ListedToken,
  type MintedToken,
  type TokenGrant,
  type TokenRecord,
  type TokenRegistry,
  type TokenRegistryOptions,
  type TokenStore,
} from "./auth/token-registry.ts";
