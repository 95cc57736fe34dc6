import { toInputSchema } from "../../schema/to-input-schema.ts";
import { compileOutput } from "../compile-output.ts";
import { encodeBare, stringifyBare } from "../bare-value.ts";
import { useWith } from "../entry-use.ts";
import type { EntryCall, ResourceEntry, TemplateEntry } from "../entry.ts";
import { originOf, wordsOf, type Exposed, type KindMapping } from "../mapping.ts";
import { toTemplateShape } from "../template-variables.ts";
import type { MemberOfKind } from "../../surface/member.ts";

function keyList(exposed: Exposed<MemberOfKind<"collection">>): ResourceEntry {
  const { key, uri, channel, member } = exposed;
  const schema = compileOutput(member.key, `key of ${originOf(exposed)}`);
  return {
    id: key,
    origin: originOf(exposed),
    uri,
    ...wordsOf(exposed),
    async read(call: EntryCall) {
      const keys = await channel.keys(key, useWith(call, {}));
      return JSON.stringify(keys.map((each) => encodeBare(schema, each)));
    },
  };
}

function items(exposed: Exposed<MemberOfKind<"collection">>): TemplateEntry {
  const { key, uri, channel, member } = exposed;
  const origin = originOf(exposed);
  const schema = compileOutput(member.schema, origin);
  const shape = toTemplateShape({ schema: toInputSchema(member.key, `key of ${origin}`), single: "key", origin });
  return {
    id: key,
    origin,
    base: uri,
    uriTemplate: `${uri}${shape.suffix}`,
    variables: shape.variables,
    ...wordsOf(exposed),
    async read(variables, call) {
      const item = await channel.item(key, shape.toInput(variables), useWith(call, {}));
      return item === undefined ? undefined : stringifyBare(schema, item);
    },
  };
}

/** A collection is the list of its keys, and one resource for each of them by template. */
export const collectionMapping: KindMapping<"collection"> = {
  asResource: (exposed) => ({ resource: keyList(exposed), template: items(exposed) }),
};
