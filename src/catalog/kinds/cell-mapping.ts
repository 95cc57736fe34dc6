import { compileOutput } from "../compile-output.ts";
import { stringifyBare } from "../bare-value.ts";
import { useWith } from "../entry-use.ts";
import type { EntryCall } from "../entry.ts";
import { originOf, wordsOf, type KindMapping } from "../mapping.ts";

/** A cell is one resource: its value as JSON. */
export const cellMapping: KindMapping<"cell"> = {
  asResource(exposed) {
    const { key, uri, channel, member } = exposed;
    const schema = compileOutput(member.schema, originOf(exposed));
    return {
      resource: {
        id: key,
        origin: originOf(exposed),
        uri,
        ...wordsOf(exposed),
        async read(call: EntryCall) {
          const value = await channel.get(key, useWith(call, {}));
          return stringifyBare(schema, value);
        },
      },
    };
  },
};
