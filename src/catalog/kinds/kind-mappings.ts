import { stringifyBare, toMemberView, toResourceEntry } from "./resource-entries.ts";
import { compileOutput } from "../tool-schemas.ts";
import { originOf, type KindMapping } from "./mapping.ts";
import type { Kind } from "../../surface/member.ts";
import { collectionMapping } from "./collection-mapping.ts";
import { eventMapping } from "./event-mapping.ts";
import { procedureMapping } from "./procedure-mapping.ts";
import { streamMapping } from "./stream-mapping.ts";

/** A cell is a resource: its value as JSON. */
const cellMapping: KindMapping<"cell"> = {
  asResource(exposed) {
    const { key: member } = exposed;
    const schema = compileOutput(exposed.member.schema, originOf(exposed));
    const render = (value: unknown): string => stringifyBare(schema, value);
    return { resource: toResourceEntry(exposed, toMemberView({ member, read: "get", watch: "watch" }, render)) };
  },
};

/** The mapping of each kind of member to entries. */
export const kindMappings: { readonly [TKind in Kind]: KindMapping<TKind> } = {
  cell: cellMapping,
  collection: collectionMapping,
  stream: streamMapping,
  event: eventMapping,
  procedure: procedureMapping,
};
