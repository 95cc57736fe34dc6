import { createHash } from "node:crypto";
import { openSkills, readAtRest } from "../builder/assemble-app.ts";
import { kDefinition, type AppAtRest, type AppDefinition } from "../builder/app-definition.ts";
import { confirmRuleOf } from "../call/tool-calls.ts";
import type {
  PromptEntry,
  ResourceEntry,
  TemplateEntry,
  TemplateVariable,
  ToolEntry,
  ToolUi,
} from "../catalog/entry.ts";
import { mountedPath } from "../catalog/mounts/mount.ts";
import { replayToolName } from "../catalog/wire-name.ts";
import { unexposedOf, type Unexposed } from "../catalog/unexposed.ts";
import { pullToolNames } from "../catalog/resources/pull-tools.ts";
import type { MemberExposure } from "../catalog/read-exposures.ts";
import { Refusal } from "../errors.ts";
import { isObject } from "../options/is-object.ts";
import { toOutputSchema } from "../schema/compile-schema.ts";
import { canonicalText, type JsonObject, type JsonSchema } from "../schema/json.ts";
import type { Schema } from "../schema/standard.ts";
import type { Fault } from "../surface/fault.ts";
import { tagOf } from "../tags/tag-of.ts";
import { sections, type AppExposure, type ExposureRecords } from "./exposure.ts";
import { namespacesOf, readAppViews, type AppView } from "./read-views.ts";
import { toCanonicalSchema } from "./schema-forms.ts";
import { toDefined } from "../observe/to-defined.ts";

/** Returns whether a value is an app, of any copy of this package. */
export function isApp(value: unknown): value is { readonly [kDefinition]: AppDefinition } {
  return isObject(value) && isObject(Reflect.get(value, kDefinition));
}

function unreadable(problem: string): Refusal {
  return new Refusal("UNREADABLE", `Cannot read what the app exposes: ${problem}`);
}

/** Refuses a result with faults: entries of a mount that cannot be listed now may be there later. */
function assertNoFault([fault]: readonly Fault[]): void {
  if (fault === undefined) return;
  const { where, cause } = fault;
  throw unreadable(`${where}: ${cause instanceof Error ? cause.message : String(cause)}`);
}

/**
 * Returns everything that agents can reach in an app, by its rules and mounts as of now, and not by its lockfile. Executes no
 * handler and opens no connection.
 *
 * @throws Refusal `UNREADABLE` for a value that is no app, and for a mount or view rules that cannot be read.
 * @throws SurfaceError with a boot code.
 */
export function readExposure(app: unknown): AppExposure {
  if (!isApp(app)) throw unreadable("it is not an app");
  const definition = app[kDefinition];
  if (definition.backend === undefined) throw unreadable("the app has no link; call bridge() or implement() first");
  const faults: Fault[] = [];
  return readAtRest(
    { ...definition, lock: undefined },
    (fault) => void faults.push(fault),
    (atRest) => {
      const exposure = new ExposureReader(definition, atRest).read();
      assertNoFault(faults);
      return exposure;
    },
  );
}

/** Returns the members and tools of an app that no agent can reach. @throws as {@link readExposure}. */
export function readUnexposed(app: unknown): readonly Unexposed[] {
  if (!isApp(app)) throw unreadable("it is not an app");
  const definition = app[kDefinition];
  const { surface, exposures } = definition;
  return readAtRest(
    { ...definition, lock: undefined },
    () => {},
    ({ catalog }) => unexposedOf(surface, exposures, catalog),
  );
}

type Entry = ToolEntry | ResourceEntry | TemplateEntry | PromptEntry;

function named<TEntry>(
  entries: readonly TEntry[],
  nameOf: (entry: TEntry) => string,
  fieldsOf: (entry: TEntry) => object,
): Readonly<Record<string, object>> {
  return Object.fromEntries(entries.map((entry) => [nameOf(entry), fieldsOf(entry)]));
}

/** Returns a schema as it stands in an exposure; `undefined` without one. */
function toField(schema: JsonSchema | undefined): JsonObject | undefined {
  return schema === undefined ? undefined : toCanonicalSchema(schema);
}

/** Returns the schema of an object of named values: the variables of a template, or the arguments of a prompt. */
function toInput(values: readonly Omit<TemplateVariable, "complete">[]): JsonObject {
  const properties = Object.fromEntries(values.map(({ name, json }) => [name, { ...json }]));
  const required = values.filter((value) => value.required).map(({ name }) => name);
  return toCanonicalSchema({ type: "object", properties, required });
}

/** Returns the page and the users of a tool as they stand in an exposure; `undefined` without the option `ui`. */
function toUiField(ui: ToolUi | undefined): object | undefined {
  if (ui === undefined) return undefined;
  const { uri, meta = {} } = ui.page ?? {};
  const { permissions, ...others } = meta;
  return {
    ...{ uri, visibility: ui.visibility, ...others },
    permissions: isObject(permissions) ? Object.keys(permissions).toSorted() : undefined,
  };
}

/** Returns the step of the chain that adds a tool of this package; `undefined` for other tools. */
function stepOf(id: string, { pull, replay }: AppDefinition): string | undefined {
  if (pull && pullToolNames.some((name) => name === id)) return "pull";
  return replay && id === replayToolName ? "views" : undefined;
}

/** Returns the prefix of the mount of an entry. Only a mount without a prefix stands alone. */
function findPrefix(id: string, prefixes: readonly string[], separator: string): string {
  return prefixes.find((prefix) => prefix !== "" && id.startsWith(prefix + separator)) ?? "";
}

function toRecords(section: object): ExposureRecords {
  // Every field is JSON, or is left out.
  return JSON.parse(canonicalText(section as JsonObject)) as Record<string, JsonObject>;
}

/** Reads the entries of an app, each once. */
export class ExposureReader {
  readonly #definition: AppDefinition;
  readonly #atRest: AppAtRest;
  readonly #views: readonly AppView[];
  readonly #exposures: ReadonlyMap<string, MemberExposure>;

  constructor(definition: AppDefinition, atRest: AppAtRest) {
    const { options, surface, exposures } = definition;
    this.#definition = definition;
    this.#atRest = atRest;
    this.#views = readAppViews(atRest.views.installed.packets, options.name ?? surface.name);
    this.#exposures = new Map(exposures.map((exposure) => [exposure.key, exposure]));
  }

  read(): AppExposure {
    const { tools, resources, templates, prompts } = this.#atRest.catalog;
    const listed = tools.filter((tool) => tool.isInternal !== true);
    const read: Record<string, object> = {
      server: this.#readServer(),
      mounts: this.#readMounts(),
      views: named(
        this.#views,
        ({ name }) => name,
        (view) => this.#readView(view),
      ),
      tools: this.tools(listed),
      resources: this.resources(resources),
      templates: named(
        templates,
        ({ uriTemplate }) => uriTemplate,
        (template) => this.#readTemplate(template),
      ),
      prompts: named(
        prompts,
        ({ name }) => name,
        (prompt) => this.#readPrompt(prompt),
      ),
    };
    // Has every section.
    return Object.fromEntries(sections.map((section) => [section, toRecords(read[section] ?? {})])) as AppExposure;
  }

  /** Returns the records of tools by their wire names. */
  tools(tools: readonly ToolEntry[]): ExposureRecords {
    return toRecords(
      named(
        tools,
        ({ name }) => name,
        (tool) => this.#readTool(tool),
      ),
    );
  }

  /** Returns the records of resources by their URIs. */
  resources(resources: readonly ResourceEntry[]): ExposureRecords {
    return toRecords(
      named(
        resources,
        ({ uri }) => uri,
        (resource) => this.#readResource(resource),
      ),
    );
  }

  #readServer(): object {
    const { catalog, views } = this.#atRest;
    const { surface, options } = this.#definition;
    const { name = surface.name, title, description, websiteUrl, icons, instructions } = options;
    const { uriPrefix, scopes } = catalog;
    const isOrdered = this.#views.some(({ isNamed }) => !isNamed);
    return {
      [name]: {
        ...{ title, description, websiteUrl, icons, instructions, uriPrefix },
        defaultScopes: { read: scopes.read, write: scopes.write },
        liveViews: views.canChange ? true : undefined,
        skills: this.#readSkills(),
        viewOrder: isOrdered ? this.#views.map((view) => view.name) : undefined,
      },
    };
  }

  #readSkills(): object | undefined {
    const opened = openSkills(this.#definition, this.#atRest.catalog);
    if (opened === undefined || opened.skills.length === 0) return undefined;
    return named(
      opened.skills,
      ({ name }) => name,
      (skill) => {
        const { description, files } = skill;
        const shown = this.#views.filter(({ keep }) => keep?.resource(skill) === true);
        const digests = files.map(({ uri, digest }) => `${uri} ${digest}`).join("\n");
        const digest = `sha256:${createHash("sha256").update(digests).digest("hex")}`;
        return { description, digest, files: files.length, views: shown.map((view) => view.name).toSorted() };
      },
    );
  }

  #readMounts(): object {
    const { uriPrefix } = this.#atRest.catalog;
    const mounts = Array.from(this.#definition.mounts, ([prefix, source]) => {
      const tools = prefix === "" ? "*" : `${prefix}_*`;
      const resources = source.resources === undefined ? undefined : `${uriPrefix}${mountedPath(prefix, "*")}`;
      return [prefix, { live: true, tools, resources }] as const;
    });
    return Object.fromEntries(mounts);
  }

  #readView({ fields, keep }: AppView): object {
    if (!("face" in fields) || fields.face !== "gateway") return fields;
    const { tools } = this.#atRest.catalog;
    return { ...fields, namespaces: namespacesOf({ tools: tools.filter((tool) => keep?.tool(tool) === true) }) };
  }

  /** Returns the fields of every kind of entry. */
  #readEntry(entry: Entry, isShown: (view: NonNullable<AppView["keep"]>) => boolean): object {
    const { id, title, description, icons, meta, requires } = entry;
    const showing = this.#views.filter(({ keep }) => keep !== undefined);
    const shown = showing.filter(({ keep }) => keep !== undefined && isShown(keep));
    return {
      ...{ id, title, description, icons, meta },
      scopes: requires?.scopes.toSorted() ?? [],
      scopesAny: requires === undefined || requires.scopesAny.length === 0 ? undefined : requires.scopesAny.toSorted(),
      resource: requires?.resource,
      views: shown.length === showing.length ? undefined : shown.map(({ name }) => name).toSorted(),
    };
  }

  #readTool(entry: ToolEntry): object {
    // Without the resources that a description may list: they are reported themselves.
    const tool = entry.describedFor?.({ resources: [], templates: [] }) ?? entry;
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.hints;
    const { input, output, timeoutMs, onDisconnect, tags, version, errors, canCall, confirmWord } = tool;
    const confirm = confirmRuleOf(tool, this.#definition.confirm) ?? "never";
    return {
      ...this.#readEntry(tool, (view) => view.tool(entry)),
      ...this.#originOf(tool),
      hints: {
        ...{ readOnly: readOnlyHint, destructive: destructiveHint },
        ...{ idempotent: idempotentHint, openWorld: openWorldHint },
      },
      confirm,
      confirmWord: confirm === "never" ? undefined : confirmWord,
      input: toField(input.json),
      output: toField(output.json),
      ui: toUiField(tool.ui),
      ...{ timeoutMs, onDisconnect, tags, version },
      errors: errors && Object.fromEntries(Object.entries(errors).map(([code, schema]) => [code, toField(schema)])),
      canCall: canCall?.toSorted(),
      callScopes: canCall && tool.callScopes?.toSorted(),
    };
  }

  #readResource(resource: ResourceEntry): object {
    const { list = "keys" } = this.#exposureOf(resource)?.options ?? {};
    const isCollection = this.#exposureOf(resource)?.member.kind === "collection";
    return {
      ...this.#readEntry(resource, (view) => view.resource(resource)),
      ...this.#originOf(resource),
      mimeType: resource.mimeType,
      list: isCollection ? (typeof list === "function" ? "summary" : list) : undefined,
      listsItems: resource.toItems === undefined ? undefined : true,
      // That of an item stands in the template of the items.
      output: isCollection ? undefined : this.#outputOf(resource),
    };
  }

  #readTemplate(template: TemplateEntry): object {
    return {
      ...this.#readEntry(template, (view) => view.resource(template)),
      ...this.#originOf(template),
      mimeType: template.mimeType,
      input: toInput(template.variables),
      output: template.isQuery === true ? undefined : this.#outputOf(template),
    };
  }

  #readPrompt(prompt: PromptEntry): object {
    const values = prompt.arguments.map(({ name, title, description, required }) => {
      return { name, json: toDefined({ type: "string", title, description }), required };
    });
    return {
      ...this.#readEntry(prompt, (view) => view.prompt(prompt)),
      ...{ kind: "prompt", from: "hand" },
      input: toInput(values),
    };
  }

  /** Returns the exposed member behind an entry. A hand-written resource may have the key of a member that is a tool. */
  #exposureOf(entry: Entry): MemberExposure | undefined {
    const exposure = this.#exposures.get(entry.id);
    return exposure?.as === ("hints" in entry ? "tool" : "resource") ? exposure : undefined;
  }

  /** Returns the schema of a value of a member, of an item or of a frame. */
  #outputOf(entry: Entry): JsonObject | undefined {
    const member = this.#exposureOf(entry)?.member;
    if (member === undefined) return undefined;
    const schema: Schema | undefined = "output" in member ? member.output : member.schema;
    const compiled = toOutputSchema(schema, entry.origin);
    return toField(compiled?.bare.json);
  }

  /** Returns the kind of an entry, and the step of the chain that exposes it. */
  #originOf(entry: Exclude<Entry, PromptEntry>): { readonly kind: string; readonly from: string } {
    const { id } = entry;
    const { tools, resources, mounts } = this.#definition;
    const isTool = "hints" in entry;
    const exposure = this.#exposureOf(entry);
    if (exposure !== undefined) {
      return { kind: exposure.member.kind, from: tagOf(exposure.member).exposure === "none" ? "expose" : "tag" };
    }
    if ((isTool ? tools : resources).has(id)) return { kind: isTool ? "tool" : "resource", from: "hand" };
    const step = isTool ? stepOf(id, this.#definition) : undefined;
    if (step !== undefined) return { kind: "tool", from: step };
    const prefix = findPrefix(id, [...mounts.keys()], isTool ? "." : "/");
    return { kind: isTool ? "operation" : "resource", from: `mount ${prefix}`.trimEnd() };
  }
}
