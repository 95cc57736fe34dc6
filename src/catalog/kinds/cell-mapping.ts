import { renderCarried, stringifyBare } from "../resource-value.ts";
import { compileOutput } from "../compile-output.ts";
import { originOf, type KindMapping } from "../mapping.ts";
import { toResourceEntry } from "../resource-entries.ts";

/** A cell is one resource: its value as JSON. */
export const cellMapping: KindMapping<"cell"> = {
  asResource(exposed) {
    const { key, member } = exposed;
    const schema = compileOutput(member.schema, originOf(exposed));
    return {
      resource: toResourceEntry<unknown>(exposed, {
        fetch: (channel, use) => channel.request({ verb: "get", member: key, argument: undefined, options: use }),
        follow: (channel, use) => channel.subscribe({ verb: "watch", member: key, argument: undefined, options: use }),
        render: (carried) => renderCarried(carried, (value) => stringifyBare(schema, value)),
      }),
    };
  },
};
