import type { MountSource } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { isRecord } from "../../options/is-object.ts";
import { callable, required, text, type OptionFields } from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import { isJsonObject, toList, type JsonValue } from "../../schema/json.ts";
import { clipText } from "../../schema/visible-text.ts";
import { textAt, toTexts, type RpcProcedure } from "../rpc/procedure.ts";
import { createRpcSource, readExposeValue, type Exposed, type ExposureForms } from "../rpc/source.ts";
import { doing, DocumentReader, naming, partOf } from "./document.ts";
import type { OpenApiDocument, OpenApiExpose, OpenApiExposeMap, OpenApiNames } from "./openapi-types.ts";
import { readInput } from "./parameters.ts";
import { UrlTemplate } from "./request-url.ts";
import { assertFits, readResponses } from "./responses.ts";
import { maxTextBytes, SchemaConverter } from "./schemas.ts";
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
const exposures: ExposureForms<"read" | "write" | "resource"> = { words: ["read", "write", "resource"], fixed: [] };

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

function securityOf(reader: DocumentReader, operation: object): readonly string[] {
  const given = toList(partOf(operation, "security") ?? partOf(reader.root, "security"));
  return [...new Set(given.flatMap((one) => (isRecord(one) ? Object.keys(one) : [])))];
}

function assertKind(key: string, as: string, { method, isRequired }: { method: string; isRequired: boolean }): void {
  if (as === "write") return;
  const isSafe = method === "GET" || method === "HEAD";
  if (isSafe && (as === "read" || (method === "GET" && !isRequired))) return;
  const why = isSafe
    ? 'only a GET without required inputs can be a resource; expose it as "read"'
    : `${method} may change something; expose it as "write"`;
  throw new SurfaceError("WRONG_KIND", `Cannot expose operation "${key}" as "${as}": ${why}`);
}

function toProcedure(prepared: PreparedOperation, operation: object, isResource: boolean): RpcProcedure {
  const { input, isRead } = prepared;
  const { output, texts } = prepared.responses;
  const summary = textAt(operation, "summary");
  const description = textAt(operation, "description") ?? summary;
  return {
    kind: isRead ? "query" : "mutation",
    texts: toTexts(summary && clipText(summary, maxTitleBytes), description && clipText(description, maxTextBytes)),
    ...(output === undefined && texts[0] !== undefined ? { mimeType: texts[0] } : {}),
    input: {
      json: input.schema,
      isRequired: () => input.isRequired,
      empty: () => ({}),
      root: "",
      decode: (args) => args,
    },
    // The app validates the output of a tool. It has been read as JSON.
    output: output && { json: output, encode: (json) => (isResource ? assertFits(json, output) : (json as JsonValue)) },
    call: (args, call) => send(prepared, isJsonObject(args) ? args : {}, call),
    toError: (cause) => cause,
  };
}

function readEntry(key: string, value: unknown, { reader, base, ...sender }: Source): Exposed {
  const attempt = `Cannot expose operation "${key}"`;
  const { as, options: given } = readExposeValue(attempt, value, exposures);
  const { name = toName(key), ...options }: { readonly name?: unknown } = given;
  if (typeof name !== "string") throw invalidOption(attempt, '"name" must be a text');
  const found = reader.find(key);
  const { method, path, operation } = found;
  const input = readInput(new SchemaConverter(reader, "input"), found);
  assertKind(key, as, { method, isRequired: input.isRequired });
  const about = Object.freeze({ key, method, path, security: Object.freeze(securityOf(reader, operation)) });
  const url = new UrlTemplate(base, path, input.parameters);
  const isResource = as === "resource";
  const prepared = {
    ...sender,
    about,
    isRead: as !== "write",
    input,
    responses: readResponses(reader, operation),
    url,
  };
  return { name, procedure: toProcedure(prepared, operation, isResource), as: isResource ? as : "tool", options };
}

const unplain = /[^A-Za-z0-9_.-]+/g;

/** Returns the name for a key: runs of other characters than letters, digits, `_`, `-` and dots become one `_`. */
function toName(key: string): string {
  const parts = key.split(unplain).filter((part) => part !== "");
  return parts.join("_");
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
  const read = readOptions<OpenApiOptions, typeof fields>(options, fields, doing);
  const { baseUrl, credentials, fetch = globalThis.fetch } = read;
  const source = { reader: new DocumentReader(document), base: readBaseUrl(baseUrl), credentials, fetch };
  return createRpcSource<OpenApiNames<$Expose>>(expose, (key, value) =>
    naming(key, () => readEntry(key, value, source)),
  );
}
