import { createRetryable } from "../../catalog/own-refusals.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import type { JsonSchema } from "../../schema/json.ts";
import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import { fieldsIn, partOf, resolve, textOf, type DocumentReader } from "./document.ts";
import { isJsonMedia, jsonContentOf } from "./parameters.ts";
import { SchemaConverter } from "./schemas.ts";

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
  /** Returns the declaration of an error. */
  readonly errorOf: (status: number) => DeclaredError | undefined;
}

/** A declared error. */
export interface DeclaredError {
  readonly description: string | undefined;
  /** The schema of its JSON body. */
  readonly schema: JsonSchema | undefined;
}

/** Bytes of a response, after decompression, that are read. */
export const maxResponseBytes = 1_048_576;

/** Bytes of an error's body that are read; a refusal carries no more. */
const maxErrorBytes = 16_384;

const maxRetryMs = 86_400_000;

/** Reads the declared responses of an operation. Schemas of errors are converted when the API first answers with one. */
export function readResponses(reader: DocumentReader, operation: object): DeclaredResponses {
  const declared = new Map(
    fieldsIn(partOf(operation, "responses")).map(([status, given]) => [status.toUpperCase(), given]),
  );
  const schemaOf = (given: unknown): JsonSchema | undefined => {
    const content = jsonContentOf(partOf(given, "content"));
    if (content?.[1] === undefined) return undefined;
    const converter = new SchemaConverter(reader, "output");
    return converter.withDefinitions(converter.convert(content[1]));
  };
  const succeeding = [...declared].filter(([status]) => /^2(?:\d\d|XX)$/.test(status));
  const results = succeeding.map(([, given]) => resolve(reader.root, given));
  const texts = results.flatMap((given) =>
    fieldsIn(partOf(given, "content")).flatMap(([type]) => (isJsonMedia(type) ? [] : [mediaTypeOf(type)])),
  );
  return {
    output: results.length === 1 && texts.length === 0 ? schemaOf(results[0]) : undefined,
    texts: texts.filter((type) => type.startsWith("text/")),
    errorOf(status) {
      const given = declared.get(String(status)) ?? declared.get("4XX") ?? declared.get("DEFAULT");
      if (given === undefined) return undefined;
      const found = resolve(reader.root, given);
      return {
        description: declared.has(String(status)) ? textOf(found, "description") : undefined,
        schema: schemaOf(found),
      };
    },
  };
}

function mediaTypeOf(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Ends a body that is not read. A pending one would keep its connection. */
export function discard({ body }: OpenApiResponse): void {
  // It fails if the connection is broken already, which is as good.
  if (body !== null && !body.locked) void body.cancel().catch(() => {});
}

/** Reads at most `most` bytes of text; `undefined` for a longer body. @throws for bytes that are not UTF-8. */
async function readText(response: OpenApiResponse, most: number): Promise<string | undefined> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > most) {
      void reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function invalidResponse(problem: string, cause?: unknown): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", `Cannot use a response of the API: ${problem}`, { cause });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidResponse("its body is not JSON", cause);
  }
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
    throw invalidResponse(
      `its media type is ${JSON.stringify(type.slice(0, 64))}, which the document does not declare`,
    );
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

/** Returns the body of an error if it fits its schema. */
async function readDetails(response: OpenApiResponse, schema: JsonSchema | undefined): Promise<unknown> {
  const type = mediaTypeOf(response.headers.get("content-type"));
  if (schema === undefined || !isJsonMedia(type)) {
    discard(response);
    return undefined;
  }
  const text = await readText(response, maxErrorBytes);
  if (text === undefined || text === "") return undefined;
  const value: unknown = parse(text);
  const checked = fromJsonSchema(schema)["~standard"].validate(value);
  return "then" in checked || checked.issues !== undefined ? undefined : value;
}

/** Returns the refusal for a response with a status of 4xx. Its body is shown only if the document declares it. */
export async function toRefusal(response: OpenApiResponse, { errorOf }: DeclaredResponses): Promise<Refusal> {
  const { status } = response;
  const code = `UPSTREAM_${status}`;
  const refused = `the API refused the request with status ${status}`;
  if (status === 429) {
    discard(response);
    const retryAfterMs = retryAfterOf(response);
    if (retryAfterMs === undefined) return createRetryable(code, `${refused}: too many requests`);
    return createRetryable(code, `${refused}: wait ${retryAfterMs} ms before the next`, { retryAfterMs });
  }
  try {
    const { description, schema } = errorOf(status) ?? {};
    const message = description === undefined ? refused : `${refused}: ${description}`;
    return new Refusal(code, message, await readDetails(response, schema));
  } catch {
    // The status is the answer, also if the body breaks or its declaration cannot be converted.
    discard(response);
    return new Refusal(code, refused);
  }
}
