import { toInputSchema, type CompiledSchema } from "../../schema/compile-schema.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import type { RequestVerb, SubscribeVerb, SurfaceChannel } from "../../surface/channel.ts";
import type { UseOptions } from "../../surface/client.ts";
import { andThen } from "../../surface/is-thenable.ts";
import type { MemberOfKind } from "../../surface/member.ts";
import { Stale } from "../../surface/reading.ts";
import type { EntryCall, LinkedWatch, ReadResult, ResourceEntry, TemplateEntry } from "../entry.ts";
import { headOf, originOf, type Exposed, type ResourceEntries } from "./mapping.ts";
import { jsonMimeType } from "../content/resource-body.ts";
import { toTemplateShape, type TemplateShape } from "./template-variables.ts";

// JSON.stringify({ value: x }) is this, the JSON text of x, and a brace.
const wrapPrefix = '{"value":';

/**
 * Returns the JSON text of a value, without the object in which its schema wraps it for tool results. `undefined` becomes `null`:
 * a resource must have content.
 */
export function stringifyBare(schema: CompiledSchema, value: unknown): string {
  const text = schema.codec.stringify(value);
  if (!schema.wrapped) return text;
  return value === undefined ? "null" : text.slice(wrapPrefix.length, -1);
}

/** Returns the JSON of a value, as {@link stringifyBare}. */
export function encodeBare(schema: CompiledSchema, value: unknown): JsonValue {
  const json = schema.codec.encode(value);
  return schema.wrapped && isJsonObject(json) ? (json["value"] ?? null) : json;
}

/** Returns the JSON Schema of what {@link encodeBare} returns. */
export function bareSchema(schema: CompiledSchema): JsonSchema {
  const properties = schema.json["properties"];
  if (!schema.wrapped || !isJsonObject(properties)) return schema.json;
  const value = properties["value"];
  return isJsonObject(value) ? value : {};
}

/** The key of `_meta` under which the contents of a resource say that they may be stale. */
export const staleMetaKey = "surface-mcp/stale";

/** How a member is read, watched and written. */
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

function readView({ channel }: Exposed, view: ResourceView, call: EntryCall): ReadResult {
  // Reads are frequent, and a channel takes only the signal of the call: so pass the call itself.
  return andThen(view.fetch(channel, call), (value) => view.render(value));
}

function toWatch({ options, member }: Exposed, view: ResourceView): LinkedWatch {
  const watch = { windowMs: options.windowMs, ...view };
  const hasSource = member.kind === "cell" || member.kind === "collection";
  return hasSource ? { ...watch, refresh: async (channel, use) => view.fetch(channel, use) } : watch;
}

/** Creates the resource of an exposed member, under the URI of the member. */
export function toResourceEntry(exposed: Exposed, view: ResourceView): ResourceEntry {
  return {
    ...headOf(exposed),
    uri: exposed.uri,
    read: (call) => readView(exposed, view, call),
    watch: toWatch(exposed, view),
  };
}

/** The variables of a template, and the view of the input that they make. */
interface TemplateView {
  readonly shape: TemplateShape;
  readonly viewOf: (input: unknown) => ResourceView;
}

/** Creates a template of an exposed member: the URI of the member, followed by variables. */
export function toTemplateEntry(exposed: Exposed, { shape, viewOf }: TemplateView): TemplateEntry {
  const { uri } = exposed;
  return {
    ...headOf(exposed),
    base: uri,
    uriTemplate: `${uri}${shape.suffix}`,
    variables: shape.variables,
    read: (variables, call) => readView(exposed, viewOf(shape.toInput(variables)), call),
    watch: (variables) => toWatch(exposed, viewOf(shape.toInput(variables))),
  };
}

/** Creates the resource of a stream or event, or a template if it takes input. */
export function toListenedEntries(
  exposed: Exposed<MemberOfKind<"stream" | "event">>,
  viewOf: (input: unknown) => ResourceView,
): ResourceEntries {
  const { input } = exposed.member;
  if (input === undefined) return { resource: toResourceEntry(exposed, viewOf(undefined)) };
  const origin = originOf(exposed);
  const shape = toTemplateShape({ schema: toInputSchema(input, origin), single: "value", origin });
  return { template: toTemplateEntry(exposed, { shape, viewOf }) };
}
