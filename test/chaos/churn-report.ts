/** What coming and going has left. */
export interface ChurnReport {
  /** In bytes, from after a warm-up to the end, each time after a collection. */
  readonly heapGrowth: number;
  /** Listeners of the live source: in the end, at most, and how many there were over all. */
  readonly active: number;
  readonly most: number;
  readonly subscribed: number;
  /** Timers that were armed: after a warm-up, at the end of everything that came and went, and after everything was closed. */
  readonly timers: { readonly before: number; readonly after: number; readonly left: number };
  /** Timers, sockets and the like of the process: before anything was opened, and after everything was closed. */
  readonly resources: { readonly before: ResourceCounts; readonly left: ResourceCounts };
}

/** How many there are, by name. */
type ResourceCounts = Readonly<Record<string, number>>;
