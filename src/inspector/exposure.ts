import { confirmRuleOf } from "../call/tool-calls.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "../catalog/entry.ts";
import { unexposedOf } from "../catalog/unexposed.ts";
import { pageMimeType } from "../mcp/extensions/extensions.ts";
import type { Skill } from "../mcp/extensions/skill.ts";
import { describeSkill } from "../mcp/extensions/skills-extension.ts";
import type { InspectedApp, OpenedApp } from "../mcp/inspected-app.ts";
import { describeEntries, type EntryList } from "../mcp/lists.ts";
import { writeJson } from "../mcp/protocol.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { JsonValue } from "../schema/json.ts";
import { clipText } from "../schema/visible-text.ts";
import { anonymous, defaultView } from "../surface/caller.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import { toScreen, type Screen } from "../views/show.ts";
import type { ExposureRow, PageEntry, PageExposure, ShownAs, ViewRow } from "./messages.ts";
import { toName } from "./texts.ts";

const maxViews = 50;
const maxEntries = 20_000;
const maxUnexposed = 2000;
const maxScopes = 20;
const maxDescriptionBytes = 512;

/** Bytes of JSON that are about one token of a model. */
const bytesPerToken = 4;

type Kind = ExposureRow["kind"];
type ListEntry = ToolEntry | ResourceEntry | TemplateEntry | PromptEntry;

/** The page of a tool. The guard of the tool is its guard. */
interface PageOfTool extends Pick<ToolEntry, "id" | "title" | "scopes" | "requires"> {
  readonly uri: string;
  readonly tool: ToolEntry;
}

type Entry = ListEntry | PageOfTool | Skill;

const listsOfKinds: readonly (readonly [Kind, EntryList])[] = [
  ["tool", "tools"],
  ["resource", "resources"],
  ["template", "templates"],
  ["prompt", "prompts"],
];

/** An entry, and the JSON text that agents get of it. */
interface Listed {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly text: string;
}

/** A view that has a name. */
interface NamedView {
  readonly row: ViewRow;
  readonly screen: Screen;
}

function isInternal(entry: ListEntry): boolean {
  return "isInternal" in entry && entry.isInternal === true;
}

function toPage(tool: ToolEntry): readonly Listed[] {
  const { id, title, scopes, requires, ui } = tool;
  if (ui?.page === undefined || isInternal(tool)) return [];
  const { uri, meta } = ui.page;
  // As `resources/read` answers it, without the HTML.
  const text = writeJson({
    uri,
    mimeType: pageMimeType,
    _meta: Object.keys(meta).length === 0 ? undefined : { ui: meta },
  });
  return [{ kind: "page", entry: { id, title, scopes, requires, tool, uri }, text }];
}

function listEntries({ live, skills }: Pick<OpenedApp, "live" | "skills">): readonly Listed[] {
  const catalog = live.current;
  const entries = listsOfKinds.flatMap(([kind, list]) => {
    const ofKind: readonly ListEntry[] = catalog[list];
    const texts = describeEntries(list, catalog);
    return ofKind.flatMap((entry, index) => (isInternal(entry) ? [] : { kind, entry, text: texts[index] ?? "" }));
  });
  const ofSkills = skills.map((entry) => ({ kind: "skill" as const, entry, text: describeSkill(entry) }));
  return [...entries, ...catalog.tools.flatMap(toPage), ...ofSkills];
}

function toTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Returns the tokens of a list. Of skills, hosts give models the frontmatter alone; of pages, nothing. */
function tokensOf({ kind, entry, text }: Listed): number {
  if (kind === "page") return 0;
  return toTokens("frontmatter" in entry ? JSON.stringify(entry.frontmatter) : text);
}

function nameOf(entry: Entry): string {
  if ("uri" in entry) return entry.uri;
  return "uriTemplate" in entry ? entry.uriTemplate : entry.name;
}

function effectsOf(entry: Entry): readonly string[] {
  if (!("hints" in entry)) return "arguments" in entry ? [] : ["reads"];
  const { readOnlyHint, destructiveHint, openWorldHint } = entry.hints;
  return [
    readOnlyHint ? "reads" : "changes",
    ...(destructiveHint && !readOnlyHint ? ["destructive"] : []),
    ...(openWorldHint ? ["open world"] : []),
  ];
}

/** Returns how a call is confirmed. With the rule `refuse`, a client that cannot ask its user is refused. */
function confirmTextOf(entry: ToolEntry, others: ConfirmRule | undefined): string | undefined {
  const rule = confirmRuleOf(entry, others);
  const asks = rule && (entry.confirmWord === undefined ? "asks" : "typed word");
  return rule === "allow" ? `${asks}, else runs` : asks;
}

/** Returns the names of views that rules mention, by project, the default view first. */
function namesOf({ views }: OpenedApp): readonly { readonly surface: string; readonly project?: string }[] {
  const { packets } = views.installed;
  const inForce = new Map([[undefined, []], ...packets.map(({ project, rules }) => [project, rules] as const)]);
  const named = [...inForce].flatMap(([project, rules]) => {
    const names = new Set([defaultView, ...rules.flatMap(({ when }) => when?.surface ?? [])]);
    return Array.from(names, (surface) => (project === undefined ? { surface } : { surface, project }));
  });
  return named.toSorted((left, right) => Number("project" in left) - Number("project" in right));
}

/** Computes what agents can reach, view by view. Keeps the last result until entries or rules change. */
export class ExposureTable {
  readonly #app: InspectedApp;
  #last: PageExposure | undefined;

  constructor(app: InspectedApp) {
    this.#app = app;
  }

  read(): PageExposure {
    const { version } = this.#app;
    if (this.#last?.version !== version) this.#last = { version, ...this.#compute() };
    return this.#last;
  }

  /** Returns an entry exactly as a list shows it. @param kind - @default the first kind that has an entry of this id */
  entry(id: string, kind?: Kind): PageEntry | undefined {
    const [open] = this.#app.opened;
    if (open === undefined) return undefined;
    const found = listEntries(open).find(
      (listed) => listed.entry.id === id && (kind === undefined || kind === listed.kind),
    );
    // A list writes JSON.
    return found && { id, json: JSON.parse(found.text) as JsonValue };
  }

  #compute(): Omit<PageExposure, "version"> {
    const { surface, exposures } = this.#app.parts;
    const [open] = this.#app.opened;
    const hidden = unexposedOf(surface, exposures, open?.live.current ?? { tools: [] });
    const unexposed = hidden.slice(0, maxUnexposed).map(({ name, kind, why }) => ({ name: toName(name), kind, why }));
    const moreUnexposed = hidden.length - unexposed.length;
    if (open === undefined) return toDefined({ views: [], entries: [], unexposed, more: toMore(0, 0, moreUnexposed) });
    const listed = listEntries(open);
    const names = namesOf(open);
    const views = names.slice(0, maxViews).map((name) => this.#toView(open, listed, name));
    const entries = listed.slice(0, maxEntries).map((one) => this.#toRow(one, views));
    const more = toMore(names.length - views.length, listed.length - entries.length, moreUnexposed);
    return toDefined({ views: views.map(({ row }) => row), entries, unexposed, more });
  }

  #toView(
    open: OpenedApp,
    listed: readonly Listed[],
    entity: { readonly surface: string; readonly project?: string },
  ): NamedView {
    const decision = open.views.decide(entity);
    const screen = toScreen(decision);
    const { verdict } = decision;
    const name = toName(entity.project === undefined ? entity.surface : `${entity.project}/${entity.surface}`);
    if (verdict.kind === "deny") return { row: { name, face: "denied", tools: 0, tokens: 0 }, screen };
    const shown = listed.filter(({ entry }) => "hints" in entry && screen.tool(entry) === undefined);
    if (verdict.face !== "gateway") {
      const tokens = shown.reduce((sum, { text }) => sum + toTokens(text), 0);
      return { row: { name, face: "direct", tools: shown.length, tokens }, screen };
    }
    const view = open.viewFor({ ...anonymous, view: entity });
    const tools = view.kind === "view" ? describeEntries("tools", view.catalog) : [];
    const tokens = tools.reduce((sum, text) => sum + toTokens(text), 0);
    return { row: { name, face: "gateway", tools: tools.length, tokens }, screen };
  }

  #toRow(listed: Listed, views: readonly NamedView[]): ExposureRow {
    const { kind, entry } = listed;
    const { id, scopes, requires } = entry;
    const { title, description }: Partial<Pick<ToolEntry, "title" | "description">> = entry;
    return toDefined({
      ...{ kind, id: toName(id), name: clipText(nameOf(entry), maxDescriptionBytes) },
      title: title === undefined ? undefined : toName(title),
      description: description === undefined ? undefined : clipText(description, maxDescriptionBytes),
      effects: effectsOf(entry),
      scopes: [...scopes, ...(requires?.scopesAny ?? [])].slice(0, maxScopes).map(toName),
      confirm: "hints" in entry ? confirmTextOf(entry, this.#app.parts.confirm) : undefined,
      tokens: tokensOf(listed),
      shown: views.map(({ row, screen }) => toShownAs(entry, row, screen)),
    });
  }
}

const listedAs: ShownAs = Object.freeze({ as: "listed" });
const operation: ShownAs = Object.freeze({ as: "operation" });
const readable: ShownAs = Object.freeze({ as: "readable" });

/** Returns the reason why a view hides an entry. A gateway has no tool with a page. */
function hiddenByOf(entry: Entry, { face }: ViewRow, screen: Screen): string | undefined {
  if ("tool" in entry) return screen.tool(entry.tool) ?? (face === "gateway" ? "gateway" : undefined);
  return "hints" in entry ? screen.tool(entry) : screen.other(entry);
}

function toShownAs(entry: Entry, view: ViewRow, screen: Screen): ShownAs {
  const hiddenBy = hiddenByOf(entry, view, screen);
  if (hiddenBy !== undefined) return { hiddenBy: clipText(hiddenBy, maxDescriptionBytes) };
  if ("tool" in entry) return readable;
  return view.face === "gateway" && "hints" in entry ? operation : listedAs;
}

function toMore(views: number, entries: number, unexposed: number): PageExposure["more"] {
  return views + entries + unexposed === 0 ? undefined : { views, entries, unexposed };
}
