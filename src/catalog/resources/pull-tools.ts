import { Refusal } from "../../errors.ts";
import { deepFreeze, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { clipText } from "../../schema/visible-text.ts";
import { setNewest } from "../../spine/collections.ts";
import type { Caller } from "../../surface/caller.ts";
import { defaultOnDisconnect } from "../../tags/tool-options.ts";
import type { Catalog } from "../catalog.ts";
import { jsonMimeType } from "../content/resource-body.ts";
import type { EntryCall, ResourceContent, ShownResources, ToolEntry } from "../entry.ts";
import { longestWait, readSince, slackMs, withHeartbeat } from "../kinds/waiting-tool.ts";
import { isAbsent } from "../outcome.ts";
import type { Resolved } from "../resolve-uri.ts";
import { toToolHints } from "../tool-head.ts";
import { invalidArgument, argumentOf, readField, toFieldSchema } from "../tool-schemas.ts";
import { noSuchResource, type ChangeRequest, type ChangeWaits } from "./change-waits.ts";

/** The names of the tools that `pull()` adds. */
export const pullToolNames = ["read_resource", "wait_for_change"] as const;

/** The name of a tool that `pull()` adds. */
export type PullToolName = (typeof pullToolNames)[number];

/** The name of the tool that reads a resource. */
export const readResourceName = "read_resource";

/** Returns the name of such a tool in messages. */
export function pullOrigin(name: PullToolName): string {
  return `tool "${name}" of pull()`;
}

/** Returns the fields that both tools have in common. */
function toPullTool(name: PullToolName, { scopes }: Pick<Catalog, "scopes">) {
  return {
    id: name,
    name,
    origin: pullOrigin(name),
    hints: toToolHints("read", {}),
    scopes: Object.freeze([scopes.read]),
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    isRelaying: true,
  } as const;
}

/** Milliseconds that a read may take. */
const readTimeoutMs = 10_000;

/** Characters of the description that list resources: hosts cut it at 2,048. */
const maxListLength = 1600;
const maxTextBytes = 120;

/** Descriptions that are kept, each for other resources. */
const maxDescriptions = 64;

interface ReadAnswer {
  readonly uri: string;
  readonly content: ResourceContent;
}

const readInput: JsonSchema = deepFreeze({
  type: "object",
  properties: {
    uri: { type: "string", description: "The URI of the resource, with every {variable} replaced by a value" },
  },
  required: ["uri"],
});

const readOutput: JsonSchema = deepFreeze({
  type: "object",
  properties: {
    uri: { type: "string" },
    value: { description: "The newest value of the resource" },
    mimeType: { type: "string", description: "The MIME type of the value, if it is not JSON" },
    encoding: { type: "string", enum: ["base64"], description: "Set if the value is binary data" },
    meta: { type: "object", description: "More about the value, for example that it may be stale" },
  },
  required: ["uri", "value"],
  additionalProperties: false,
});

function toLine(uri: string, text: string | undefined): string {
  return text === undefined ? uri : `${uri} - ${clipText(text, maxTextBytes)}`;
}

/** Lists as many resources as fit, one a line. */
function listResources({ resources, templates }: ShownResources): string {
  const lines = [
    ...resources.map(({ uri, title, description }) => toLine(uri, title ?? description)),
    ...templates.map(({ uriTemplate, title, description }) => toLine(uriTemplate, title ?? description)),
  ];
  let list = "";
  for (const [index, line] of lines.entries()) {
    if (list.length + line.length > maxListLength) return `${list}\n… and ${lines.length - index} more`;
    list += `\n${line}`;
  }
  return list;
}

function readUri(args: JsonObject): string {
  const uri = argumentOf(args, "uri");
  if (typeof uri === "string") return uri;
  throw invalidArgument("uri", "expected the URI of a resource, a string");
}

/** Finds a resource; `undefined` if the caller may not read it. */
export type FindReadable = (uri: string, caller: Caller) => Pick<Resolved, "read"> | undefined;

async function readResource(uri: string, find: FindReadable, call: EntryCall): Promise<ReadAnswer> {
  const resolved = find(uri, call.caller);
  if (resolved === undefined) throw noSuchResource(uri);
  let content: ResourceContent | undefined;
  try {
    content = await resolved.read(call);
  } catch (cause) {
    if (!isAbsent(cause)) throw cause;
  }
  if (content !== undefined) return { uri, content };
  throw new Refusal("ABSENT", `the resource "${uri}" has no value at present`);
}

/** Writes the fields of an answer that hold the content, as JSON text. */
function writeContent(content: ResourceContent): string {
  if (typeof content === "string") return `"value":${content}`;
  const { mimeType, text, blob, meta } = content;
  const isJson = mimeType === jsonMimeType && text !== undefined;
  return [
    `"value":${isJson ? text : JSON.stringify(text ?? blob ?? "")}`,
    ...(isJson ? [] : [`"mimeType":${JSON.stringify(mimeType)}`]),
    ...(text === undefined ? [`"encoding":"base64"`] : []),
    ...(meta === undefined ? [] : [`"meta":${JSON.stringify(meta)}`]),
  ].join();
}

/** Creates the tool that reads a resource, for hosts whose agents cannot. Its description lists the resources of the catalog. */
export function createReadResourceTool(catalog: Catalog, find: FindReadable): ToolEntry {
  const described = new Map<string, ToolEntry>();
  const tool: Omit<ToolEntry, "description"> = {
    ...toPullTool(readResourceName, catalog),
    title: "Read a resource",
    input: { root: "", json: readInput, decode: readUri },
    output: {
      json: readOutput,
      stringify(value) {
        // run() returned it.
        const { uri, content } = value as ReadAnswer;
        return `{"uri":${JSON.stringify(uri)},${writeContent(content)}}`;
      },
    },
    timeoutMs: readTimeoutMs,
    describedFor,
    // decode() returned the URI.
    run: (uri, call) => readResource(uri as string, find, call),
  };
  // The same object for the same description: a list of tools changes only if an entry does.
  function describedFor(shown: ShownResources): ToolEntry {
    const description = `Read the newest value of one resource, as JSON. To wait for its next change, call wait_for_change. Resources:${listResources(shown)}`;
    const entry = described.get(description) ?? { ...tool, description };
    setNewest(described, [description, entry], maxDescriptions);
    return entry;
  }
  return describedFor(catalog);
}

/** Resources that one call may wait for. */
const maxUris = 64;

const waitInput: JsonSchema = deepFreeze({
  type: "object",
  properties: {
    uris: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      maxItems: maxUris,
      description: "The URIs of the resources, with every {variable} replaced by a value",
    },
    since: {
      type: "string",
      description: "The cursor of an earlier result: wait for a change after it. Omit it to wait from now on",
    },
    timeout_ms: toFieldSchema(longestWait),
  },
  required: ["uris"],
});

const waitOutput: JsonSchema = deepFreeze({
  type: "object",
  properties: {
    status: { type: "string", enum: ["changed", "timed_out"] },
    changed: {
      type: "array",
      items: { type: "string" },
      description: "The URIs of the resources that changed: read them again",
    },
    cursor: { type: "string", description: "Pass it as since in the next call to miss no change in between" },
    reset: { type: "boolean", description: "The cursor was unknown: read the resources, then wait with the new one" },
  },
  required: ["status", "changed", "cursor"],
  additionalProperties: false,
});

const waitDescription =
  "Wait until one of the given resources changes. The result lists the changed URIs: read them again with read_resource. " +
  "timed_out means that none has changed yet. To miss no change, call again with since set to the cursor of the result.";

function readUris(args: JsonObject): readonly string[] {
  const uris = argumentOf(args, "uris");
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > maxUris) {
    throw invalidArgument("uris", `expected a list of 1 to ${maxUris} URIs`);
  }
  return uris.map((uri: JsonValue, index) => {
    if (typeof uri === "string") return uri;
    throw invalidArgument(`uris.${index}`, "expected the URI of a resource, a string");
  });
}

function readRequest(args: JsonObject): ChangeRequest {
  return { uris: readUris(args), since: readSince(args), timeoutMs: readField(longestWait, args) };
}

/** Creates the tool that waits until a resource changes, for hosts whose agents get no notifications. */
export function createWaitForChangeTool(waits: ChangeWaits, catalog: Pick<Catalog, "scopes">): ToolEntry {
  return {
    ...toPullTool("wait_for_change", catalog),
    title: "Wait for a change",
    description: waitDescription,
    input: { root: "", json: waitInput, decode: readRequest },
    output: { json: waitOutput, stringify: (value) => JSON.stringify(value) },
    timeoutMs: longestWait.maximum + slackMs,
    // decode() returned the request.
    run: (request, call) => withHeartbeat(waits.wait(request as ChangeRequest, call), call),
  };
}
