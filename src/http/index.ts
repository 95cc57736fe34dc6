export { http, type HttpServing } from "./http.ts";
export { httpHandler, type HttpHandler } from "./http-handler.ts";
export type { HttpLimits, LimitOptions, LimitUse } from "./budgets.ts";
export type { AddressedRequest } from "./addresses.ts";
export type { HttpStats } from "./core.ts";
export type { HttpHandlerOptions, HttpOptions, RateLimits } from "./http-options.ts";
export { type Stage, type StageCounts } from "./admission.ts";

export { bearer, type BearerOptions } from "./auth/http-auth.ts";
export { oauthResource, type OauthResourceOptions } from "./auth/oauth-resource.ts";
export type { AuthOptions } from "./auth/http-auth.ts";
export type { HttpAuth, VerifiedToken } from "./auth/http-auth.ts";

export { memoryLimiter } from "./limiters.ts";
export { fromRateLimiterFlexible, type FlexibleLimiter } from "./limiters.ts";

export {
  tokenRegistry,
  type ListedToken,
  type MintedToken,
  type TokenRegistry,
  type TokenRegistryOptions,
} from "./tokens/token-registry.ts";
export type { TokenGrant } from "./tokens/token-registry.ts";
export type { TokenRecord, TokenStore } from "./tokens/token-store.ts";
