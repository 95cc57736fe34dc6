import { SurfaceError } from "../../errors.ts";
import { scalarFields } from "../../schema/coerce-scalar.ts";
import { toInputSchema, type CompiledSchema } from "../../schema/compile-schema.ts";
import { type JsonObject, type JsonValue } from "../../schema/json.ts";
import type { RequestVerb, SubscribeVerb, SurfaceChannel } from "../../surface/channel.ts";
import type { UseOptions } from "../../surface/client.ts";
import { andThen } from "../../surface/is-thenable.ts";
import type { MemberOfKind } from "../../surface/member.ts";
import { Stale } from "../../surface/reading.ts";
import { jsonMimeType } from "../content/resource-body.ts";
import type { EntryCall, LinkedWatch, ReadResult, ResourceEntry, TemplateEntry, TemplateVariable } from "../entry.ts";
import { argumentOf } from "../tool-schemas.ts";
import { toEntryHead, originOf, type ExposedMember, type ResourceEntries } from "./mapping.ts";

/** Returns the JSON text of a value as the content of a resource. `undefined` becomes `null`: a resource must have content. */
export function stringifyBare({ bare, wrapped }: CompiledSchema, value: unknown): string {
  return value === undefined && wrapped ? "null" : bare.codec.stringify(value);
}

/** Returns the JSON of a value, as {@link stringifyBare}. */
export function encodeBare({ bare, wrapped }: CompiledSchema, value: unknown): JsonValue {
  return value === undefined && wrapped ? null : bare.codec.encode(value);
}

/** The key of `_meta` that marks the contents of a resource as possibly stale. */
export const staleMetaKey = "surface-mcp/stale";

/** The functions that read, watch and write a member. */
export interface ResourceView extends Pick<LinkedWatch, "follow" | "render"> {
  fetch(channel: SurfaceChannel, use: UseOptions): unknown;
}

/** The operations on a member that read and watch one value. */
interface MemberVerbs {
  readonly member: string;
  /** The key of the item, the page or the input. @default none */
  readonly argument?: unknown;
  readonly read: RequestVerb;
  readonly watch: SubscribeVerb;
}

/** Creates the view of a value, which may be stale. */
export function toMemberView<TValue>(
  { member, argument, read, watch }: MemberVerbs,
  render: (value: TValue) => string | undefined,
): ResourceView {
  return {
    fetch: (channel, options) => channel.request({ verb: read, member, argument, options }),
    follow: (channel, options) => channel.subscribe({ verb: watch, member, argument, options }),
    render(given) {
      const value = given instanceof Stale ? given.value : given;
      // A channel answers these verbs with such a value.
      const text = render(value as TValue);
      if (text === undefined || !(given instanceof Stale)) return text;
      const { reason, since } = given.staleness;
      return { mimeType: jsonMimeType, text, meta: { [staleMetaKey]: { reason, since } } };
    },
  };
}

function readView({ channel }: ExposedMember, view: ResourceView, call: EntryCall): ReadResult {
  // Reads are frequent, and a channel takes only the signal of the call: so pass the call itself.
  return andThen(view.fetch(channel, call), (value) => view.render(value));
}

function toWatch({ options, member }: ExposedMember, view: ResourceView): LinkedWatch {
  const watch = { windowMs: options.windowMs, ...view };
  const hasSource = member.kind === "cell" || member.kind === "collection";
  return hasSource ? { ...watch, refresh: async (channel, use) => view.fetch(channel, use) } : watch;
}

/** Creates the resource of an exposed member, under the URI of the member. */
export function toResourceEntry(exposed: ExposedMember, view: ResourceView): ResourceEntry {
  return {
    ...toEntryHead(exposed),
    uri: exposed.uri,
    read: (call) => readView(exposed, view, call),
    watch: toWatch(exposed, view),
  };
}

/** The variables of a template, and the input that they make. */
export interface TemplateShape {
  readonly variables: readonly TemplateVariable[];
  /** The RFC 6570 part after the base: `/{node}{/since}`. */
  readonly suffix: string;
  /** Returns the input of variables by name. */
  toInput(variables: JsonObject): unknown;
}

/** The input of a template. */
interface TemplateSource {
  readonly schema: CompiledSchema;
  /** The name of the variable if the input is one scalar. */
  readonly single: string;
  readonly origin: string;
}

// RFC 6570's varname without its percent-encoded and dotted forms, which clients spell in different ways.
const namePattern = /^[A-Za-z0-9_]+$/;

/** Returns the problem of an input as the variables of a URI. */
function shapeProblem(variables: readonly TemplateVariable[]): string | undefined {
  if (variables.length === 0) return "its input must be a scalar or a flat object of scalars, to be written into a URI";
  const odd = variables.find(({ name }) => !namePattern.test(name));
  if (odd !== undefined) return `its field "${odd.name}" is a variable in a URI and must be letters, digits and "_"`;
  const firstOptional = variables.findIndex(({ required }) => !required);
  const areLast = firstOptional === -1 || variables.slice(firstOptional).every(({ required }) => !required);
  return areLast ? undefined : "its optional fields must be declared last";
}

/** Returns the template of an input: a scalar, or a flat object of scalars in declared order. @throws SurfaceError `INVALID_MEMBER`. */
export function toTemplateShape({ schema, single, origin }: TemplateSource): TemplateShape {
  const { wrapped, bare, json } = schema;
  const variables = (scalarFields(json) ?? []).map((field) =>
    Object.freeze(wrapped ? { ...field, name: single } : field),
  );
  const problem = shapeProblem(variables);
  if (problem !== undefined) {
    throw new SurfaceError("INVALID_MEMBER", `Cannot expose ${origin} as a resource: ${problem}`);
  }
  return {
    variables: Object.freeze(variables),
    suffix: variables.map(({ name, required }) => (required ? `/{${name}}` : `{/${name}}`)).join(""),
    toInput(given) {
      const value = wrapped ? argumentOf(given, single) : given;
      return value === undefined ? undefined : bare.codec.decode(value);
    },
  };
}

/** A template, and the view of each input. */
interface TemplateView {
  readonly shape: TemplateShape;
  readonly viewOf: (input: unknown) => ResourceView;
}

/** Creates a template of an exposed member: the URI of the member, followed by variables. */
export function toTemplateEntry(exposed: ExposedMember, { shape, viewOf }: TemplateView): TemplateEntry {
  const { uri } = exposed;
  return {
    ...toEntryHead(exposed),
    base: uri,
    uriTemplate: `${uri}${shape.suffix}`,
    variables: shape.variables,
    read: (variables, call) => readView(exposed, viewOf(shape.toInput(variables)), call),
    watch: (variables) => toWatch(exposed, viewOf(shape.toInput(variables))),
  };
}

/** Creates the resource of a stream or event, or a template if it takes input. */
export function toListenedEntries(
  exposed: ExposedMember<MemberOfKind<"stream" | "event">>,
  viewOf: (input: unknown) => ResourceView,
): ResourceEntries {
  const { input } = exposed.member;
  if (input === undefined) return { resource: toResourceEntry(exposed, viewOf(undefined)) };
  const origin = originOf(exposed);
  const shape = toTemplateShape({ schema: toInputSchema(input, origin), single: "value", origin });
  return { template: toTemplateEntry(exposed, { shape, viewOf }) };
}
