import { SimBucket } from "./sim-bucket.ts";
import type { SimLink } from "./sim-link.ts";
import type { SimPair } from "./sim-pair.ts";
import type { SimStream } from "./sim-stream.ts";

/** The value of a key, as the far side tells it. */
export interface SimValue {
  readonly principal: number;
  readonly key: string;
  readonly version: number;
}

/** One principal's view of one URI, and what both sides know of it. */
export class SimKey {
  readonly name: string;
  readonly principal: number;
  readonly windowMs: number;
  /** Whether the gate lets nobody through to it. */
  readonly isDenied: boolean;
  /** What the far side holds. */
  version = 1;
  /** The stream that is open for it. */
  open: SimStream | undefined;
  /** The last that was opened for those who watch it. A stream that is still opening when they leave speaks for nobody. */
  newest: SimStream | undefined;
  /** The link on which its stream has ended, or failed for good: no other may be opened there. */
  overOn: SimLink | undefined;
  /** Whether it has ended rather than failed. */
  isFinished = false;
  /** Those who watch it. */
  readonly pairs: SimPair[] = [];
  lastNotice = Number.NEGATIVE_INFINITY;
  /** At most as many tokens as its watch has: a notification to two pairs counts twice. */
  readonly bucket = new SimBucket();
  /** How often any of them was told. */
  notices = 0;
  /** The id of the first of them; every later one is greater. */
  watchedFrom = Number.POSITIVE_INFINITY;
  /** When the first of them came. */
  watchedSince = 0;
  /** The link whose snapshot is no news to them. */
  firstLink = 0;
  /** How many streams were opened since. */
  streams = 0;

  constructor(name: string, traits: { principal: number; windowMs: number; isDenied: boolean }) {
    this.name = name;
    this.principal = traits.principal;
    this.windowMs = traits.windowMs;
    this.isDenied = traits.isDenied;
  }

  /** The value as of a version. */
  valueOf(version: number): SimValue {
    return { principal: this.principal, key: this.name, version };
  }
}
