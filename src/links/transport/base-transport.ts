import type { MessageWriter } from "vscode-jsonrpc/node";
import { systemClock } from "../../surface/system-clock.ts";
import type { WireTransport } from "../wire/transport.ts";
import type { BacklogReader } from "./backlog-reader.ts";

/** How long the far side may take to say goodbye in turn. */
const closingMs = 1000;

/** A writer that can be full. Its `end()` sends what is written. */
export interface BoundedWriter extends MessageWriter {
  /** Whether it holds more than the far side has taken. */
  readonly isFull: boolean;
}

/** What transports have in common, whatever carries them: pausing, telling that it drained, and a goodbye that ends. */
export abstract class BaseTransport implements WireTransport {
  abstract readonly reader: BacklogReader;
  abstract readonly writer: BoundedWriter;
  abstract readonly received: number;
  abstract readonly backlog: number;
  readonly #drained: (() => void)[] = [];
  #isClosing = false;

  get size(): number {
    return this.reader.size;
  }

  get isFull(): boolean {
    return this.writer.isFull;
  }

  onDrain(fn: () => void): void {
    this.#drained.push(fn);
  }

  pause(): void {
    this.reader.pause();
  }

  resume(): void {
    this.reader.resume();
  }

  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    // Read on, into nothing: the far side's end would not be seen otherwise.
    this.reader.drop();
    this.writer.end();
    this.onceClosed(systemClock.after(closingMs, () => this.destroy()));
  }

  /** To be called each time that it is no longer full. */
  protected drained(): void {
    for (const tell of this.#drained) tell();
  }

  abstract destroy(): void;

  /** Calls `fn` when what carries it is gone. */
  protected abstract onceClosed(fn: () => void): void;
}
