import type { SurfaceChannel } from "../../surface/channel.ts";
import type { SurfaceClient } from "../../surface/client.ts";
import type { Kind, Member, MemberOfKind } from "../../surface/member.ts";
import type { Effect } from "../../tags/tag-of.ts";
import { freezeDisplayMetadata } from "../../tags/display-metadata.ts";
import type { TagOptions } from "../../tags/tool-options.ts";
import { toGuard, type DefaultScopes } from "../entry-scopes.ts";
import type { EntryGuard, EntryDisplayMetadata, ResourceEntry, TemplateEntry, ToolEntry } from "../entry.ts";

/** An exposed member, and the dependencies of its entries. */
export interface ExposedMember<TMember extends Member = Member> {
  readonly key: string;
  readonly member: TMember;
  readonly effect: Effect;
  readonly options: TagOptions;
  /** The URI of the member as a resource. */
  readonly uri: string;
  readonly scopes: DefaultScopes;
  readonly channel: SurfaceChannel;
  /** The client for functions of the option `confirm`. */
  readonly client: SurfaceClient<unknown>;
}

/** The entries of one resource. */
export interface ResourceEntries {
  readonly resource?: ResourceEntry;
  readonly template?: TemplateEntry;
  /** The pages of a collection. */
  readonly pages?: TemplateEntry;
}

/** The functions that create the entries of members of one kind. A kind without a function cannot be exposed that way. */
export interface KindMapping<TKind extends Kind> {
  readonly asTool?: (exposed: ExposedMember<MemberOfKind<TKind>>) => ToolEntry;
  readonly asResource?: (exposed: ExposedMember<MemberOfKind<TKind>>) => ResourceEntries;
}

/** Returns the name of a member in messages, for example `cell "nodes"`. */
export function originOf(exposed: ExposedMember): string {
  return `${exposed.member.kind} "${exposed.key}"`;
}

/** The fields of all entries of a member. */
export type EntryHead = EntryDisplayMetadata & EntryGuard & Pick<ToolEntry, "id" | "origin" | "title" | "description">;

/**
 * Returns the fields that all entries of a member have. The options of its tag come before its own title and description.
 *
 * @param scope - the scope that callers need. @default that for reading
 */
export function toEntryHead(exposed: ExposedMember, scope: string = exposed.scopes.read): EntryHead {
  const { key, member, options } = exposed;
  return {
    id: key,
    origin: originOf(exposed),
    ...freezeDisplayMetadata(options),
    title: options.title ?? member.title,
    description: options.description ?? member.description,
    ...toGuard(scope, options),
  };
}
