import { expect, it } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import type { Resolved } from "../../../src/catalog/resolve-uri.ts";
import { cell, cellSource, defineSurface, implementSurface, inProcess, mcpResource } from "../../../src/index.ts";
import { watchesOf } from "./watches-of.ts";

const surface = defineSurface("both", { state: mcpResource(cell({ schema: z.string() })) });

it("a watched resource answers no read of another entry when a view shows that under the same URI", async () => {
  const live = implementSurface(surface, { state: cellSource("hush") });
  const made = watchesOf(surface, inProcess(live));
  const uri = "surface://both/state";
  const { watches } = made;
  const resolved = watches.resolve(uri);
  if (resolved === undefined) throw new Error("it is there");
  const ends = [watches.watch({ uri, resolved, caller: anonymous }, { changed: () => {} })];
  await expect.poll(() => watches.known({ uri, id: "state" })).toBe('"hush"');
  const other: Resolved = { ...resolved, id: "other", watch: resolved.watch, read: async () => '"open"' };
  const shown = watches.resolve(uri, () => other);
  expect(await shown?.read(new CallContext())).toBe('"open"');
  expect(await watches.resolve(uri)?.read(new CallContext())).toBe('"hush"');
  // Each is watched for itself.
  ends.push(watches.watch({ uri, resolved: other, caller: anonymous }, { changed: () => {} }));
  expect(watches.size).toBe(2);
  for (const end of ends) end();
  expect(watches.size).toBe(0);
  await made.close();
  await live.close();
});
