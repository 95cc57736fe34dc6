import type { Kind } from "../surface/member.ts";
import { cellMapping } from "./kinds/cell-mapping.ts";
import { collectionMapping } from "./kinds/collection-mapping.ts";
import { eventMapping } from "./kinds/event-mapping.ts";
import { procedureMapping } from "./kinds/procedure-mapping.ts";
import { streamMapping } from "./kinds/stream-mapping.ts";
import type { KindMapping } from "./mapping.ts";

/** How each kind of member becomes entries. The compiler refuses a kind without an arm. */
export const kindMappings: { readonly [TKind in Kind]: KindMapping<TKind> } = {
  cell: cellMapping,
  collection: collectionMapping,
  stream: streamMapping,
  event: eventMapping,
  procedure: procedureMapping,
};
