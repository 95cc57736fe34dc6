import { toInputSchema } from "../../schema/to-input-schema.ts";
import type { MemberOfKind } from "../../surface/member.ts";
import { encodeBare, stringifyBare } from "../bare-value.ts";
import { compileOutput } from "../compile-output.ts";
import { useWith } from "../entry-use.ts";
import type { ResourceEntry, TemplateEntry } from "../entry.ts";
import { originOf, type Exposed, type KindMapping } from "../mapping.ts";
import { toResourceEntry, toTemplateEntry } from "../resource-entries.ts";
import { toTemplateShape } from "../template-variables.ts";

function keyList(exposed: Exposed<MemberOfKind<"collection">>): ResourceEntry {
  const { key, channel, member } = exposed;
  const schema = compileOutput(member.key, `key of ${originOf(exposed)}`);
  return toResourceEntry(exposed, async (call) => {
    const keys = await channel.keys(key, useWith(call, {}));
    return JSON.stringify(keys.map((each) => encodeBare(schema, each)));
  });
}

function items(exposed: Exposed<MemberOfKind<"collection">>): TemplateEntry {
  const { key, channel, member } = exposed;
  const origin = originOf(exposed);
  const schema = compileOutput(member.schema, origin);
  const shape = toTemplateShape({ schema: toInputSchema(member.key, `key of ${origin}`), single: "key", origin });
  return toTemplateEntry(exposed, shape, async (itemKey, call) => {
    const item = await channel.item(key, itemKey, useWith(call, {}));
    return item === undefined ? undefined : stringifyBare(schema, item);
  });
}

/** A collection is the list of its keys, and one resource for each of them by template. */
export const collectionMapping: KindMapping<"collection"> = {
  asResource: (exposed) => ({ resource: keyList(exposed), template: items(exposed) }),
};
