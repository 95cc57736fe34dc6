import { toInputSchema } from "../../schema/compile-schema.ts";
import type { MemberOfKind } from "../../surface/member.ts";
import { encodeBare, renderCarried, stringifyBare } from "../resource-value.ts";
import { compileOutput } from "../compile-output.ts";
import type { ResourceEntry, TemplateEntry } from "../entry.ts";
import { withKeyCompleters } from "../key-completer.ts";
import { originOf, type Exposed, type KindMapping } from "../mapping.ts";
import { toResourceEntry, toTemplateEntry } from "../resource-entries.ts";
import { toTemplateShape } from "../template-variables.ts";
import { toListWords, toPages, toPageViews } from "./collection-pages.ts";
import { maxListedItems, toListedItems } from "../to-listed-items.ts";

function keyList(exposed: Exposed<MemberOfKind<"collection">>): ResourceEntry {
  const { key, member } = exposed;
  const schema = compileOutput(member.key, `key of ${originOf(exposed)}`);
  const render = (keys: readonly unknown[]): string => JSON.stringify(keys.map((each) => encodeBare(schema, each)));
  return toResourceEntry<unknown>(exposed, {
    fetch: (channel, use) => channel.request({ verb: "keys", member: key, argument: undefined, options: use }),
    follow: (channel, use) => channel.subscribe({ verb: "watchKeys", member: key, argument: undefined, options: use }),
    render: (carried) => renderCarried(carried, render),
  });
}

function items(exposed: Exposed<MemberOfKind<"collection">>): TemplateEntry {
  const { key, member } = exposed;
  const origin = originOf(exposed);
  const schema = compileOutput(member.schema, origin);
  const render = (item: unknown): string | undefined => (item === undefined ? undefined : stringifyBare(schema, item));
  return toTemplateEntry<unknown>(exposed, {
    shape: toTemplateShape({ schema: toInputSchema(member.key, `key of ${origin}`), single: "key", origin }),
    viewOf: (itemKey) => ({
      fetch: (channel, use) => channel.request({ verb: "item", member: key, argument: itemKey, options: use }),
      follow: (channel, use) => channel.subscribe({ verb: "watchItem", member: key, argument: itemKey, options: use }),
      render: (carried) => renderCarried(carried, render),
    }),
  });
}

/** Adds the items that are listed to a list, and says that they may not be all. */
function withItems(resource: ResourceEntry, template: TemplateEntry, list: unknown): ResourceEntry {
  const some = `of the items at most ${maxListedItems} are listed`;
  const note = list === "keys" ? `Every key; ${some}` : some;
  const { description } = resource;
  return {
    ...resource,
    description: description === undefined ? note : `${description} (${note})`,
    toItems: (text) => toListedItems(text, template),
  };
}

/**
 * A collection is a list of its keys or of its items, by pages, and one resource for each item by template. Its author may have
 * the items listed too.
 */
export const collectionMapping: KindMapping<"collection"> = {
  asResource(exposed) {
    const { list = "keys", listItems } = exposed.options;
    const keys = keyList(exposed);
    const template = withKeyCompleters(items(exposed), keys);
    const pages = list === "keys" ? undefined : toPageViews(exposed);
    const entry = pages === undefined ? keys : toResourceEntry(exposed, pages({}));
    const resource = { ...entry, ...toListWords(exposed, list === "keys" ? "The keys" : "The items") };
    return {
      resource: listItems === true ? withItems(resource, template, list) : resource,
      template,
      ...(pages === undefined ? {} : { pages: toPages(exposed, pages) }),
    };
  },
};
