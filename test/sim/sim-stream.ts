import type { WatchEvents } from "../../src/spine/subscriptions.ts";
import type { SimKey, SimValue } from "./sim-key.ts";
import type { SimLink } from "./sim-link.ts";

/** One stream that was opened. Its snapshot is of the moment at which it was. */
export class SimStream {
  readonly key: SimKey;
  readonly link: SimLink;
  readonly events: WatchEvents<SimValue>;
  readonly snapshot: number;
  /** The version told last; 0 before the snapshot. */
  sent = 0;
  isStopped = false;
  /** Its opener has not been handed yet what stops it. */
  isOpening = true;
  /** It has ended or failed. */
  isOver = false;

  constructor(key: SimKey, link: SimLink, events: WatchEvents<SimValue>) {
    this.key = key;
    this.link = link;
    this.events = events;
    this.snapshot = key.version;
  }
}
