/** The entry `surface-mcp/from/openapi`: the operations of an OpenAPI document, as far as a map names them. */
export { fromOpenApi, type OpenApiOptions } from "./openapi.ts";
export { operations } from "./operations.ts";
export type { OpenApiDocument, OpenApiExposeMap } from "./openapi-types.ts";
export type { OpenApiExposure, OpenApiReadOptions, OpenApiResourceOptions, OpenApiWriteOptions } from "./expose.ts";
export type { OpenApiResponse } from "./responses.ts";
export type { OpenApiCredentials, OpenApiFetch, OpenApiHeaders, OpenApiOperation, OpenApiRequest } from "./send.ts";
