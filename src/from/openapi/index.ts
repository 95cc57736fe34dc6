/** The entry `surface-mcp/from/openapi`: the operations of an OpenAPI document, as far as a map names them. */
export { mcpOpenApi, type McpOpenApiOptions } from "../../builder/mcp-openapi.ts";
export { operations } from "./document.ts";
export { fromOpenApi, type OpenApiOptions } from "./openapi.ts";
export type { OpenApiDocument, OpenApiExposeMap, OpenApiExposure } from "./openapi-types.ts";
export type { OpenApiReadOptions, OpenApiResourceOptions, OpenApiWriteOptions } from "./openapi-types.ts";
export type { OpenApiResponse } from "./responses.ts";
export type { OpenApiCredentials, OpenApiFetch, OpenApiHeaders, OpenApiOperation, OpenApiRequest } from "./send.ts";
