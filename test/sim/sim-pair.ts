import type { Subscription } from "../../src/spine/subscriptions.ts";
import { SimBucket } from "./sim-bucket.ts";
import type { SimKey } from "./sim-key.ts";
import type { SimRequest } from "./sim-request.ts";

/** One subscription of one client to one key. It reads when it has subscribed, and again whenever it is told to. */
export class SimPair {
  readonly id: number;
  readonly key: SimKey;
  subscription: Subscription | undefined;
  isEnded = false;
  notices = 0;
  lastNotice = Number.NEGATIVE_INFINITY;
  /** At least as many tokens as its watch has. */
  readonly bucket = new SimBucket();
  /** The version of the watch when it was last told, or when it joined. */
  seen = 0;
  /** Since when it has had something coming. */
  dirtySince: number | undefined;
  /** The version of the value that its client holds; 0 where its last reading failed. */
  knows = 0;
  reading: SimRequest | undefined;

  constructor(id: number, key: SimKey) {
    this.id = id;
    this.key = key;
  }
}
