import { describe, expect, it } from "vitest";
import { collectFrames, type Pullable } from "../../../src/catalog/kinds/stream-mapping.ts";
import { SurfaceError } from "../../../src/errors.ts";

const longMs = 30_000;

interface Probe {
  readonly stream: Pullable;
  /** Settles when the stream's own cleaning up has run. */
  readonly over: Promise<void>;
  /** The signal that the stream was opened with. */
  readonly given: () => AbortSignal | undefined;
}

/** A plain async generator: `return()` is held up for as long as it waits for its next frame. */
function probe(frames: readonly unknown[], signal: AbortSignal = new AbortController().signal): Probe {
  let given: AbortSignal | undefined;
  let end: () => void = () => {};
  const over = new Promise<void>((resolve) => (end = resolve));
  async function* run(stop: AbortSignal): AsyncGenerator {
    try {
      yield* frames;
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
    } finally {
      end();
    }
  }
  const open = (stop: AbortSignal): AsyncIterable<unknown> => {
    given = stop;
    return run(stop);
  };
  return { stream: { open, signal }, over, given: () => given };
}

describe("collectFrames()", () => {
  it("collectFrames() ends a quiet stream by its signal when time is up", async () => {
    const { stream, over, given } = probe([1, 2]);
    expect(await collectFrames(stream, { maxItems: 5, waitMs: 100 })).toEqual({ items: [1, 2], ended: false });
    await over;
    expect(given()?.aborted).toBe(true);
  });

  it("collectFrames() stops at once when it has enough", async () => {
    const { stream, over } = probe([1, 2, 3]);
    expect(await collectFrames(stream, { maxItems: 2, waitMs: longMs })).toEqual({ items: [1, 2], ended: false });
    await over;
  });

  it("collectFrames() ends the stream when the caller's signal fires", async () => {
    const caller = new AbortController();
    const { stream, over } = probe([1], caller.signal);
    const pulled = collectFrames(stream, { maxItems: 5, waitMs: longMs });
    setImmediate(() => caller.abort());
    expect(await pulled).toEqual({ items: [1], ended: true });
    await over;
  });

  it("collectFrames() passes a fault of the stream on and leaves no timer", async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const fault = new SurfaceError("INTERNAL", "broken");
    const failing = {
      signal: new AbortController().signal,
      open: async function* (): AsyncGenerator {
        yield 1;
        throw fault;
      },
    };
    await expect(collectFrames(failing, { maxItems: 5, waitMs: longMs })).rejects.toBe(fault);
    const refusing: Pullable = {
      ...failing,
      open: () => {
        throw fault;
      },
    };
    await expect(collectFrames(refusing, { maxItems: 5, waitMs: longMs })).rejects.toBe(fault);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBe(before);
  });

  it("collectFrames() does not wait for a stream that cleans up for ever, nor for one that fails at it", async () => {
    const signal = new AbortController().signal;
    const next = (): Promise<IteratorResult<unknown>> => Promise.resolve({ done: false, value: 1 });
    const broken = new SurfaceError("INTERNAL", "broken");
    const throwing = (): never => {
      throw broken;
    };
    const endings = [() => new Promise<never>(() => {}), () => Promise.reject(broken), throwing];
    for (const end of endings) {
      const open = (): AsyncIterable<unknown> => ({ [Symbol.asyncIterator]: () => ({ next, return: end }) });
      expect(await collectFrames({ open, signal }, { maxItems: 1, waitMs: longMs })).toEqual({
        items: [1],
        ended: false,
      });
    }
  });

  it("collectFrames() leaves no listener on the caller's signal", async () => {
    const added: string[] = [];
    const signal = new AbortController().signal;
    const count = (name: "addEventListener" | "removeEventListener", by: string): void => {
      const real = signal[name].bind(signal) as (...args: readonly unknown[]) => void;
      Object.defineProperty(signal, name, { value: (...args: readonly unknown[]) => [added.push(by), real(...args)] });
    };
    count("addEventListener", "+");
    count("removeEventListener", "-");
    await collectFrames(probe([1], signal).stream, { maxItems: 1, waitMs: longMs });
    expect(added.filter((by) => by === "+").length).toBe(added.filter((by) => by === "-").length);
  });
});
