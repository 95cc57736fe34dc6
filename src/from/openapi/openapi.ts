import { body as toBody, jsonBody } from "../../catalog/content/resource-body.ts";
import type { MountedOperation, MountedResource, MountSource } from "../../catalog/mounts/mount.ts";
import { operationRegistry, type RegisteredOperation } from "../../catalog/mounts/operation-registry.ts";
import { readResource } from "../../catalog/mounts/read-mounted.ts";
import { SurfaceError } from "../../errors.ts";
import { isRecord } from "../../options/is-object.ts";
import { callable, required, text, type OptionFields } from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import { isJsonObject, toList } from "../../schema/json.ts";
import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import { clipText } from "../../schema/visible-text.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { doing, naming, partOf, readDocument, textOf, type DocumentReader } from "./document.ts";
import { readKind, toName, type ReadExposure } from "./expose.ts";
import type { OpenApiDocument, OpenApiExpose, OpenApiExposeMap, OpenApiNames } from "./openapi-types.ts";
import { readInput } from "./parameters.ts";
import { UrlTemplate } from "./request-url.ts";
import { readResponses } from "./responses.ts";
import { maxTextBytes } from "./schemas.ts";
import { send, type OpenApiCredentials, type OpenApiFetch, type PreparedOperation } from "./send.ts";

/** Options of {@link fromOpenApi}. */
export interface OpenApiOptions {
  /** The URL before each path, with `http:` or `https:`. The `servers` of the document are not used. */
  readonly baseUrl: string;
  /**
   * Returns the headers that authorise one request. Called once for each call. An error that it throws is masked, unless it is a
   * `Refusal`. The token of the caller is not passed on. @default none
   */
  readonly credentials?: OpenApiCredentials;
  /** Sends a request. @default the global `fetch` */
  readonly fetch?: OpenApiFetch;
}

const maxTitleBytes = 128;

const fields: OptionFields<OpenApiOptions> = { baseUrl: required(text), credentials: callable, fetch: callable };

/** An exposed operation. */
interface Exposed extends ReadExposure {
  readonly name: string;
  readonly prepared: PreparedOperation;
  readonly texts: { readonly title?: string; readonly description?: string };
}

/** A document and the options for its operations. */
interface Source extends Pick<PreparedOperation, "credentials" | "fetch"> {
  readonly reader: DocumentReader;
  readonly base: URL;
}

function readBaseUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url?.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (url !== undefined && isPlain && /^https?:$/.test(url.protocol)) return url;
  throw invalidOption(doing, '"baseUrl" must be an http: or https: URL without credentials, query and fragment');
}

function textsOf(operation: object): Exposed["texts"] {
  const [summary, described] = [textOf(operation, "summary"), textOf(operation, "description")];
  const description = described ?? summary;
  return {
    ...(summary === undefined ? {} : { title: clipText(summary, maxTitleBytes) }),
    ...(description === undefined ? {} : { description: clipText(description, maxTextBytes) }),
  };
}

function securityOf(reader: DocumentReader, operation: object): readonly string[] {
  const given = toList(partOf(operation, "security") ?? partOf(reader.root, "security"));
  return [...new Set(given.flatMap((one) => (isRecord(one) ? Object.keys(one) : [])))];
}

function assertKind(key: string, as: ReadExposure["as"], { found: { method }, input }: PreparedOperation): void {
  if (as === "write") return;
  const isSafe = method === "GET" || method === "HEAD";
  if (isSafe && (as === "read" || (method === "GET" && !input.isRequired))) return;
  const why = isSafe
    ? 'only a GET without required inputs can be a resource; expose it as "read"'
    : `${method} may change something; expose it as "write"`;
  throw new SurfaceError("WRONG_KIND", `Cannot expose operation "${key}" as "${as}": ${why}`);
}

function prepare(key: string, value: unknown, { reader, base, credentials, fetch }: Source): Exposed {
  const exposure = readKind(key, value);
  const found = reader.find(key);
  const input = readInput(reader, found);
  const { method, path, operation } = found;
  const prepared: PreparedOperation = {
    found,
    about: Object.freeze({ key, method, path, security: Object.freeze(securityOf(reader, operation)) }),
    isRead: exposure.as !== "write",
    ...{ input, credentials, fetch },
    responses: readResponses(reader, operation),
    url: new UrlTemplate(base, path, input.parameters),
  };
  assertKind(key, exposure.as, prepared);
  const { name, ...options }: { readonly name?: unknown } = exposure.options;
  if (name !== undefined && typeof name !== "string")
    throw invalidOption(`Cannot expose operation "${key}"`, '"name" must be a text');
  return { as: exposure.as, options, name: name ?? toName(key), prepared, texts: textsOf(operation) };
}

function toTool({ as, options, name, prepared, texts }: Exposed): RegisteredOperation {
  const { output } = prepared.responses;
  const operation: MountedOperation = {
    ...texts,
    ...options,
    name,
    type: as === "read" ? "query" : "mutation",
    inputSchema: prepared.input.schema,
    ...(output === undefined ? {} : { outputSchema: output }),
  };
  return [operation, (args: unknown, context) => send(prepared, isJsonObject(args) ? args : {}, context)];
}

/** Returns a content. The output of a tool is validated by the app; that of a resource here. */
function toContent(value: unknown, { responses: { output } }: PreparedOperation): unknown {
  if (value === undefined) return undefined;
  if (typeof value === "string" && output === undefined) return toBody({ mimeType: "text/plain", text: value });
  const json = anyCodec.encode(value);
  if (output === undefined) return jsonBody(json);
  const checked = fromJsonSchema(output)["~standard"].validate(json);
  if (!("then" in checked) && checked.issues === undefined) return jsonBody(json);
  throw new SurfaceError(
    "INVALID_OUTPUT",
    "Cannot use a response of the API: it does not fit the schema of the document",
  );
}

function toResources(exposed: readonly Exposed[]): Required<Pick<MountSource, "resources" | "read">> {
  const byName = new Map(exposed.map((one) => [one.name, one] as const));
  if (byName.size < exposed.length) {
    throw new SurfaceError(
      "NAME_COLLISION",
      `${doing}: two resources have one name; give one of them the option "name"`,
    );
  }
  const listed = exposed.map(({ name, options, texts }): MountedResource =>
    readResource({ ...texts, ...options, path: name }, ""),
  );
  return {
    resources: () => listed,
    async read(path, context) {
      const found = byName.get(path);
      return found === undefined ? undefined : toContent(await send(found.prepared, {}, context), found.prepared);
    },
  };
}

/**
 * Creates a mount source of the operations of an OpenAPI 3.0 or 3.1 document that the map names, and of no others. Requests go to
 * `baseUrl` and nowhere else. Nothing to close.
 *
 * @param document - the parsed document. References to other files must be bundled into it. Read once.
 * @param expose - exposures by `operationId`, or by method and path: `"GET /pets/{petId}"`.
 * @throws SurfaceError `UNKNOWN_MEMBER`, `WRONG_KIND`, `INVALID_OPTION`, `INVALID_NAME`, `NAME_COLLISION`, `CONTRADICTION`;
 * `SCHEMA_UNSUPPORTED` for an exposed operation that cannot be converted.
 * @example
 * ```ts
 * const pets = fromOpenApi(
 *   document,
 *   { listPets: "read", "GET /pets/{petId}": "read", createPet: { write: { confirm: true } } },
 *   { baseUrl: "https://api.example/v1", credentials: () => ({ authorization: `Bearer ${token}` }) },
 * );
 * ```
 */
export function fromOpenApi<$Document extends OpenApiDocument, const $Expose extends OpenApiExposeMap>(
  document: $Document,
  expose: $Expose & NoInfer<OpenApiExpose<$Document, $Expose>>,
  options: OpenApiOptions,
): MountSource<OpenApiNames<$Expose>> {
  const {
    baseUrl,
    credentials,
    fetch = globalThis.fetch,
  } = readOptions<OpenApiOptions, typeof fields>(options, fields, doing);
  const reader = readDocument(document);
  if (!isRecord(expose)) throw invalidOption(doing, "the map, the second argument, must be an object of keys");
  const source = { reader, base: readBaseUrl(baseUrl), credentials, fetch };
  const exposed = Object.entries<unknown>({ ...expose })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => naming(key, () => prepare(key, value, source)));
  const registry = operationRegistry(exposed.filter(({ as }) => as !== "resource").map(toTool));
  const resources = exposed.filter(({ as }) => as === "resource");
  return Object.freeze({
    list: () => registry.list(),
    // A document does not change.
    subscribe: () => () => {},
    invoke: (name, input, context) => registry.invoke(name, input, context),
    ...(resources.length === 0 ? {} : toResources(resources)),
  } satisfies MountSource);
}
