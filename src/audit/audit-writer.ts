import { SurfaceError } from "../errors.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { systemClock } from "../surface/system-clock.ts";
import { chainBytes, type Chain } from "./chain.ts";

/** The most bytes of one write. */
const batchBytes = 1024 * 1024;

/** Milliseconds between a failed write and the next one. */
const retryMs = 1000;

const nothing = Buffer.alloc(0);

/** Takes the lines of an audit log. */
export interface AuditTarget {
  /** The target in error messages. */
  readonly name: string;
  readonly chain: Chain;
  /**
   * Prepares for a batch of at most `bytes`. Returns bytes to write before the batch, which continue the chain.
   * Rejects if the target cannot be written.
   */
  prepare(bytes: number): Promise<Buffer>;
  /** Resolves with the number of bytes that were written, which may be fewer than given. */
  write(bytes: Buffer): Promise<number>;
  /**
   * Writes at the end of the process, after the bytes of a write under way. Throws if that takes too long.
   *
   * @param rest - the part of a batch whose write failed.
   * @param records - those that were not linked yet.
   */
  writeAtExit(rest: Buffer, records: readonly string[]): void;
  close(): void;
}

/** Options of {@link AuditWriter}. */
interface AuditWriterDeps {
  readonly target: AuditTarget;
  /** Most bytes of records that wait. */
  readonly maxQueueBytes: number;
  readonly report: FaultReporter;
}

/** A caller of `flush()`. */
interface Waiter {
  /** The number of records that must be written. */
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

function bytesOf(record: string): number {
  return Buffer.byteLength(record) + chainBytes;
}

/** Writes records in batches, one write at a time. Holds a bounded number of bytes, and counts the records that do not fit. */
export class AuditWriter {
  readonly #deps: AuditWriterDeps;
  #queue: string[] = [];
  /** Bytes of the queue. */
  #bytes = 0;
  #lost = 0;
  /** Numbers of records since the start. */
  #added = 0;
  #written = 0;
  /** The part of a batch that is not written yet. */
  #rest: Buffer = nothing;
  #isWriting = false;
  #isDraining = false;
  #isClosed = false;
  /** Whether the last attempt to write failed. */
  #hasFailed = false;
  #stopRetry: (() => void) | undefined;
  #waiters: Waiter[] = [];

  constructor(deps: AuditWriterDeps) {
    this.#deps = deps;
    process.on("exit", this.#onExit);
    void this.#drain();
  }

  /** Whether records can be added and written. */
  get isReady(): boolean {
    return !this.#isClosed && !this.#hasFailed && this.#bytes < this.#deps.maxQueueBytes;
  }

  /** Adds a record, and returns whether it fits. Counts it if not. @param isExempt - adds it in any case. */
  add(record: string, isExempt = false): boolean {
    if (this.#isClosed) return false;
    const bytes = bytesOf(record);
    const fits = isExempt || this.#bytes + bytes <= this.#deps.maxQueueBytes;
    if (fits) {
      this.#addLost();
      this.#push(record, bytes);
    } else this.#lost += 1;
    if (!this.#hasFailed) void this.#drain();
    return fits;
  }

  /** Resolves when the records so far are written. Rejects if the target cannot be written. */
  flush(): Promise<void> {
    if (this.#written === this.#added) return Promise.resolve();
    if (this.#hasFailed && !this.#isDraining) return Promise.reject(this.#unavailable());
    return new Promise((resolve, reject) => void this.#waiters.push({ count: this.#added, resolve, reject }));
  }

  /** Writes the remaining records, then closes the target. Rejects if the target cannot be written. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return this.flush();
    this.#addLast();
    this.#stopRetry?.();
    void this.#drain();
    try {
      await this.flush();
    } finally {
      process.off("exit", this.#onExit);
      this.#deps.target.close();
    }
  }

  #push(record: string, bytes = bytesOf(record)): void {
    this.#queue.push(record);
    this.#bytes += bytes;
    this.#added += 1;
  }

  #pushOwn(type: string, fields?: object): void {
    this.#push(JSON.stringify({ type, at: new Date().toISOString(), ...fields }));
  }

  #addLost(): void {
    if (this.#lost > 0) this.#pushOwn("lost", { count: this.#lost });
    this.#lost = 0;
  }

  #addLast(): void {
    this.#addLost();
    this.#pushOwn("closed");
    this.#isClosed = true;
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      do await this.#writeBatch();
      while (this.#queue.length > 0 || this.#lost > 0);
      this.#hasFailed = false;
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#isDraining = false;
    }
  }

  async #writeBatch(): Promise<void> {
    const { target } = this.#deps;
    if (this.#rest.length === 0) {
      if (this.#queue.length === 0) this.#addLost();
      const [count, bytes] = this.#measureBatch();
      const before = await target.prepare(bytes);
      this.#bytes -= bytes;
      this.#rest = Buffer.concat([before, target.chain.link(this.#queue.splice(0, count))]);
    }
    while (this.#rest.length > 0) await this.#writeRest(target);
    this.#written = this.#added - this.#queue.length;
    for (const waiter of this.#waiters) if (waiter.count <= this.#written) waiter.resolve();
    this.#waiters = this.#waiters.filter(({ count }) => count > this.#written);
  }

  async #writeRest(target: AuditTarget): Promise<void> {
    this.#isWriting = true;
    try {
      const written = await target.write(this.#rest);
      this.#rest = this.#rest.subarray(written);
    } finally {
      this.#isWriting = false;
    }
  }

  /** Returns the number of records of the next batch, and their bytes. */
  #measureBatch(): readonly [count: number, bytes: number] {
    let [count, bytes] = [0, 0];
    for (const record of this.#queue) {
      const more = bytesOf(record);
      if (bytes + more > batchBytes && count > 0) break;
      count += 1;
      bytes += more;
    }
    return [count, bytes];
  }

  /** Reports the first of several failures in a row, and tries again later. */
  #fail(cause: unknown): void {
    const { target, report } = this.#deps;
    if (!this.#hasFailed) internalError(cause, target.name, report);
    this.#hasFailed = true;
    for (const { reject } of this.#waiters.splice(0)) reject(this.#unavailable());
    if (!this.#isClosed) this.#stopRetry = systemClock.after(retryMs, () => void this.#drain());
  }

  #unavailable(): SurfaceError {
    const problem = "it cannot be written; see the log of faults";
    return new SurfaceError("UNAVAILABLE", `Cannot record in ${this.#deps.target.name}: ${problem}`);
  }

  /** Writes the rest when the process exits, which waits for no promise. */
  readonly #onExit = (): void => {
    const { target, report } = this.#deps;
    if (!this.#isClosed) this.#addLast();
    try {
      target.writeAtExit(this.#isWriting ? nothing : this.#rest, this.#queue);
    } catch (cause) {
      internalError(cause, target.name, report);
    }
  };
}
