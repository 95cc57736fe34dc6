/** What the driver tells the process that owns the value, over the channel that Node opens between them. */
export type Order =
  /** Writes the next value, and notes when. */
  | { readonly kind: "change" }
  /** Asks for a {@link Report} of the changes since the last one. */
  | { readonly kind: "report" }
  /** Writes many values, the last in the middle of a window, and reports the first and the last. */
  | ({ readonly kind: "burst" } & Burst)
  /** Asks for a {@link Memory}, once all garbage is gone. */
  | { readonly kind: "memory" }
  /** Asks for a {@link Place}. */
  | { readonly kind: "place" };

/** A burst of writes: in one turn, or spread over several a few milliseconds apart. */
export interface Burst {
  readonly writes: number;
  readonly turns: number;
  readonly windowMs: number;
}

/** What the owner of the value answers. */
export interface Report {
  /** When it wrote, just before it did, by {@link monotonicMs}. */
  readonly times: readonly number[];
  /** What it wrote last. */
  readonly value: number;
}

/** What a process holds, in bytes. */
export interface Memory {
  /** What the operating system has given it. */
  readonly rss: number;
  /** What lives in its heap, and outside of it in buffers. */
  readonly heapUsed: number;
  readonly external: number;
}

/** Where a process serves. */
export interface Place {
  readonly port: number;
  /** A link to the live page. Absent without one. */
  readonly page?: string | undefined;
}

/** A clock that all processes of a machine share, in milliseconds. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
