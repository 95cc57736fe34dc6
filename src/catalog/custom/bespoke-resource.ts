import { isObject } from "../../options/is-object.ts";
import { callable, text, unchecked, type OptionFields } from "../../options/option.ts";
import { invalidOption } from "../../options/read-options.ts";
import { toInputSchema } from "../../schema/compile-schema.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import { checkInput } from "../../surface/check-value.ts";
import type { FaultReporter } from "../../surface/fault.ts";
import type { MaybeSchema } from "../../surface/member.ts";
import { freezeDisplayMetadata, mimeTypeOption } from "../../tags/display-metadata.ts";
import type { UnfitForUri } from "../../tags/mcp-resource.ts";
import { resourceFields } from "../../tags/read-tag-options.ts";
import type { CollectionResourceOptions, ResourceOptions } from "../../tags/tool-options.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import { toResourceContent } from "../content/resource-body.ts";
import type { MemoryContext } from "../context/memory-context.ts";
import { OwnContext } from "../context/own-context.ts";
import {
  createToolContext,
  runHandler,
  runInContext,
  type BespokeSource,
  type ToolContext,
} from "../context/tool-context.ts";
import type { EntryCall, LocalWatch, ResourceContent, ResourceEntry, TemplateEntry } from "../entry.ts";
import { toGuard } from "../entry-scopes.ts";
import type { ResourceEntries } from "../kinds/mapping.ts";
import { toTemplateShape } from "../kinds/resource-entries.ts";
import { followChanges, type FailureState } from "../resources/follow-changes.ts";
import { assertFreeUri, readFreeTemplate } from "../uri-syntax.ts";
import { handler, readEntry, standardSchema, type BespokeArguments } from "./bespoke-tool.ts";
import { assertCompleters, toCompleter, type AnyBespokeCompleters, type BespokeCompleters } from "./completers.ts";
import { isKey, keyRule } from "../../surface/define-surface.ts";

/** A hand-written resource; with the options of collections, whose errors say that they are for collections. */
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

/** Checks a hand-written resource. @throws SurfaceError `INVALID_NAME` for a key that no member could have, and other boot codes. */
export function assertBespokeResource(key: string, resource: unknown): void {
  const doing = `Cannot add resource "${key}"`;
  if (!isKey(key)) throw invalidOption(doing, `its key must be ${keyRule}`, "INVALID_NAME");
  if (!isObject(resource)) throw invalidOption(doing, "it must be an object");
  const { uri, uriTemplate, variables } = readEntry(resource, fields, doing);
  if (uri !== undefined && variables !== undefined) {
    throw invalidOption(doing, 'with "variables" its URI is a "uriTemplate"');
  }
  if (uriTemplate !== undefined && variables === undefined) {
    throw invalidOption(doing, 'a "uriTemplate" needs "variables"');
  }
}

/** The options of every hand-written resource, apart from its variables. */
interface BespokeResourceOptions extends ResourceOptions {
  /** The MIME type in lists, and of a text or bytes that `read` returns. @default JSON */
  readonly mimeType?: string;
}

/** A resource that is not a member: a function that reads it, and perhaps one that announces changes. */
export interface BespokeResource<TVariables, TSpec, TContext = MemoryContext> extends BespokeResourceOptions {
  /** Its URI, which wins over a template that matches it. @default the URI prefix of the app, and the key */
  readonly uri?: string;
  /**
   * Its URI with variables, each a whole segment, all of them required: `"app://site/{id}/data"`. Of two templates that match a URI,
   * the one with a text at the first place where the other has a variable is read.
   */
  readonly uriTemplate?: string;
  /** The schema of its variables, a flat object of scalars, which make it a template. @default no variables */
  readonly variables?: TVariables;
  /** Proposes values by variable. Variables of an enum or of true and false need no completer. */
  readonly complete?: BespokeCompleters<TVariables, TSpec, TContext>;
  /** Returns the current value: any JSON, or the result of `body()`; `undefined` if it is absent. */
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

/** A hand-written resource, without the types of its variables. */
export interface AnyBespokeResource extends BespokeResourceOptions {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly variables?: MaybeSchema;
  readonly complete?: AnyBespokeCompleters;
  read(variables: unknown, context: ToolContext<unknown, unknown>): unknown;
  watch?(variables: unknown, context: ToolContext<unknown, unknown>): AsyncIterable<unknown>;
}

/** Dependencies of the entries of hand-written resources. */
interface BespokeResourceSource extends BespokeSource {
  readonly uriPrefix: string;
  /** Receives the faults of watches, which no caller sees. */
  readonly report: FaultReporter;
}

/** Reads and watches one hand-written resource. */
class Reader {
  readonly #resource: AnyBespokeResource;
  readonly #source: BespokeResourceSource;
  readonly #origin: string;

  constructor(resource: AnyBespokeResource, source: BespokeResourceSource, origin: string) {
    this.#resource = resource;
    this.#source = source;
    this.#origin = origin;
  }

  async read(given: unknown, call: EntryCall): Promise<ResourceContent | undefined> {
    const { mimeType } = this.#resource;
    const variables = await this.#check(given);
    const read = (): unknown => runInContext(call, this.#source, (context) => this.#resource.read(variables, context));
    return runHandler(async () => toResourceContent(await read(), mimeType), this.#origin);
  }

  watch(given: unknown): LocalWatch {
    const failure: FailureState = { isFailing: false };
    return {
      windowMs: this.#resource.windowMs,
      followHere: ({ signal, caller }) => {
        let own: OwnContext | undefined;
        return followChanges({
          read: (call) => this.read(given, call),
          open: async (call) => {
            own = new OwnContext(call, this.#source.contexts);
            const context = createToolContext(call, this.#source, own);
            const variables = await this.#check(given);
            return runHandler(() => this.#resource.watch?.(variables, context), this.#origin);
          },
          // The author's watch() uses the context until it ends.
          ended: () => void own?.end(),
          ...{ signal, caller, where: this.#origin, report: this.#source.report, failure },
        });
      },
      // followChanges() yields contents.
      render: (content) => content as ResourceContent | undefined,
    };
  }

  async #check(given: unknown): Promise<unknown> {
    return checkInput(this.#resource.variables, given, this.#origin);
  }
}

type Head = Omit<ResourceEntry, "uri" | "read" | "watch">;

function toHead(key: string, resource: AnyBespokeResource, { scopes }: BespokeSource): Head {
  const { title, description, mimeType } = resource;
  return {
    ...{ id: key, origin: `resource "${key}"`, title, description, mimeType },
    ...freezeDisplayMetadata(resource),
    ...toGuard(scopes.read, resource),
  };
}

function toTemplate(key: string, resource: AnyBespokeResource, source: BespokeResourceSource): TemplateEntry {
  const head = toHead(key, resource, source);
  const { origin } = head;
  const { uriTemplate, complete } = resource;
  const shape = toTemplateShape({ schema: toInputSchema(resource.variables, origin), single: "value", origin });
  assertCompleters(complete, shape.variables, origin);
  const base = `${source.uriPrefix}${key}`;
  const reader = new Reader(resource, source, origin);
  const segments =
    uriTemplate === undefined ? undefined : readFreeTemplate(uriTemplate, shape.variables, [origin, source.uriPrefix]);
  const variables = shape.variables.map((variable) => {
    const completer = toCompleter(variable, complete, source);
    return Object.freeze(completer === undefined ? variable : { ...variable, complete: completer });
  });
  return {
    ...head,
    base: uriTemplate ?? base,
    uriTemplate: uriTemplate ?? `${base}${shape.suffix}`,
    ...(segments === undefined ? {} : { segments }),
    variables: Object.freeze(variables),
    read: (given, call) => reader.read(shape.toInput(given), call),
    watch: (given) => reader.watch(shape.toInput(given)),
  };
}

/** Creates the entry of a hand-written resource: a template if it has variables. @throws SurfaceError with a boot code. */
export function toBespokeResource(
  key: string,
  resource: AnyBespokeResource,
  source: BespokeResourceSource,
): ResourceEntries {
  assertBespokeResource(key, resource);
  if (resource.variables !== undefined) return { template: toTemplate(key, resource, source) };
  const head = toHead(key, resource, source);
  const uri = resource.uri ?? `${source.uriPrefix}${key}`;
  if (resource.uri !== undefined) assertFreeUri(uri, head.origin, source.uriPrefix);
  const reader = new Reader(resource, source, head.origin);
  return {
    resource: {
      ...head,
      uri,
      read: (call) => reader.read(undefined, call),
      // A getter, so that each watcher has its own state of failure.
      get watch() {
        return reader.watch(undefined);
      },
    },
  };
}
