import type { StandardSchemaV1 } from "@standard-schema/spec";
import { getEventListeners } from "node:events";
import { expect } from "vitest";
import type { SurfaceErrorCode } from "../../src/errors.ts";
import type { Schema } from "../../src/schema/standard.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { SurfaceClient } from "../../src/surface/client.ts";
import type { Surface } from "../../src/surface/define-surface.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { implementSurface, type LiveSurface } from "../../src/surface/implement-surface.ts";
import type { Implementation } from "../../src/surface/implementation.ts";
import type { Spec } from "../../src/surface/member.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import type { Source } from "../../src/surface/source.ts";

/** Lets all due promises and immediates run. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits until a condition holds. The deadline only bounds a hang. */
export async function until(holds: () => boolean, what = "the condition"): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Waiting for ${what}: it did not come`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export interface Opened<TSpec> {
  readonly live: LiveSurface<TSpec>;
  readonly client: SurfaceClient<TSpec>;
  readonly faults: Fault[];
}

/** Opens a live surface with a client over the in-process link, and collects masked errors. */
export async function openLive<TSpec extends Spec>(
  surface: Surface<TSpec>,
  handlers: Implementation<TSpec>,
): Promise<Opened<TSpec>> {
  const faults: Fault[] = [];
  const live = implementSurface(surface, handlers, { onFault: (fault) => void faults.push(fault) });
  // Otherwise a handler that failed would be started again in a later test. Not waited for: some handlers never end.
  atEndOfTest(() => void live.close().catch(() => {}));
  const { client } = await inProcess(live).connect(surface);
  return { live, client, faults };
}

/** Matches an error by its code, and by a part of its message. */
export function failure(code: SurfaceErrorCode, text = ""): unknown {
  return expect.objectContaining({ code, message: expect.stringContaining(text) });
}

/** Throws an error that no caller may see. */
export function explode(): never {
  throw new Error("secret");
}

/** A schema that validates by a function, for what zod does not do. */
export function schemaOf(validate: (value: unknown) => unknown): Schema {
  return {
    "~standard": { version: 1, vendor: "test", validate: validate as StandardSchemaV1["~standard"]["validate"] },
  };
}

/** Takes a number of values, then leaves. */
export async function take<TValue>(values: AsyncIterable<TValue>, count: number): Promise<TValue[]> {
  const taken: TValue[] = [];
  for await (const value of values) {
    taken.push(value);
    if (taken.length === count) break;
  }
  return taken;
}

/** Collects unhandled rejections until `end()`. */
export function noteRejections(): { end(): readonly unknown[] } {
  const seen: unknown[] = [];
  const note = (cause: unknown): void => void seen.push(cause);
  process.on("unhandledRejection", note);
  return {
    end() {
      process.off("unhandledRejection", note);
      return seen;
    },
  };
}

/** Returns the number of listeners of a signal. */
export function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}

/** A source that counts its subscribers and can be told how to behave. */
export class WatchedSource<TValue> implements Source<TValue> {
  subscribed = 0;
  unsubscribed = 0;
  onSubscribe: ((fn: (value: TValue) => void) => void) | undefined;
  onGet: (() => void) | undefined;
  readonly #listeners = new Set<(value: TValue) => void>();
  #value: TValue;

  constructor(value: TValue) {
    this.#value = value;
  }

  get active(): number {
    return this.#listeners.size;
  }

  get(): TValue {
    this.onGet?.();
    return this.#value;
  }

  set(value: TValue): void {
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  subscribe(fn: (value: TValue) => void): () => void {
    this.subscribed += 1;
    const listener = (value: TValue): void => fn(value);
    this.#listeners.add(listener);
    try {
      this.onSubscribe?.(fn);
    } catch (cause) {
      this.#listeners.delete(listener);
      throw cause;
    }
    return () => {
      this.unsubscribed += 1;
      this.#listeners.delete(listener);
    };
  }
}
