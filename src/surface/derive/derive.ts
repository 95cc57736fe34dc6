import { deriveCell } from "./derive-cell.ts";
import { deriveCollection } from "./derive-collection.ts";
import { deriveEvent } from "./derive-event.ts";
import { deriveProcedure } from "./derive-procedure.ts";
import { deriveStream } from "./derive-stream.ts";

/** Functions that make the sources and handlers of a projection from members of another surface: one for each kind. */
export const derive: {
  readonly cell: typeof deriveCell;
  readonly collection: typeof deriveCollection;
  readonly event: typeof deriveEvent;
  readonly procedure: typeof deriveProcedure;
  readonly stream: typeof deriveStream;
} = /* @__PURE__ */ Object.freeze({
  cell: deriveCell,
  collection: deriveCollection,
  event: deriveEvent,
  procedure: deriveProcedure,
  stream: deriveStream,
});
