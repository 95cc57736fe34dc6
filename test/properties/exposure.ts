import type { Kind } from "../../src/surface/member.ts";
import {
  readScope,
  surfaceName,
  writeScope,
  wireNameOf,
  type RandomMember,
  type RandomSurface,
} from "./random-surface.ts";

/** Something that is exposed: what it takes, and what using it runs. */
export interface Found {
  /** The one that is asked for by default, then those that its author asks for. */
  readonly scopes: readonly string[];
  readonly runs: readonly string[];
}

/** What of a member each use is, by its kind. */
const verbs: Readonly<Record<Kind, { readonly tool?: string; readonly read?: string; readonly watch?: string }>> = {
  cell: { read: "get", watch: "watch" },
  collection: { read: "keys", watch: "watchKeys" },
  stream: { tool: "open", read: "latest", watch: "watchLatest" },
  event: { tool: "wait", read: "recent", watch: "watchRecent" },
  procedure: { tool: "call" },
};

const itemVerbs = { read: "item", watch: "watchItem" };

/** The tools that read resources for agents: their arguments are not those of any other. */
const pullTools: readonly string[] = ["read_resource", "wait_for_change"];

/** What an app exposes, told from what was drawn alone: by it the answers are judged. */
export class Exposure {
  readonly #surface: RandomSurface;
  readonly #granted: RandomSurface["granted"];

  constructor(surface: RandomSurface, granted: RandomSurface["granted"]) {
    this.#surface = surface;
    this.#granted = granted;
  }

  /** Whether anybody is known to ask: only they can be told what they lack. */
  get isKnown(): boolean {
    return this.#granted !== undefined;
  }

  /** Whether the caller may use it. Who is not known is asked for what its author asks for, and has nothing. */
  grants({ scopes }: Pick<Found, "scopes">): boolean {
    const granted = this.#granted;
    return granted === undefined ? scopes.length <= 1 : scopes.every((scope) => granted.includes(scope));
  }

  /** The keys of the members that the caller can come to at all. */
  get reachableKeys(): ReadonlySet<string> {
    const reachable = this.#surface.members.filter((member) => {
      if (member.shown === "none") return false;
      return this.grants(member.shown === "tool" ? ofTool(member) : { scopes: [readScope, ...member.scopes] });
    });
    return new Set(reachable.map(({ key }) => key));
  }

  tool(name: string): Found | undefined {
    if (pullTools.includes(name)) return this.pullTool();
    const member = this.#surface.members.find(({ key, shown }) => shown === "tool" && wireNameOf(key) === name);
    if (member !== undefined) return ofTool(member);
    const tool = this.#written("tool").find((each) => wireNameOf(each.name) === name);
    return tool && { scopes: [tool.reads ? readScope : writeScope, ...tool.scopes], runs: [`tool ${tool.name}`] };
  }

  prompt(name: string): Found | undefined {
    const prompt = this.#written("prompt").find((each) => wireNameOf(each.name) === name);
    return prompt && { scopes: [readScope, ...prompt.scopes], runs: [`prompt ${prompt.name}`] };
  }

  read(uri: string): Found | undefined {
    const { base, isItem } = split(uri);
    const member = this.#resource(base);
    if (member !== undefined) return ofResource(member, isItem, "read");
    const page = this.#page(base);
    return page?.hasInput === isItem ? { scopes: [readScope, ...page.scopes], runs: [`read ${page.name}`] } : undefined;
  }

  watch(uri: string): Found | undefined {
    const { base, isItem } = split(uri);
    const member = this.#resource(base);
    if (member !== undefined) return ofResource(member, isItem, "watch");
    const page = this.#page(base);
    // What changed is what is read anew.
    const runs = page === undefined ? [] : [`follow ${page.name}`, `read ${page.name}`];
    return page?.hasInput === isItem ? { scopes: [readScope, ...page.scopes], runs } : undefined;
  }

  completePrompt(name: string): Found | undefined {
    const found = this.#completes() ? this.prompt(name) : undefined;
    const prompt = this.#written("prompt").find((each) => wireNameOf(each.name) === name);
    return found && { ...found, runs: prompt?.hasInput === true ? [`complete prompt ${prompt.name}`] : [] };
  }

  completeUri(template: string, argument: string): Found | undefined {
    if (!this.#completes()) return undefined;
    const { base, variable } = splitTemplate(template);
    const member = this.#resource(base);
    if (member === undefined) return this.#completePage(base, variable, argument);
    if (!variablesOf(member).includes(variable)) return undefined;
    const isKey = variable === "key" && argument === "key";
    return { scopes: [readScope, ...member.scopes], runs: isKey ? [`keys ${member.key}`] : [] };
  }

  /** Either of the tools that read resources for agents. */
  pullTool(): Found | undefined {
    return this.#surface.pull ? { scopes: [readScope], runs: [] } : undefined;
  }

  /** The keys of the collections whose items are listed: whoever sees the list may have them read, or watched, at any time. */
  get listedKeys(): readonly string[] {
    const listed = this.#surface.members.filter(
      ({ shown, lists, scopes }) => shown === "resource" && lists && this.grants({ scopes: [readScope, ...scopes] }),
    );
    return listed.map(({ key }) => key);
  }

  #written(sort: "tool" | "prompt" | "resource") {
    return this.#surface.written.filter((each) => each.sort === sort);
  }

  #resource(base: string): RandomMember | undefined {
    return this.#surface.members.find(({ key, shown }) => shown === "resource" && key === base);
  }

  #completePage(base: string, variable: string, argument: string): Found | undefined {
    const page = this.#page(base);
    if (page === undefined || variable !== (page.hasInput ? "value" : "")) return undefined;
    const isAsked = page.hasInput && argument === "value";
    return { scopes: [readScope, ...page.scopes], runs: isAsked ? [`complete resource ${page.name}`] : [] };
  }

  #page(base: string) {
    return this.#written("resource").find(({ name }) => name === base);
  }

  /** An app in which there is nothing to propose does not know the method. */
  #completes(): boolean {
    const { members, written } = this.#surface;
    return (
      members.some(({ kind, shown }) => kind === "collection" && shown === "resource") ||
      written.some(({ sort, hasInput }) => sort !== "tool" && hasInput)
    );
  }
}

function ofTool({ key, kind, reads, scopes }: RandomMember): Found {
  const changes = kind === "procedure" && !reads;
  return { scopes: [changes ? writeScope : readScope, ...scopes], runs: [`${verbs[kind].tool} ${key}`] };
}

function ofResource(member: RandomMember, isItem: boolean, use: "read" | "watch"): Found | undefined {
  const { key, kind, hasInput, scopes } = member;
  if (kind !== "collection" && hasInput !== isItem) return undefined;
  const verb = kind === "collection" && isItem ? itemVerbs[use] : verbs[kind][use];
  return { scopes: [readScope, ...scopes], runs: [`${verb} ${key}`] };
}

/** What may stand behind a member's URI in a template; nothing is a URI of its own. */
function variablesOf({ kind, hasInput }: RandomMember): readonly string[] {
  if (kind === "collection") return ["", "key"];
  return [hasInput ? "value" : ""];
}

function split(uri: string): { readonly base: string; readonly isItem: boolean } {
  const [base = "", item] = uri.slice(`surface://${surfaceName}/`.length).split("/");
  return { base, isItem: item !== undefined };
}

function splitTemplate(template: string): { readonly base: string; readonly variable: string } {
  const [base = "", variable = ""] = template.slice(`surface://${surfaceName}/`.length).split("/");
  return { base, variable: variable.slice(1, -1) };
}
