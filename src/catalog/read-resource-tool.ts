import { Refusal, SurfaceError } from "../errors.ts";
import { clipText } from "../schema/clip-text.ts";
import { deepFreeze } from "../schema/deep-freeze.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import { noSuchResource } from "./change-waits.ts";
import type { Catalog } from "./catalog.ts";
import type { EntryCall, ResourceContent, ShownResources, ToolEntry } from "./entry.ts";
import { isAbsent } from "./is-absent.ts";
import { pullOrigin } from "./pull-tool-names.ts";
import type { Resolved } from "./resolve-uri.ts";
import { jsonMimeType } from "./resource-content.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import { toToolHints } from "./tool-hints.ts";
import { setNewest } from "../spine/set-newest.ts";

/** The name of the tool that reads a resource. */
export const readResourceName = "read_resource";

/** How long a read may take, in milliseconds. */
const timeoutMs = 10_000;

/** How much of the resources is told in the description, in characters: hosts cut it at 2,048. */
const maxListLength = 1600;
const maxWordsBytes = 120;

interface ReadAnswer {
  readonly uri: string;
  readonly content: ResourceContent;
}

const inputSchema = deepFreeze({
  type: "object",
  properties: { uri: { type: "string", description: "The resource, with every {variable} filled in" } },
  required: ["uri"],
});

const outputSchema = deepFreeze({
  type: "object",
  properties: {
    uri: { type: "string" },
    value: { description: "The resource's value now" },
    mimeType: { type: "string", description: "What the value is, where it is not JSON: a text" },
    encoding: { type: "string", enum: ["base64"], description: "How the value holds bytes" },
    meta: { type: "object", description: "What else is said of it: stale, for example" },
  },
  required: ["uri", "value"],
  additionalProperties: false,
});

/** The number of descriptions that are kept, each for other resources. */
const maxDescriptions = 64;

/** Lists resources, one a line, as many as fit. */
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

function toLine(uri: string, words: string | undefined): string {
  return words === undefined ? uri : `${uri} - ${clipText(words, maxWordsBytes)}`;
}

function readUri(args: JsonObject): string {
  const uri = Object.hasOwn(args, "uri") ? args["uri"] : undefined;
  if (typeof uri === "string") return uri;
  throw new SurfaceError("VALIDATION_ERROR", 'Reading "uri": it does not fit', {
    issues: [{ path: "uri", message: "expected the URI of a resource, a string" }],
  });
}

/** Finds what a caller can read under a URI: what they may not is not there. */
export type FindReadable = (uri: string, caller: Caller) => Pick<Resolved, "read"> | undefined;

async function readResource(uri: string, resolve: FindReadable, call: EntryCall): Promise<ReadAnswer> {
  const resolved = resolve(uri, call.caller);
  if (resolved === undefined) throw noSuchResource(uri);
  let content: ResourceContent | undefined;
  try {
    content = await resolved.read(call);
  } catch (cause) {
    if (!isAbsent(cause)) throw cause;
  }
  if (content !== undefined) return { uri, content };
  throw new Refusal("ABSENT", `there is nothing under "${uri}" now`);
}

/** The fields of an answer that say what a resource holds, as JSON text. */
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

/** Creates the tool that reads a resource, for hosts whose agents cannot. Its description names the resources of the catalog. */
export function createReadResourceTool(catalog: Catalog, resolve: FindReadable): ToolEntry {
  const name = readResourceName;
  const described = new Map<string, ToolEntry>();
  const tool: Omit<ToolEntry, "description"> = {
    id: name,
    name,
    origin: pullOrigin(name),
    title: "Read a resource",
    hints: toToolHints("read", {}),
    scopes: Object.freeze([catalog.scopes.read]),
    input: { root: "", json: inputSchema, decode: readUri },
    output: {
      json: outputSchema,
      stringify(value) {
        // run() made it.
        const { uri, content } = value as ReadAnswer;
        return `{"uri":${JSON.stringify(uri)},${writeContent(content)}}`;
      },
    },
    timeoutMs,
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    describedFor,
    // decode() made the URI.
    run: (uri, call) => readResource(uri as string, resolve, call),
  };
  // The same object for the same description: a list of tools changes only if an entry does.
  function describedFor(shown: ShownResources): ToolEntry {
    const description = `Get the value of one resource now, as JSON. To hear of its next change call wait_for_change. Resources:${listResources(shown)}`;
    const entry = described.get(description) ?? { ...tool, description };
    setNewest(described, [description, entry], maxDescriptions);
    return entry;
  }
  return describedFor(catalog);
}
