import { describe, expect, it } from "vitest";
import type { SurfaceChannel } from "../../src/surface/channel.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { createClient } from "../../src/surface/create-client.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import * as z from "zod";

// oxlint-disable-next-line unicorn/no-thenable -- a member may be called that
const surface = defineSurface("s", { "a.b": cell({ schema: z.number() }), then: procedure({}) });
const hanging: SurfaceChannel = {
  request: ({ verb }) => (verb === "get" ? new Promise(() => {}) : 5),
  subscribe: () => {
    throw new Error("not subscribed here");
  },
};

describe("createClient()", () => {
  it("createClient() has the surface's members and nothing inherited, and may be awaited", async () => {
    const client = createClient(surface, hanging);
    expect(Object.keys(client)).toEqual(["a.b", "then"]);
    expect("constructor" in client).toBe(false);
    expect(Object.isFrozen(client)).toBe(true);
    expect(await Promise.resolve(client)).toBe(client);
    expect(await client.then.call()).toBe(5);
  });

  it("a call passes its options on unchanged", async () => {
    const handed: unknown[] = [];
    const channel: SurfaceChannel = { ...hanging, request: ({ options: use }) => handed.push(use) };
    const options = { idempotent: true, onProgress: () => {} };
    await createClient(surface, channel).then.call(undefined, options);
    expect(handed[0]).toBe(options);
  });

  it("a request rejects at once when its signal fires, even if the other side does not react", async () => {
    const controller = new AbortController();
    const use = createClient(surface, hanging)["a.b"].get({ signal: controller.signal });
    controller.abort();
    await expect(use).rejects.toMatchObject({ code: "ABORTED", message: 'Cannot use "a.b": the caller cancelled' });
  });
});
