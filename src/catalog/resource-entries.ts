import { toInputSchema } from "../schema/compile-schema.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { UseOptions } from "../surface/client.ts";
import { andThen } from "../surface/is-thenable.ts";
import type { MemberOfKind } from "../surface/member.ts";
import { toGuard } from "./entry-scopes.ts";
import type { EntryCall, LinkedWatch, ReadResult, ResourceContent, ResourceEntry, TemplateEntry } from "./entry.ts";
import { originOf, wordsOf, type Exposed, type ResourceEntries } from "./mapping.ts";
import { toTemplateShape, type TemplateShape } from "./template-variables.ts";

/** How the members of one kind are read: once, or again and again, and written one way for both. */
export interface ResourceView<TValue> {
  fetch(channel: SurfaceChannel, use: UseOptions): TValue | Promise<TValue>;
  /** As {@link LinkedWatch.follow}. */
  follow(channel: SurfaceChannel, use: UseOptions): AsyncIterable<TValue>;
  /** As {@link LinkedWatch.render}. */
  render(value: TValue): ResourceContent | undefined;
}

function readView<TValue>({ channel }: Exposed, view: ResourceView<TValue>, call: EntryCall): ReadResult {
  // The call itself is the use: reads are many, and the signal is all that a use takes of it.
  return andThen(view.fetch(channel, call), (value) => view.render(value));
}

function toWatch<TValue>({ options, member }: Exposed, view: ResourceView<TValue>): LinkedWatch {
  const watch = { windowMs: options.windowMs, ...view };
  const hasSource = member.kind === "cell" || member.kind === "collection";
  return hasSource ? { ...watch, refresh: async (channel, use) => view.fetch(channel, use) } : watch;
}

/** The resource of an exposed member, under the member's own URI. */
export function toResourceEntry<TValue>(exposed: Exposed, view: ResourceView<TValue>): ResourceEntry {
  const { key, uri, scopes, options } = exposed;
  return {
    id: key,
    origin: originOf(exposed),
    uri,
    ...wordsOf(exposed),
    ...toGuard(scopes.read, options),
    read: (call) => readView(exposed, view, call),
    watch: toWatch(exposed, view),
  };
}

/** What a template's entry is made of: how its variables become an input, and how what is under that input is read. */
export interface TemplateView<TValue> {
  readonly shape: TemplateShape;
  readonly viewOf: (input: unknown) => ResourceView<TValue>;
}

/** The template of an exposed member: the member's URI, and the variables behind it. */
export function toTemplateEntry<TValue>(exposed: Exposed, { shape, viewOf }: TemplateView<TValue>): TemplateEntry {
  const { key, uri, scopes, options } = exposed;
  return {
    id: key,
    origin: originOf(exposed),
    base: uri,
    uriTemplate: `${uri}${shape.suffix}`,
    variables: shape.variables,
    ...wordsOf(exposed),
    ...toGuard(scopes.read, options),
    read: (variables, call) => readView(exposed, viewOf(shape.toInput(variables)), call),
    watch: (variables) => toWatch(exposed, viewOf(shape.toInput(variables))),
  };
}

/** A stream or event as a resource: one where it takes no input, a template of its input otherwise. */
export function toListenedEntries<TValue>(
  exposed: Exposed<MemberOfKind<"stream" | "event">>,
  viewOf: (input: unknown) => ResourceView<TValue>,
): ResourceEntries {
  const { input } = exposed.member;
  if (input === undefined) return { resource: toResourceEntry(exposed, viewOf(undefined)) };
  const origin = originOf(exposed);
  const shape = toTemplateShape({ schema: toInputSchema(input, origin), single: "value", origin });
  return { template: toTemplateEntry(exposed, { shape, viewOf }) };
}
