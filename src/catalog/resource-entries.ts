import { toInputSchema } from "../schema/to-input-schema.ts";
import type { MemberOfKind } from "../surface/member.ts";
import type { EntryCall, ResourceEntry, TemplateEntry } from "./entry.ts";
import { originOf, wordsOf, type Exposed, type ResourceEntries } from "./mapping.ts";
import { toTemplateShape, type TemplateShape } from "./template-variables.ts";

/** The resource of an exposed member, under the member's own URI. */
export function toResourceEntry(exposed: Exposed, read: ResourceEntry["read"]): ResourceEntry {
  const { key, uri } = exposed;
  return { id: key, origin: originOf(exposed), uri, ...wordsOf(exposed), read };
}

/** Reads one member of a template's family: its input, made of the variables -> its JSON text, or that there is none. */
export type ReadByInput = (input: unknown, call: EntryCall) => Promise<string | undefined>;

/** The template of an exposed member: the member's URI, and the variables behind it. */
export function toTemplateEntry(exposed: Exposed, shape: TemplateShape, read: ReadByInput): TemplateEntry {
  const { key, uri } = exposed;
  return {
    id: key,
    origin: originOf(exposed),
    base: uri,
    uriTemplate: `${uri}${shape.suffix}`,
    variables: shape.variables,
    ...wordsOf(exposed),
    read: (variables, call) => read(shape.toInput(variables), call),
  };
}

/** A stream or event as a resource: one where it takes no input, a template of its input otherwise. */
export function toListenedEntries(
  exposed: Exposed<MemberOfKind<"stream" | "event">>,
  read: (input: unknown, call: EntryCall) => Promise<string>,
): ResourceEntries {
  const { input } = exposed.member;
  if (input === undefined) return { resource: toResourceEntry(exposed, (call) => read(undefined, call)) };
  const origin = originOf(exposed);
  const shape = toTemplateShape({ schema: toInputSchema(input, origin), single: "value", origin });
  return { template: toTemplateEntry(exposed, shape, read) };
}
