import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient } from "../surface/client.ts";
import type { Kind, Member, MemberOfKind } from "../surface/member.ts";
import type { Effect } from "../tags/symbols.ts";
import { keepLooks } from "../tags/looks.ts";
import type { TagOptions } from "../tags/tool-options.ts";
import type { DefaultScopes } from "./entry-scopes.ts";
import type { EntryLooks, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";

/** One member that is exposed, and everything its entries are made of. */
export interface Exposed<TMember extends Member = Member> {
  readonly key: string;
  readonly member: TMember;
  readonly effect: Effect;
  readonly options: TagOptions;
  /** The URI of the member as a resource. */
  readonly uri: string;
  readonly scopes: DefaultScopes;
  readonly channel: SurfaceChannel;
  /** For functions of the option `confirm`. */
  readonly client: SurfaceClient<unknown>;
}

/** What one exposed resource member comes to. */
export interface ResourceEntries {
  readonly resource?: ResourceEntry;
  readonly template?: TemplateEntry;
  /** The pages of its list. */
  readonly pages?: TemplateEntry;
}

/**
 * How members of one kind become entries. A new kind of member is one more of these: a side that is left out cannot be
 * exposed that way.
 */
export interface KindMapping<TKind extends Kind> {
  readonly asTool?: (exposed: Exposed<MemberOfKind<TKind>>) => ToolEntry;
  readonly asResource?: (exposed: Exposed<MemberOfKind<TKind>>) => ResourceEntries;
}

/** `cell "nodes"`: how an entry is named in messages for the author. */
export function originOf(exposed: Exposed): string {
  return `${exposed.member.kind} "${exposed.key}"`;
}

/** What people and models are shown of an entry. */
type Words = EntryLooks & Pick<ToolEntry, "title" | "description">;

/** Title and description, the tag's own first, the member's otherwise; and what the tag says of its looks. */
export function wordsOf(exposed: Exposed): Words {
  return {
    ...keepLooks(exposed.options),
    title: exposed.options.title ?? exposed.member.title,
    description: exposed.options.description ?? exposed.member.description,
  };
}
