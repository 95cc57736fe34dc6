import type {
  EntryDisplayMetadata,
  ListedItem,
  PromptEntry,
  ResourceEntry,
  TemplateEntry,
  ToolEntry,
} from "../catalog/entry.ts";
import { jsonMimeType } from "../catalog/content/resource-body.ts";
import { rpcCodes, toRpcError, toRpcResult, writeJson, type RpcAnswer } from "./protocol.ts";
import { createHash } from "node:crypto";
import type { Catalog } from "../catalog/catalog.ts";

type Described = Pick<ToolEntry, "title" | "description"> & EntryDisplayMetadata;

/** Returns the texts and looks of an entry of any kind. Members without a value are not written. */
function toLooks({ title, description, icons, meta }: Described): object {
  return { title, description, icons, _meta: meta };
}

/**
 * Returns the JSON text of a tool as `tools/list` shows it. Hints that are `false` by default are left out; those that are `true` by
 * default stay, because a host that reads a missing one as `false` would take the tool for harmless.
 */
export function describeTool(tool: ToolEntry): string {
  const { title, input, output } = tool;
  const { readOnlyHint, idempotentHint, ...others } = tool.hints;
  const annotations = {
    title,
    readOnlyHint: readOnlyHint || undefined,
    ...others,
    idempotentHint: idempotentHint || undefined,
  };
  return writeJson({
    name: tool.name,
    ...toLooks(tool),
    inputSchema: input.json,
    outputSchema: output.json,
    annotations,
  });
}

/** Returns the JSON text of a resource as `resources/list` shows it. */
export function describeResource(resource: ResourceEntry): string {
  return writeJson({
    uri: resource.uri,
    name: resource.id,
    ...toLooks(resource),
    mimeType: resource.mimeType ?? jsonMimeType,
  });
}

/** Returns the JSON text of an item as `resources/list` shows it. The template of its collection describes it. */
export function describeItem({ uri, name }: ListedItem): string {
  return writeJson({ uri, name, mimeType: jsonMimeType });
}

/** Returns the JSON text of a template as `resources/templates/list` shows it. */
function describeTemplate(template: TemplateEntry): string {
  return writeJson({
    uriTemplate: template.uriTemplate,
    name: template.id,
    ...toLooks(template),
    mimeType: template.mimeType ?? jsonMimeType,
  });
}

/** Returns the JSON text of a prompt as `prompts/list` shows it. */
function describePrompt(prompt: PromptEntry): string {
  const args = prompt.arguments.map(({ name, title, description, required }) => ({
    name,
    title,
    description,
    required,
  }));
  return writeJson({ name: prompt.name, ...toLooks(prompt), arguments: args.length === 0 ? undefined : args });
}

/** A list, cut into pages and serialised once. */
export interface PagedList {
  /** Digest of all items: it differs if one of them does. */
  readonly digest: string;
  /** The page that a request's params ask for. An unknown cursor is `-32602`. */
  page(params: Readonly<Record<string, unknown>> | undefined): RpcAnswer;
}

/** Dependencies of a paged list. */
interface PagedListSource {
  /** The result's key: `tools`, `resources`, `resourceTemplates`. */
  readonly key: string;
  /** Returns the JSON text of each item, in order. */
  readonly items: readonly string[];
  /** The maximum number of items of a page; fewer if their text is larger than 1 MiB. */
  readonly pageSize: number;
}

/** The answer for a cursor of another list, or for an invented one. */
export const unknownCursor: RpcAnswer = toRpcError(rpcCodes.invalidParams, "Invalid params: the cursor is unknown");

// Characters of JSON text. A page is written, held and sent as a whole; an item that is longer alone has one for itself.
const maxPageLength = 1_048_576;

function chunk(items: readonly string[], size: number): readonly (readonly string[])[] {
  let last: string[] = [];
  const chunks: string[][] = [last];
  let length = 0;
  for (const item of items) {
    const isFull = last.length >= size || length + item.length > maxPageLength;
    if (isFull && last.length > 0) {
      last = [];
      chunks.push(last);
      length = 0;
    }
    last.push(item);
    length += item.length;
  }
  return chunks;
}

/**
 * A cursor says which list, which page, and of which content: one minted for another list, or for a list that has
 * changed since, is unknown.
 */
function toCursor(source: PagedListSource, digest: string, index: number): string {
  return Buffer.from(`${source.key}:${index}:${digest}`).toString("base64url");
}

/** Serialises a list. */
export function createPagedList(source: PagedListSource): PagedList {
  const digest = createHash("sha256").update(source.items.join("\n")).digest("base64url").slice(0, 12);
  const chunks = chunk(source.items, source.pageSize);
  const byCursor = new Map<string, RpcAnswer>();
  const [first] = chunks.map((items, index) => {
    const more = index + 1 < chunks.length ? `,"nextCursor":"${toCursor(source, digest, index + 1)}"` : "";
    const answer = toRpcResult(`"${source.key}":[${items.join(",")}]${more}`, { cacheable: true });
    if (index > 0) byCursor.set(toCursor(source, digest, index), answer);
    return answer;
  });
  return {
    digest,
    page(params) {
      if (params === undefined || !Object.hasOwn(params, "cursor")) return first ?? unknownCursor;
      const { cursor } = params;
      return (typeof cursor === "string" ? byCursor.get(cursor) : undefined) ?? unknownCursor;
    },
  };
}

/** The lists whose changes a client can be notified of. Templates are part of the resources there. */
export const listNames = ["tools", "prompts", "resources"] as const;

/** The name of such a list. */
export type ListName = (typeof listNames)[number];

/** A list of entries of one kind. */
export type EntryList = ListName | "templates";

const described = new WeakMap<ToolEntry, string>();

/** Describes a tool, once: most entries of a changed list were in the list before. */
function describeOnce(tool: ToolEntry): string {
  const text = described.get(tool) ?? describeTool(tool);
  described.set(tool, text);
  return text;
}

const describe: { readonly [TList in EntryList]: (catalog: Catalog) => readonly string[] } = {
  tools: ({ tools }) => tools.map(describeOnce),
  prompts: ({ prompts }) => prompts.map(describePrompt),
  resources: ({ resources }) => resources.map(describeResource),
  templates: ({ templates }) => templates.map(describeTemplate),
};

/** Returns the JSON text of each entry of a list, in the order of the catalog. */
export function describeEntries(list: EntryList, catalog: Catalog): readonly string[] {
  return describe[list](catalog);
}

/** The lists of all catalogs that are shown. Each is serialised once and kept as long as its entries. */
export class CatalogLists {
  readonly #pageSize: number;
  readonly #known: { readonly [TList in EntryList]: WeakMap<object, PagedList> } = {
    tools: new WeakMap(),
    prompts: new WeakMap(),
    resources: new WeakMap(),
    templates: new WeakMap(),
  };

  /** @param pageSize - how many entries a page holds. */
  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  /** Returns a list of a catalog. Of the resources only those that are listed always. */
  of(name: EntryList, catalog: Catalog): PagedList {
    const known = this.#known[name].get(catalog[name]);
    if (known !== undefined) return known;
    const key = name === "templates" ? "resourceTemplates" : name;
    const list = createPagedList({ key, items: describeEntries(name, catalog), pageSize: this.#pageSize });
    this.#known[name].set(catalog[name], list);
    return list;
  }

  /** Returns a text that is the same for two catalogs if and only if clients see the same list. */
  digestOf(name: ListName, catalog: Catalog): string {
    const { digest } = this.of(name, catalog);
    return name === "resources" ? `${digest} ${this.of("templates", catalog).digest}` : digest;
  }
}
