import type { LiveCatalog } from "../catalog/mounts/live-catalog.ts";
import type { LinkChange } from "../links/dial-link.ts";
import type { Observers } from "../observe/observers.ts";

/** The number of ids in one record of a change. */
const maxIds = 100;

/** Records a change of the connection to the live surface. */
export function observeLink(observers: Observers, surface: string, change: LinkChange | "unreachable"): void {
  if (observers.all === undefined) return;
  const at = Date.now();
  if (change === "up") observers.tell({ type: "link-up", at, surface });
  else observers.tell({ type: "link-down", at, surface, reason: change });
}

/** Records changes of mounted tools, once for all of one turn of the event loop. Returns a function that stops it. */
export function observeMounts(observers: Observers, live: LiveCatalog): () => void {
  /** The tools as of the last record; `undefined` if changes were not observed since. */
  let before: ReadonlySet<string> | undefined;
  let isDue = false;
  const idsNow = (): ReadonlySet<string> => new Set(live.current.tools.map(({ id }) => id));
  const tell = (): void => {
    isDue = false;
    const known = before;
    const now = idsNow();
    before = now;
    if (known === undefined) return;
    const added = [...now].filter((id) => !known.has(id));
    const removed = [...known].filter((id) => !now.has(id));
    if (added.length + removed.length === 0) return;
    const ids = { added: Object.freeze(added.slice(0, maxIds)), removed: Object.freeze(removed.slice(0, maxIds)) };
    observers.tell({ type: "mount-change", at: Date.now(), ...ids, tools: now.size });
  };
  if (observers.all !== undefined) before = idsNow();
  return live.subscribe(() => {
    if (observers.all === undefined) before = undefined;
    else if (!isDue) {
      isDue = true;
      queueMicrotask(tell);
    }
  });
}
