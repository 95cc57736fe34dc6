import { createRetryable } from "../../catalog/own-refusals.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import type { JsonSchema, JsonValue } from "../../schema/json.ts";
import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import { toVisibleJson } from "../../schema/visible-text.ts";
import { fieldsIn, partOf, resolve, type DocumentReader } from "./document.ts";
import { isJsonMedia, jsonContentOf } from "./parameters.ts";
import { SchemaConverter } from "./schemas.ts";
import { textAt } from "../rpc/procedure.ts";

/** The part of a response that is read. */
export interface OpenApiResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}

/** The responses that an operation declares. */
export interface DeclaredResponses {
  /** The schema of its result; `undefined` if it may have other results than JSON of one schema. */
  readonly output: JsonSchema | undefined;
  /** Media types of texts that it declares. */
  readonly texts: readonly string[];
  /** Returns the declaration of an error: the description of its status, and the schema of its JSON body. */
  readonly errorOf: (status: number) => readonly [description: string | undefined, schema: JsonSchema | undefined];
}

/** Bytes of a response, after decompression, that are read. */
const maxResponseBytes = 1_048_576;

/** Bytes of an error's body that are read; a refusal carries no more. */
const maxErrorBytes = 16_384;

const maxRetryMs = 86_400_000;

function mediaTypeOf(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function schemaOf(reader: DocumentReader, response: unknown): JsonSchema | undefined {
  const schema = jsonContentOf(partOf(response, "content"))?.[1];
  if (schema === undefined) return undefined;
  const converter = new SchemaConverter(reader, "output");
  return converter.withDefinitions(converter.convert(schema));
}

/** Reads the declared responses of an operation. Schemas of errors are converted when the API first answers with one. */
export function readResponses(reader: DocumentReader, operation: object): DeclaredResponses {
  const fields = fieldsIn(partOf(operation, "responses"));
  const declared = new Map(fields.map(([status, given]) => [status.toUpperCase(), given]));
  const results = [...declared].flatMap(([status, given]) =>
    /^2(?:\d\d|XX)$/.test(status) ? [resolve(reader.root, given)] : [],
  );
  const types = results.flatMap((given) => fieldsIn(partOf(given, "content")).map(([type]) => type));
  const others = types.filter((type) => !isJsonMedia(type)).map(mediaTypeOf);
  return {
    output: results.length === 1 && others.length === 0 ? schemaOf(reader, results[0]) : undefined,
    texts: others.filter((type) => type.startsWith("text/")),
    errorOf(status) {
      const own = resolve(reader.root, declared.get(String(status)));
      const found = own ?? resolve(reader.root, declared.get("4XX") ?? declared.get("DEFAULT"));
      return [textAt(own, "description"), schemaOf(reader, found)];
    },
  };
}

/** Ends a body that is not read. A pending one would keep its connection. */
export function discard({ body }: OpenApiResponse): void {
  // It fails if the connection is broken already, which is as good.
  if (body !== null && !body.locked) void body.cancel().catch(() => {});
}

function invalidResponse(problem: string, cause?: unknown): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", `Cannot use a response of the API: ${problem}`, { cause });
}

/** Reads at most `most` bytes of text; `undefined` for a longer body, which ends there. @throws SurfaceError `INVALID_OUTPUT`. */
async function readText({ body }: OpenApiResponse, most: number): Promise<string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw invalidResponse("it is not UTF-8", cause);
    }
  };
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > most) return undefined;
    text += decode(chunk);
  }
  return text + decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidResponse("it is not JSON", cause);
  }
}

/** Returns a value that fits a schema. @throws SurfaceError `INVALID_OUTPUT`. */
export function assertFits(value: unknown, schema: JsonSchema): JsonValue {
  const checked = fromJsonSchema(schema)["~standard"].validate(value);
  if (!("then" in checked) && checked.issues === undefined) return checked.value;
  throw invalidResponse("it does not fit the schema of the document");
}

/**
 * Reads the result of a response with a status of 2xx: JSON, or a text of a declared media type; `undefined` for an empty body.
 *
 * @throws SurfaceError `INVALID_OUTPUT` for any other body; Refusal `UPSTREAM_TOO_LARGE`.
 */
export async function readResult(response: OpenApiResponse, { texts }: DeclaredResponses): Promise<unknown> {
  const type = mediaTypeOf(response.headers.get("content-type"));
  const isText = type === "text/plain" || texts.includes(type);
  if (!isText && type !== "" && !isJsonMedia(type) && response.body !== null) {
    discard(response);
    const shown = JSON.stringify(type.slice(0, 64));
    throw invalidResponse(`its media type is ${shown}, which the document does not declare`);
  }
  const text = await readText(response, maxResponseBytes);
  if (text === undefined) {
    const message = `the API accepted the request, but its response is larger than ${maxResponseBytes} bytes and was dropped: request less at once`;
    throw new Refusal("UPSTREAM_TOO_LARGE", message);
  }
  if (text === "") return undefined;
  return isText ? text : parse(text);
}

/** Returns the milliseconds of a `Retry-After`; `undefined` without a valid one. */
function retryAfterOf({ headers }: OpenApiResponse): number | undefined {
  const given = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d{1,9}$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  // JavaScript reads "-5" as a date.
  return Number.isNaN(ms) || given.startsWith("-") ? undefined : Math.min(maxRetryMs, Math.max(0, ms));
}

/** Returns the refusal for a response with a status of 4xx. Its body is shown only if it fits the schema that the document declares. */
export async function toRefusal(response: OpenApiResponse, { errorOf }: DeclaredResponses): Promise<Refusal> {
  const { status, headers } = response;
  const code = `UPSTREAM_${status}`;
  let message = `the API refused the request with status ${status}`;
  let details: unknown;
  try {
    if (status === 429) {
      const retryAfterMs = retryAfterOf(response);
      if (retryAfterMs === undefined) return createRetryable(code, `${message}: too many requests`);
      return createRetryable(code, `${message}: wait ${retryAfterMs} ms before the next`, { retryAfterMs });
    }
    const [description, schema] = errorOf(status);
    if (description !== undefined) message += `: ${description}`;
    if (schema !== undefined && isJsonMedia(headers.get("content-type") ?? "")) {
      details = assertFits(parse((await readText(response, maxErrorBytes)) ?? ""), schema);
      // Models read the message, and no details.
      message += `; it says ${toVisibleJson(details)}`;
    }
  } catch {
    // The status is the answer, also if the body breaks or is not what the document declares.
  } finally {
    discard(response);
  }
  return new Refusal(code, message, details);
}

/** Returns the refusal for a response with a status of 5xx or 3xx. After either, a change may have been made. */
export function toFailedRefusal(status: number, isRead: boolean): Refusal {
  const problem =
    status < 500 ? `answered with status ${status}, a redirect that is not followed` : `failed with status ${status}`;
  const message = `the API ${problem}`;
  const code = `UPSTREAM_${status}`;
  if (isRead) return status < 500 ? new Refusal(code, message) : createRetryable(code, message);
  const advice = "whether the change was made is unknown: read the state before you try again";
  return new Refusal("OUTCOME_UNKNOWN", `${message}, and ${advice}`);
}
