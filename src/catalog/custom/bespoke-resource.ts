import { SurfaceError } from "../../errors.ts";
import { isObject } from "../../options/is-object.ts";
import { unchecked, callable, text, type OptionFields } from "../../options/option.ts";
import { invalidOption } from "../../options/read-options.ts";
import { mimeTypeOption, keepLooks } from "../../tags/looks.ts";
import { resourceFields } from "../../tags/read-tag-options.ts";
import type { CollectionResourceOptions, ResourceOptions } from "../../tags/tool-options.ts";
import { handler, readEntry, standardSchema } from "./entry-fields.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import { toInputSchema } from "../../schema/compile-schema.ts";
import { checkInput } from "../../surface/check-value.ts";
import type { FaultReporter } from "../../surface/fault.ts";
import type { MaybeSchema } from "../../surface/member.ts";
import type { UnfitForUri } from "../../tags/mcp-resource.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import {
  assertCompleters,
  toCompleter,
  toSchemaCompleter,
  type AnyBespokeCompleters,
  type BespokeCompleters,
} from "./completers.ts";
import {
  createToolContext,
  runInContext,
  runHandler,
  type BespokeSource,
  type ToolContext,
} from "../context/tool-context.ts";
import type { BespokeArguments } from "./bespoke-tool.ts";
import { toGuard } from "../entry-scopes.ts";
import type {
  EntryCall,
  LocalWatch,
  ResourceContent,
  ResourceEntry,
  TemplateEntry,
  TemplateVariable,
} from "../entry.ts";
import { assertFreeUri, readFreeTemplate, type UriSegment } from "../uri-syntax.ts";
import { followChanges } from "../resources/follow-changes.ts";
import type { ResourceEntries } from "../kinds/mapping.ts";
import type { MemoryContext } from "../context/memory-context.ts";
import { OwnContext } from "../context/own-context.ts";
import { toResourceContent } from "../content/resource-body.ts";
import { toTemplateShape, type TemplateShape } from "../kinds/template-variables.ts";

/** A hand-written resource, and options that only collections have, which say so. */
interface GivenResource extends CollectionResourceOptions<unknown, unknown> {
  readonly mimeType?: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly variables?: unknown;
  readonly complete?: unknown;
  readonly read: unknown;
  readonly watch?: unknown;
}

const fields: OptionFields<GivenResource> = {
  read: handler,
  watch: callable,
  ...resourceFields,
  variables: standardSchema,
  uri: text,
  uriTemplate: text,
  mimeType: mimeTypeOption,
  // Checked with the variables.
  complete: unchecked,
};

const keyPattern = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*$/;
const maxKeyLength = 128;

/**
 * Refuses a hand-written resource that the compiler would have refused, for callers who cast, and values that it cannot
 * see.
 *
 * @throws SurfaceError `INVALID_NAME` for a key that no member could have, `MISSING_HANDLER`, `INVALID_OPTION`.
 */
export function assertBespokeResource(key: string, resource: unknown): void {
  const doing = `Adding resource "${key}"`;
  if (!keyPattern.test(key) || key.length > maxKeyLength) {
    throw new SurfaceError(
      "INVALID_NAME",
      `${doing}: its key must be letters, digits, "_" and single dots, starting with a letter, at most ${maxKeyLength} characters`,
    );
  }
  if (!isObject(resource)) throw invalidOption(doing, "it must be an object");
  const { uri, uriTemplate, variables } = readEntry(resource, fields, doing);
  if (uri !== undefined && variables !== undefined) {
    throw invalidOption(doing, 'with "variables" its URI is a "uriTemplate"');
  }
  if (uriTemplate !== undefined && variables === undefined) {
    throw invalidOption(doing, 'a "uriTemplate" needs "variables"');
  }
}

/** What every hand-written resource says, whatever its variables. */
interface ResourceWords extends ResourceOptions {
  /** What is listed as its type, and what a text or bytes that `read` returns are taken for. Default: JSON. */
  readonly mimeType?: string;
}

/** A resource that is not a member: a function that reads it, and maybe one that says when it has changed. */
export interface BespokeResource<TVariables, TSpec, TContext = MemoryContext> extends ResourceWords {
  /** A URI of its own; read before what a template says of it. Default: what all URIs start with, and its key. */
  readonly uri?: string;
  /**
   * The same where it has variables, each a whole segment, all of them required: `"app://site/{id}/data"`. No URI may be of
   * two of them.
   */
  readonly uriTemplate?: string;
  /** The schema of its variables, a flat object of scalars: it is a template then. Default: it has none. */
  readonly variables?: TVariables;
  /** Proposes values by variable; those of an enum or of true and false need none. */
  readonly complete?: BespokeCompleters<TVariables, TSpec, TContext>;
  /** What is there now: any JSON, or what `body()` makes. `undefined`: nothing. */
  read(variables: BespokeArguments<TVariables>, context: ToolContext<TSpec, TContext>): unknown;
  /**
   * Yields whenever the result of `read` has changed, so that subscribers are notified. Left out, a subscription succeeds and
   * is never notified. Each read calls `read`, with or without a subscription.
   */
  watch?(variables: BespokeArguments<TVariables>, context: ToolContext<TSpec, TContext>): AsyncIterable<unknown>;
}

/** `unknown` when a schema can be the variables of a URI, else the sentence that says why not. */
export type VariablesProblem<TVariables> = [Extract<TVariables, Schema>] extends [never]
  ? unknown
  : [UnfitForUri<InferInput<Extract<TVariables, Schema>>>] extends [never]
    ? unknown
    : TypeProblem<"the variables of a resource must be a scalar or a flat object of scalars: they are spelled in a URI">;

/** A hand-written resource as the catalog keeps it. */
export interface AnyBespokeResource extends ResourceWords {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly variables?: MaybeSchema;
  readonly complete?: AnyBespokeCompleters;
  read(variables: unknown, context: ToolContext<unknown, unknown>): unknown;
  watch?(variables: unknown, context: ToolContext<unknown, unknown>): AsyncIterable<unknown>;
}

/** What the entries of hand-written resources are made of. */
interface BespokeResourceSource extends BespokeSource {
  readonly uriPrefix: string;
  /** Told what a watch let through: nobody else hears of it. */
  readonly report: FaultReporter;
}

/** One hand-written resource, and where its handlers run. */
class Reader {
  readonly #resource: AnyBespokeResource;
  readonly #source: BespokeResourceSource;
  readonly #origin: string;

  constructor(resource: AnyBespokeResource, source: BespokeResourceSource, origin: string) {
    this.#resource = resource;
    this.#source = source;
    this.#origin = origin;
  }

  /** What is under these variables now. */
  async read(given: unknown, call: EntryCall): Promise<ResourceContent | undefined> {
    const { mimeType, variables: schema } = this.#resource;
    const variables: unknown = await checkInput(schema, given, this.#origin);
    const read = (): unknown => runInContext(call, this.#source, (context) => this.#resource.read(variables, context));
    return runHandler(async () => toResourceContent(await read(), mimeType), this.#origin);
  }

  watch(given: unknown): LocalWatch {
    const { windowMs } = this.#resource;
    const spell = { isFailing: false };
    return {
      windowMs,
      followHere: (use) => {
        let own: OwnContext | undefined;
        return followChanges({
          read: (call) => this.read(given, call),
          open: (call) => {
            own = new OwnContext(call, this.#source.contexts);
            return this.#open(given, createToolContext(call, this.#source, own));
          },
          // What says when something has changed needs what it has of its own until then.
          ended: () => void own?.end(),
          ...use,
          signal: use.signal,
          where: this.#origin,
          report: this.#source.report,
          spell,
        });
      },
      // What it follows are contents.
      render: (content) => content as ResourceContent | undefined,
    };
  }

  /** What its author says of changes; `undefined` where that is nothing. */
  async #open(given: unknown, context: ToolContext<unknown, unknown>): Promise<AsyncIterable<unknown> | undefined> {
    const resource = this.#resource;
    const variables: unknown = await checkInput(resource.variables, given, this.#origin);
    return runHandler(() => resource.watch?.(variables, context), this.#origin);
  }
}

type Head = Omit<ResourceEntry, "uri" | "read" | "watch">;

function toHead(key: string, resource: AnyBespokeResource, { scopes }: BespokeSource): Head {
  const { title, description, mimeType } = resource;
  return {
    id: key,
    origin: `resource "${key}"`,
    title,
    description,
    mimeType,
    ...keepLooks(resource),
    ...toGuard(scopes.read, resource),
  };
}

/** Puts an author's completers, and those that schemas are by themselves, beside the variables. */
function withCompleters(
  variables: readonly TemplateVariable[],
  { complete }: AnyBespokeResource,
  source: BespokeSource,
): readonly TemplateVariable[] {
  const completed = variables.map((variable) => {
    const completer = toCompleter(variable.name, { ...source, complete }) ?? toSchemaCompleter(variable.json);
    return Object.freeze(completer === undefined ? variable : { ...variable, complete: completer });
  });
  return Object.freeze(completed);
}

/** Refuses a template of its own whose variables are not those of the schema. */
function assertSameVariables(segments: readonly UriSegment[], shape: TemplateShape, origin: string): void {
  const named = segments.flatMap((segment) => ("variable" in segment ? [segment.variable] : []));
  const asked = shape.variables.filter(({ required }) => required).map(({ name }) => name);
  if (named.length === shape.variables.length && named.toSorted().join() === asked.toSorted().join()) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Adding ${origin}: its "uriTemplate" must have each variable once, and all of them must be required`,
  );
}

function toTemplate(key: string, resource: AnyBespokeResource, source: BespokeResourceSource): TemplateEntry {
  const origin = `resource "${key}"`;
  const schema = toInputSchema(resource.variables, origin);
  const shape = toTemplateShape({ schema, single: "value", origin });
  const { uriTemplate, complete } = resource;
  assertCompleters(
    complete,
    shape.variables.map(({ name }) => name),
    origin,
  );
  const base = `${source.uriPrefix}${key}`;
  const reader = new Reader(resource, source, origin);
  const segments = uriTemplate === undefined ? undefined : readFreeTemplate(uriTemplate, origin, source.uriPrefix);
  if (segments !== undefined) assertSameVariables(segments, shape, origin);
  return {
    ...toHead(key, resource, source),
    base: uriTemplate ?? base,
    uriTemplate: uriTemplate ?? `${base}${shape.suffix}`,
    ...(segments === undefined ? {} : { segments }),
    variables: withCompleters(shape.variables, resource, source),
    read: (variables: JsonObject, call) => reader.read(shape.toInput(variables), call),
    watch: (variables) => reader.watch(shape.toInput(variables)),
  };
}

/**
 * Turns a hand-written resource into its entry: a template where it has variables.
 *
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION`, `INVALID_MEMBER`, `MISSING_HANDLER` or `SCHEMA_UNSUPPORTED`.
 */
export function toBespokeResource(
  key: string,
  resource: AnyBespokeResource,
  source: BespokeResourceSource,
): ResourceEntries {
  assertBespokeResource(key, resource);
  if (resource.variables !== undefined) return { template: toTemplate(key, resource, source) };
  const origin = `resource "${key}"`;
  const uri = resource.uri ?? `${source.uriPrefix}${key}`;
  if (resource.uri !== undefined) assertFreeUri(uri, origin, source.uriPrefix);
  const reader = new Reader(resource, source, origin);
  return {
    resource: {
      ...toHead(key, resource, source),
      uri,
      read: (call) => reader.read(undefined, call),
      // Made for each who watches: what has failed for one has not for another.
      get watch() {
        return reader.watch(undefined);
      },
    },
  };
}
