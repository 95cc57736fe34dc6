import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { describePrompt, describeResource, describeTemplate, describeTool } from "./describe-entries.ts";
import type { ListName } from "./faces.ts";
import { createPagedList, type PagedList } from "./pages.ts";

const described = new WeakMap<ToolEntry, string>();

/** A tool as it is listed, written once: a list that has changed is mostly what it was. */
function describeOnce(tool: ToolEntry): string {
  const text = described.get(tool) ?? describeTool(tool);
  described.set(tool, text);
  return text;
}

/** Lists of one sort, by what is in them. */
class ListsOf<TEntry extends object> {
  readonly #key: string;
  readonly #pageSize: number;
  readonly #describe: (entry: TEntry) => string;
  readonly #known = new WeakMap<readonly TEntry[], PagedList>();

  constructor(key: string, pageSize: number, describe: (entry: TEntry) => string) {
    this.#key = key;
    this.#pageSize = pageSize;
    this.#describe = describe;
  }

  of(entries: readonly TEntry[]): PagedList {
    const known = this.#known.get(entries);
    if (known !== undefined) return known;
    const list = createPagedList({ key: this.#key, items: entries.map(this.#describe), pageSize: this.#pageSize });
    this.#known.set(entries, list);
    return list;
  }
}

/** The lists of all catalogs that are shown, each serialised once and kept for as long as its catalog is. */
export class FaceLists {
  readonly #tools: ListsOf<Catalog["tools"][number]>;
  readonly #prompts: ListsOf<Catalog["prompts"][number]>;
  readonly #resources: ListsOf<Catalog["resources"][number]>;
  readonly #templates: ListsOf<Catalog["templates"][number]>;

  /** @param pageSize - how many entries a page holds. */
  constructor(pageSize: number) {
    this.#tools = new ListsOf("tools", pageSize, describeOnce);
    this.#prompts = new ListsOf("prompts", pageSize, describePrompt);
    this.#resources = new ListsOf("resources", pageSize, describeResource);
    this.#templates = new ListsOf("resourceTemplates", pageSize, describeTemplate);
  }

  /** The tools of a catalog. */
  tools({ tools }: Catalog): PagedList {
    return this.#tools.of(tools);
  }

  /** Its prompts. */
  prompts({ prompts }: Catalog): PagedList {
    return this.#prompts.of(prompts);
  }

  /** Its resources, without those that are listed because they are there now. */
  resources({ resources }: Catalog): PagedList {
    return this.#resources.of(resources);
  }

  /** Its templates. */
  templates({ templates }: Catalog): PagedList {
    return this.#templates.of(templates);
  }

  /** A text that is the same for two catalogs exactly where a list of theirs is. Of templates a client hears by the resources. */
  digestOf(list: ListName, catalog: Catalog): string {
    if (list !== "resources") return this[list](catalog).digest;
    return `${this.resources(catalog).digest} ${this.templates(catalog).digest}`;
  }
}
