import { createErrorResult, type ErrorResult } from "../catalog/outcome.ts";
import { renderIssues } from "../schema/render-issues.ts";
import type { ResourceBody, ResourceContent, ToolEntry } from "../catalog/entry.ts";
import { jsonMimeType } from "../catalog/content/resource-body.ts";
import type { Excerpt, KeptFor, LargeValues } from "./large-values.ts";
import { bytesOver, toRpcResult, toWellFormedJson, writeJson, type RpcAnswer } from "./protocol.ts";
import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import { pullOrigin, readResourceName } from "../catalog/resources/pull-tools.ts";
import type { JsonObject } from "../schema/json.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** The key of the machine-readable refusal in the `_meta` of a result. */
export const errorMetaKey = "surface-mcp/error";

const maxTextBytes = 2048;

/** Returns a refusal for the model: code, sentence and issues, at most 2 KiB of UTF-8. */
export function refusalText(refused: ErrorResult): string {
  const issues = refused.issues.length === 0 ? "" : `\n${renderIssues(refused.issues)}`;
  const text = `${refused.code}: ${refused.message}${issues}`;
  if (bytesOver(text, maxTextBytes) === undefined) return text;
  // A decoder that expects more leaves out the character that the cut went through; "…" takes 3 bytes.
  return `${new TextDecoder().decode(Buffer.from(text).subarray(0, maxTextBytes - 3), { stream: true })}…`;
}

/** Returns the refusal for programs. Members without a value are not written. */
export function refusalData({ code, message, issues, details, correlationId, retryable }: ErrorResult): object {
  const listed = issues.length === 0 ? undefined : issues;
  return { code, message, issues: listed, details, correlationId, retryable: retryable === true || undefined };
}

/** The key in `_meta` of a value that was cut: its length, and the URI of the next part. */
export const truncatedMetaKey = "surface-mcp/truncated";

/** Keeps large values for a caller. */
export interface Keeping extends KeptFor {
  readonly large: LargeValues;
}

function toMark({ bytes, next }: Excerpt): object {
  return { bytes, next };
}

function toMeta(excerpt: Excerpt): string {
  return `${JSON.stringify(truncatedMetaKey)}:${writeJson(toMark(excerpt))}`;
}

/** The beginning of a large result, and the tool call that reads on. */
interface LargeResult {
  readonly excerpt: Excerpt;
  readonly readOn: ReadOnCall | undefined;
}

/** Returns a link to the next part if no tool reads it: several clients reject a link, or take it for a file. */
function toLink({ excerpt: { next }, readOn }: LargeResult): string {
  if (next === undefined || readOn !== undefined) return "";
  const link = { type: "resource_link", uri: next, name: "next_part", title: "The next part", mimeType: jsonMimeType };
  return `,${writeJson(link)}`;
}

function tooLarge({ hints }: ToolEntry, details: { readonly bytes: number; readonly next?: string }): ErrorResult {
  const done = hints.readOnlyHint ? "the call succeeded" : "the call took effect and need not be repeated";
  const message = `${done}, but its result of ${details.bytes} bytes is more than one answer may hold`;
  return createErrorResult("RESULT_TOO_LARGE", message, { details });
}

/** The excerpt with the call before everything that may be long. */
function withReadOn({ truncated, ...rest }: Excerpt, readOn: ReadOnCall): object {
  return { truncated, readOn, ...rest };
}

/** Returns a sentence that says how to read on. */
function toSentence({ excerpt: { next }, readOn }: LargeResult): string {
  if (next === undefined) return "The rest is too large to be kept.";
  if (readOn === undefined) return `To read on, read the resource ${next}`;
  return `To read on, call ${readOn.tool} with ${writeJson(readOn.arguments)}`;
}

function toTooLarge(refused: ErrorResult, large?: LargeResult): RpcAnswer {
  const head = refusalText(refused);
  const excerpt = large?.excerpt;
  const text = large === undefined ? head : `${head}\n${toSentence(large)}\nIt begins:\n${large.excerpt.excerpt}`;
  const blocks = `{"type":"text","text":${writeJson(text)}}${large === undefined ? "" : toLink(large)}`;
  const error = `${JSON.stringify(errorMetaKey)}:${writeJson(refusalData(refused))}`;
  return toRpcResult(`"content":[${blocks}],"isError":true`, {
    meta: excerpt === undefined ? error : `${error},${toMeta(excerpt)}`,
    failure: refused,
  });
}

/**
 * Returns the answer for a result that is too large: its beginning, and where to read on. It is an error if the tool has an output
 * schema, because clients refuse a result that does not fit the schema.
 */
export function toLargeResult(tool: ToolEntry, large: LargeResult): RpcAnswer {
  const { excerpt, readOn } = large;
  const { bytes, next } = excerpt;
  if (tool.output.json !== undefined) {
    return toTooLarge(tooLarge(tool, { ...(next === undefined ? {} : { next }), bytes }), large);
  }
  const text = writeJson(readOn === undefined ? excerpt : withReadOn(excerpt, readOn));
  const content = `"content":[{"type":"text","text":${writeJson(text)}}${toLink(large)}]`;
  return toRpcResult(`${content},"structuredContent":${text}`, { meta: toMeta(excerpt) });
}

/** Returns the answer for content blocks that are too large. Blocks cannot be cut, so the answer contains none. */
export function toLargeBlocks(tool: ToolEntry, bytes: number): RpcAnswer {
  return toTooLarge(tooLarge(tool, { bytes }));
}

/** Renders a resource that is too large: its beginning and where to read on, as JSON for every MIME type. */
function renderExcerpt(head: string, excerpt: Excerpt, body?: ResourceBody): string {
  const of = body === undefined || body.mimeType === jsonMimeType ? {} : { mimeType: body.mimeType };
  const encoding = body?.blob === undefined ? {} : { encoding: "base64" };
  const text = writeJson({ ...excerpt, ...of, ...encoding });
  const meta = { ...body?.meta, [truncatedMetaKey]: toMark(excerpt) };
  return `{${head},"mimeType":"${jsonMimeType}","text":${writeJson(text)},"_meta":${writeJson(meta)}}`;
}

/** Returns the text of a resource. JSON is repaired before it becomes a JSON string, where its escapes are escaped themselves. */
function toWellFormed(text: string | undefined, mimeType: string): string | undefined {
  return text !== undefined && mimeType === jsonMimeType ? toWellFormedJson(text) : text;
}

/** Renders the content of a resource, or its beginning. */
export function renderContent(uri: string, content: ResourceContent, keeping: Keeping): string {
  const { large } = keeping;
  const head = `"uri":${writeJson(uri)}`;
  const body: ResourceBody = typeof content === "string" ? { mimeType: jsonMimeType, text: content } : content;
  const { mimeType, text: given, blob = "", meta } = body;
  const text = toWellFormed(given, mimeType);
  const bytes = body.isWhole === true ? undefined : bytesOver(text ?? blob, large.maxResourceBytes);
  if (bytes !== undefined) return renderExcerpt(head, large.keep(text ?? blob, bytes, keeping), body);
  const written = text === undefined ? `"blob":${writeJson(blob)}` : `"text":${writeJson(text)}`;
  const more = meta === undefined ? "" : `,"_meta":${writeJson(meta)}`;
  return `{${head},"mimeType":${writeJson(mimeType)},${written}${more}}`;
}

/** The call of a tool that reads the next part of a large value, as a model writes it. */
interface ReadOnCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** The tool of `.pull()`, and not one by hand of the same name. */
function isReader(tool: ToolEntry | undefined, caller: Caller): boolean {
  return tool?.origin === pullOrigin(readResourceName) && authorise(caller, tool) === undefined;
}

/** Returns the tool call that reads `uri`: `read_resource`, or a gateway's `call` of it. `undefined` where the caller has neither. */
export function toReadOnCall({ catalog, callable }: ResolvedView, caller: Caller, uri: string): ReadOnCall | undefined {
  if (isReader(catalog.tool(readResourceName), caller)) return { tool: readResourceName, arguments: { uri } };
  if (!isReader(callable.tool(readResourceName), caller)) return undefined;
  return { tool: "call", arguments: { calls: [{ tool: readResourceName, input: { uri } }] } };
}

/** Returns whether a member of `_meta` belongs to the server: handlers cannot set it, and no member is written twice. */
function isOurs(key: string): boolean {
  return key === errorMetaKey || key === truncatedMetaKey || key.startsWith("io.modelcontextprotocol/");
}

/** Returns an answer with the `_meta` of its call. An error has no place for it. */
export function withMeta(answer: RpcAnswer, said: JsonObject): RpcAnswer {
  if (answer.kind === "error") return answer;
  const members = writeJson(Object.fromEntries(Object.entries(said).filter(([key]) => !isOurs(key)))).slice(1, -1);
  return { ...answer, meta: [answer.meta, members].filter((part) => part !== "").join(",") };
}
