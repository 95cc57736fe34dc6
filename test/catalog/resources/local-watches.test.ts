import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import type { BespokeResource } from "../../../src/catalog/custom/bespoke-resource.ts";
import type { Link } from "../../../src/links/link.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { changes } from "./told-changes.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";
import { anonymous } from "../../../src/surface/caller.ts";

const surface = defineSurface("local", {});
/** Nobody must need it: what the face itself has is watched without a connection. */
const connected = vi.fn<() => Promise<never>>(() => Promise.reject(new TypeError("nobody should connect")));
const link: Link = { connect: () => connected() };
const uri = "surface://local/probe";

const opened: AppRuntime[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const runtime of opened.splice(0)) await runtime.close();
});

function serve(probe: BespokeResource<undefined, Record<never, never>>, faults: Fault[] = []): AppRuntime {
  const runtime = mcp(surface, { changeWindowMs: 0, onFault: (fault) => faults.push(fault) })
    .bridge(link)
    .resources({ probe: { windowMs: 0, ...probe } })
    .open();
  opened.push(runtime);
  return runtime;
}

async function read(runtime: AppRuntime): Promise<unknown> {
  const handle = handlersOf(runtime)["resources/read"];
  const answer = await handle({ uri }, { era: "modern", call: new CallContext() });
  if (answer.kind === "error") return answer.message;
  return JSON.parse(`{${answer.body}}`).contents[0].text;
}

async function openedWatch(runtime: AppRuntime, changed: () => void): Promise<() => void> {
  return new Promise((resolve) => {
    const end = runtime.resources.watch(anonymous, uri, {
      changed,
      opened: () => queueMicrotask(() => resolve(end ?? (() => {}))),
    });
  });
}

describe("watching what the face itself has", () => {
  it("a watcher is told of changes, and of none for the value it begins with, and nobody connects", async () => {
    const said = changes();
    let value = 0;
    const runtime = serve({ read: () => value, watch: () => said.run() });
    const changed = vi.fn<() => void>();
    const end = await openedWatch(runtime, changed);
    expect(changed).not.toHaveBeenCalled();
    value = 1;
    said.tell();
    await expect.poll(() => changed).toHaveBeenCalledTimes(1);
    expect(await read(runtime)).toBe("1");
    end();
    await expect.poll(() => said.open).toBe(0);
    expect(connected).not.toHaveBeenCalled();
  });

  it("each read asks while it is watched, also where its watch does not tell of a change", async () => {
    const said = changes();
    let value = 0;
    const runtime = serve({ read: () => value, watch: () => said.run() });
    await openedWatch(runtime, () => {});
    value = 7;
    expect(await read(runtime)).toBe("7");
    value = 8;
    expect(await read(runtime)).toBe("8");
  });

  it("two watchers share one iteration, which ends with the last of them", async () => {
    const said = changes();
    const runtime = serve({ read: () => 1, watch: () => said.run() });
    const first = await openedWatch(runtime, () => {});
    const second = await openedWatch(runtime, () => {});
    expect(said.open).toBe(1);
    first();
    first();
    expect(said.open).toBe(1);
    second();
    await expect.poll(() => said.open).toBe(0);
  });

  it("a change between the start of the watch and the first read is not missed", async () => {
    const said = changes();
    let value = "old";
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const reader = async (): Promise<string> => {
      const seen = value;
      await held;
      return seen;
    };
    const runtime = serve({ read: reader, watch: () => said.run() });
    const changed = vi.fn<() => void>();
    const watching = openedWatch(runtime, changed);
    await expect.poll(() => said.open).toBe(1);
    value = "new";
    said.tell();
    release();
    await watching;
    await expect.poll(() => changed).toHaveBeenCalled();
    expect(await read(runtime)).toBe('"new"');
  });

  it("a resource without watch takes a subscription and tells nothing, and every read is fresh", async () => {
    let value = 0;
    const runtime = serve({ read: () => (value += 1) });
    const changed = vi.fn<() => void>();
    await openedWatch(runtime, changed);
    expect([await read(runtime), await read(runtime)]).toEqual([String(value - 1), String(value)]);
    expect(changed).not.toHaveBeenCalled();
  });

  it("something that comes to be there is a change", async () => {
    const said = changes();
    const held: { value?: string } = {};
    const runtime = serve({ read: () => held.value, watch: () => said.run() });
    const changed = vi.fn<() => void>();
    await openedWatch(runtime, changed);
    held.value = "here";
    said.tell();
    await expect.poll(() => changed).toHaveBeenCalledTimes(1);
    expect(await read(runtime)).toBe('"here"');
  });

  it("a watch that fails is opened again, told once to the log, and reads go on", async () => {
    const faults: Fault[] = [];
    let opens = 0;
    const failing = async function* (): AsyncGenerator {
      opens += 1;
      yield 1;
      throw new TypeError("secret");
    };
    const reader = vi.fn<() => Promise<number>>(() => Promise.reject(new TypeError("also secret")));
    const runtime = serve({ read: reader, watch: failing }, faults);
    const told = vi.fn<(isThere: boolean) => void>();
    runtime.resources.watch(anonymous, uri, { changed: () => {}, opened: told });
    await vi.waitFor(() => expect(reader.mock.calls.length).toBeGreaterThan(2), { timeout: 5000 });
    expect(opens).toBeGreaterThan(2);
    expect(told).toHaveBeenCalledWith(true);
    expect(faults).toHaveLength(1);
    reader.mockImplementation(() => Promise.resolve(5));
    await vi.waitFor(async () => expect(await read(runtime)).toBe("5"), { timeout: 5000 });
  });

  it("a read that hangs ends at its deadline, is told once to the log, and the next one is heard of", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const faults: Fault[] = [];
    const said = changes();
    const signals: AbortSignal[] = [];
    let hangs = true;
    const runtime = serve(
      {
        read: (_variables, { signal }) => {
          signals.push(signal);
          return hangs ? new Promise(() => {}) : "back";
        },
        watch: () => said.run(),
      },
      faults,
    );
    const told = vi.fn<(isThere: boolean) => void>();
    runtime.resources.watch(anonymous, uri, { changed: () => {}, opened: told });
    await vi.advanceTimersByTimeAsync(25_000);
    expect(signals.length).toBeGreaterThan(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(faults).toMatchObject([{ where: 'resource "probe"', cause: { code: "TIMEOUT" } }]);
    hangs = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await read(runtime)).toBe('"back"');
    expect(faults).toHaveLength(1);
    expect(said.open).toBe(1);
  });

  it("closing the app ends a watch whose maker never answers", async () => {
    const hanging = { next: () => new Promise<never>(() => {}), return: () => new Promise<never>(() => {}) };
    const runtime = serve({ read: () => 1, watch: () => ({ [Symbol.asyncIterator]: () => hanging }) });
    const changed = vi.fn<() => void>();
    await openedWatch(runtime, changed);
    await runtime.close();
    expect(changed).not.toHaveBeenCalled();
  });

  it("variables that fit nothing are told to be there never", async () => {
    const runtime = mcp(surface)
      .bridge(link)
      .resources({ page: { variables: z.object({ id: z.string().max(2) }), read: ({ id }) => id } })
      .open();
    opened.push(runtime);
    const told = await new Promise((resolve) => {
      runtime.resources.watch(anonymous, "surface://local/page/long", { changed: () => {}, opened: resolve });
    });
    expect(told).toBe(false);
  });
});
