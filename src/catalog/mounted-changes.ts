import { SurfaceError } from "../errors.ts";
import { onRejection, runUnawaited } from "../surface/fault.ts";
import type { MountSource } from "./mount.ts";

/** What says when there may be something else under a path of a source. */
export interface ChangesOf {
  readonly source: MountSource;
  readonly path: string;
  /** Told what its `watch()` comes to that nobody waits for. Must not throw. */
  readonly fail: (cause: unknown) => void;
}

const item: IteratorResult<undefined> = Object.freeze({ done: false, value: undefined });
const end: IteratorResult<undefined> = Object.freeze({ done: true, value: undefined });

/** An item for each time that a source has said so since the one before: many at once are one. */
class Changes implements AsyncIterableIterator<undefined> {
  readonly #of: ChangesOf;
  readonly #stop: () => unknown;
  #isTold = false;
  #isOver = false;
  #waiting: ((result: IteratorResult<undefined>) => void) | undefined;

  /** @throws what `watch()` throws, SurfaceError `INVALID_OPTION` where it does not return a function. */
  constructor(of: ChangesOf) {
    this.#of = of;
    const stop: unknown = of.source.watch?.(of.path, () => this.#tell());
    if (typeof stop !== "function") {
      this.#isOver = true;
      onRejection(stop, of.fail);
      throw new SurfaceError("INVALID_OPTION", `Watching "${of.path}": its source's watch() must return a function`);
    }
    this.#stop = () => Reflect.apply(stop, undefined, []);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<undefined>> {
    if (this.#isOver) return Promise.resolve(end);
    if (this.#isTold) {
      this.#isTold = false;
      return Promise.resolve(item);
    }
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<undefined>> {
    if (!this.#isOver) {
      this.#isOver = true;
      runUnawaited(this.#stop, this.#of.fail);
      this.#waiting?.(end);
    }
    return Promise.resolve(end);
  }

  #tell(): void {
    if (this.#isOver) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#isTold = true;
    else waiting(item);
  }
}

/**
 * Listens to what a source says of a path; `undefined` where it says nothing of any. Ended by `return()`, whose caller waits for
 * nothing.
 *
 * @throws what `watch()` throws, SurfaceError `INVALID_OPTION` where it does not return a function.
 */
export function openChanges(of: ChangesOf): AsyncIterable<unknown> | undefined {
  return of.source.watch === undefined ? undefined : new Changes(of);
}
