import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { SurfaceError } from "../../src/errors.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { badNames } from "../fixtures/bad-names.ts";

const surface = defineSurface("s", { act: mcpTool(procedure({ output: z.string() })) });
const app = mcp(surface, { uriPrefix: "app://" }).implement({ act: () => "acted" });
type Client = ReturnType<typeof createTestClient<never, never>>;

/** An app with something under a name; `of` says how, to the builder's untyped side. */
type Naming = (name: string) => { readonly open: () => Client; readonly use: (client: Client) => Promise<string> };

// The compiler knows none of these names, and would let few of them through.
const loose = app as unknown as Record<"tools" | "prompts" | "resources" | "expose", (map: object) => never>;
const one = (name: string, value: unknown): object => Object.fromEntries([[name, value]]);
const toWire = (name: string): string => name.replaceAll(".", "_");
const call = async (client: Client, name: string): Promise<string> =>
  JSON.stringify(await client.request("tools/call", { name: toWire(name), arguments: {} }));

const namings: Readonly<Record<string, Naming>> = {
  "a tool": (name) => ({
    open: () => createTestClient(loose.tools(one(name, { handler: () => "mine" }))),
    use: (client) => call(client, name),
  }),
  "a prompt": (name) => ({
    open: () => createTestClient(loose.prompts(one(name, { handler: () => "mine" }))),
    use: async (client) => JSON.stringify(await client.request("prompts/get", { name: toWire(name) })),
  }),
  "a resource": (name) => ({
    open: () => createTestClient(loose.resources(one(name, { read: () => "mine" }))),
    use: async (client) => JSON.stringify(await client.request("resources/read", { uri: `app://${name}` })),
  }),
  "a member that is exposed": (name) => ({
    open: () => createTestClient(loose.expose(one(name, "tool"))),
    use: (client) => call(client, name),
  }),
  "a member": (name) => ({
    open: () => {
      const named = defineSurface("s", one(name, mcpTool(procedure({ output: z.string() }))) as Record<never, never>);
      return createTestClient(mcp(named).implement(one(name, () => "mine") as never)) as Client;
    },
    use: (client) => call(client, name),
  }),
  "a sibling": (name) => ({
    open: () => {
      const both = composeSurfaces("both", one(name, surface) as Record<never, never>);
      const handlers = one(`${name}.act`, () => "mine");
      return createTestClient(mcp(both).implement(handlers as never)) as Client;
    },
    use: (client) => call(client, `${name}.act`),
  }),
};

describe.each(Object.entries(namings))("the name of %s", (_what, naming) => {
  // Of names that every object has the author is warned.
  beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
  afterEach(() => void vi.restoreAllMocks());

  it("is refused at boot with a typed error, or is a name like any other, whatever it is", async () => {
    for (const name of badNames) {
      const { open, use } = naming(name);
      let client: Client | undefined;
      let refusal: unknown;
      try {
        client = open();
      } catch (cause) {
        refusal = cause;
      }
      const answer = client === undefined ? "mine" : await use(client);
      await client?.close();
      expect([name, client !== undefined || refusal instanceof SurfaceError, answer]).toEqual([
        name,
        true,
        expect.stringContaining("mine"),
      ]);
    }
    expect({}).not.toHaveProperty("act");
  });
});
