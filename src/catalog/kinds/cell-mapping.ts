import { stringifyBare } from "../bare-value.ts";
import { compileOutput } from "../compile-output.ts";
import { useWith } from "../entry-use.ts";
import { originOf, type KindMapping } from "../mapping.ts";
import { toResourceEntry } from "../resource-entries.ts";

/** A cell is one resource: its value as JSON. */
export const cellMapping: KindMapping<"cell"> = {
  asResource(exposed) {
    const { key, channel, member } = exposed;
    const schema = compileOutput(member.schema, originOf(exposed));
    return {
      resource: toResourceEntry(exposed, async (call) =>
        stringifyBare(schema, await channel.get(key, useWith(call, {}))),
      ),
    };
  },
};
