import type { Catalog } from "../catalog/catalog.ts";
import { createListedItems, type ListedItems } from "../catalog/listed-items.ts";
import type { LiveCatalog } from "../catalog/live-catalog.ts";
import type { ResourceWatches } from "../catalog/resource-watches.ts";
import { createFaces } from "../mcp/create-faces.ts";
import { FaceLists } from "../mcp/face-lists.ts";
import type { Faces } from "../mcp/faces.ts";
import { LargeValues } from "../mcp/large-values.ts";
import type { Views } from "../views/decision.ts";
import { viewWarnings } from "../views/view-warnings.ts";
import { createDress } from "./create-dress.ts";
import { createWhole, type Finding, type Whole, type WholeParts } from "./create-whole.ts";
import { assertReach, reachWarnings } from "./reach-warnings.ts";
import { ReadableUris } from "./readable-uris.ts";

const defaultPageSize = 1000;

/** What exists for agents, what of it they are shown, and how what can be read is found and watched. */
export interface Offer {
  readonly live: LiveCatalog;
  readonly faces: Faces;
  readonly lists: FaceLists;
  readonly uris: ReadableUris;
  readonly large: LargeValues;
  readonly watches: ResourceWatches;
  readonly items: ListedItems | undefined;
  readonly pageSize: number;
  readonly views: Views;
  /** Sentences for the author about what there is; and about the rules that are in force now. */
  readonly warnings: readonly string[];
  readonly viewWarnings: () => readonly string[];
}

type Shown = Pick<Offer, "faces" | "lists" | "uris" | "large" | "pageSize">;

/** What is shown of everything, and how it is found. */
function createShown({ definition, scope }: WholeParts, whole: Whole, find: Finding): Shown {
  const { options, pull } = definition;
  const { live, views, watches, windowMs } = whole;
  const { pageSize = defaultPageSize, instructions } = options;
  const lists = new FaceLists(pageSize);
  const dress = pull ? createDress(find.readable) : (catalog: Catalog): Catalog => catalog;
  const faces = createFaces({ live, views, instructions, dress, lists, windowMs });
  scope.add(() => faces.close());
  const large = new LargeValues({ uriPrefix: live.current.uriPrefix, ...options });
  scope.add(() => large.close());
  return { faces, lists, uris: new ReadableUris({ faces, watches, large }), large, pageSize };
}

/** Makes what an app offers to agents. What has to be closed is added to the scope. @throws SurfaceError with a boot code. */
export function createOffer(parts: WholeParts): Offer {
  // Made of the catalog with the tools that look there.
  const later: { uris?: ReadableUris; faces?: Faces } = {};
  const find: Finding = {
    open: (uri, caller) => later.uris?.findOpen(uri, caller),
    readable: (uri, caller) => later.uris?.findReadableOpen(uri, caller),
    onShown: (told) => later.faces?.subscribe(told) ?? (() => {}),
  };
  const whole = createWhole(parts, find);
  const { written, live, views, watches, windowMs } = whole;
  const items = createListedItems({ catalog: written, watches, windowMs });
  parts.scope.add(() => items?.close());
  const shown = createShown(parts, whole, find);
  later.uris = shown.uris;
  later.faces = shown.faces;
  const mounted = [...parts.definition.mounts.keys()];
  assertReach(parts.definition.tools, live.current, mounted);
  return {
    ...{ ...shown, live, views, watches, items },
    warnings: [...live.current.warnings, ...reachWarnings(live.current, mounted)],
    viewWarnings: () => viewWarnings(views, live.current, mounted),
  };
}
