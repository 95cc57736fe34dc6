import type { OpenApiDocument, OpenApiExpose, OpenApiExposeMap, OpenApiNames } from "../from/openapi/openapi-types.ts";
import { fromOpenApi, type OpenApiOptions } from "../from/openapi/openapi.ts";
import type { McpOptions } from "./app-definition.ts";
import { appOfMount, type MountedApp } from "./app-of-mount.ts";

/** Options of `fromOpenApi()` and `mcp()`. */
export interface McpOpenApiOptions extends McpOptions, OpenApiOptions {}

/**
 * Creates an app of the operations of an OpenAPI document that the map names. Tools have the names of their keys.
 *
 * @param options - those of `fromOpenApi()` and `mcp()`; `name` defaults to `"openapi"`.
 * @throws SurfaceError as `fromOpenApi()` and `mcp()` do.
 * @example
 * ```ts
 * await mcpOpenApi(document, { listPets: "read" }, { baseUrl: "https://api.example/v1" }).serve();
 * ```
 */
export function mcpOpenApi<$Document extends OpenApiDocument, const $Expose extends OpenApiExposeMap>(
  document: $Document,
  expose: $Expose & NoInfer<OpenApiExpose<$Document, $Expose>>,
  options: McpOpenApiOptions,
): MountedApp<OpenApiNames<$Expose>> {
  const { baseUrl, credentials, fetch, ...rest } = options;
  const given = { baseUrl, ...(credentials && { credentials }), ...(fetch && { fetch }) };
  return appOfMount(rest.name ?? "openapi", fromOpenApi<$Document, $Expose>(document, expose, given), rest);
}
