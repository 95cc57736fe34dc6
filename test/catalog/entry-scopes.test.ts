import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { catalogOf } from "./support.ts";

const text = z.string();
const handler = (): string => "done";

/** What each entry of a catalog asks for, by what it is. */
function scopesOf({ tools, resources, templates, prompts }: Catalog): Readonly<Record<string, readonly string[]>> {
  const entries = [
    ...tools.map(({ id, scopes }) => [`tool ${id}`, scopes] as const),
    ...resources.map(({ id, scopes }) => [`resource ${id}`, scopes] as const),
    ...templates.map(({ id, scopes }) => [`template ${id}`, scopes] as const),
    ...prompts.map(({ id, scopes }) => [`prompt ${id}`, scopes] as const),
  ];
  return Object.fromEntries(entries);
}

const read = "probe:read";
const write = "probe:write";

describe("scopes of entries", () => {
  it("everything asks for reading, and a tool that may change something for writing instead", () => {
    const catalog = catalogOf(
      {
        change: mcpTool(procedure({})),
        look: mcpTool(readOnly(procedure({}))),
        said: mcpTool(procedure({}), { mutates: false }),
        pull: mcpTool(stream({ output: text })),
        wait: mcpTool(event({ output: text })),
        state: mcpResource(cell({ schema: text })),
        items: mcpResource(collection({ key: text, schema: text })),
        rows: mcpResource(stream({ input: text, output: text })),
      },
      {
        tools: { by_hand: { handler }, by_hand_read: { mutates: false, handler } },
        prompts: { words: { handler } },
        resources: { note: { read: handler }, page: { variables: text, read: handler } },
      },
    );
    expect(scopesOf(catalog)).toEqual({
      "tool change": [write],
      "tool look": [read],
      "tool said": [read],
      "tool pull": [read],
      "tool wait": [read],
      "tool by_hand": [write],
      "tool by_hand_read": [read],
      "resource state": [read],
      "resource items": [read],
      "template items": [read],
      "template rows": [read],
      "resource note": [read],
      "template page": [read],
      "prompt words": [read],
    });
    expect(catalog.scopes).toEqual({ read, write, all: [read, write] });
  });

  it("each asks for what its author says besides, once, and the catalog for all of that", () => {
    const catalog = catalogOf(
      {
        change: mcpTool(procedure({}), { scopes: ["admin", write, "admin"] }),
        look: procedure({}),
        state: mcpResource(cell({ schema: text }), { scopes: ["audit"] }),
        items: mcpResource(collection({ key: text, schema: text }), { scopes: ["audit"], listItems: true }),
      },
      {
        expose: { look: { tool: { mutates: false, scopes: ["look"] } } },
        tools: { by_hand: { scopes: ["b", "a"], handler } },
        prompts: { words: { scopes: ["words"], handler } },
        resources: { page: { variables: text, scopes: ["pages"], read: handler } },
      },
    );
    expect(scopesOf(catalog)).toEqual({
      "tool change": [write, "admin"],
      "tool look": [read, "look"],
      "tool by_hand": [write, "b", "a"],
      "resource state": [read, "audit"],
      "resource items": [read, "audit"],
      "template items": [read, "audit"],
      "template page": [read, "pages"],
      "prompt words": [read, "words"],
    });
    expect(catalog.scopes.all).toEqual(["a", "admin", "audit", "b", "look", "pages", read, write, "words"]);
    expect(Object.isFrozen(catalog.scopes.all) && catalog.tools.every(({ scopes }) => Object.isFrozen(scopes))).toBe(
      true,
    );
  });

  it("a tool lets a dropped call finish unless its author says otherwise", () => {
    const catalog = catalogOf(
      {
        change: mcpTool(procedure({}), { onDisconnect: "abort" }),
        keep: mcpTool(procedure({}), { onDisconnect: "finish" }),
        pull: mcpTool(stream({ output: text }), { onDisconnect: "abort" }),
        plain: mcpTool(event({ output: text })),
      },
      { tools: { by_hand: { onDisconnect: "abort", handler }, by_hand_plain: { handler } } },
    );
    expect(Object.fromEntries(catalog.tools.map(({ id, onDisconnect }) => [id, onDisconnect]))).toEqual({
      change: "abort",
      keep: "finish",
      pull: "abort",
      plain: "finish",
      by_hand: "abort",
      by_hand_plain: "finish",
    });
  });

  it("an app over a composed surface names them after that, and the tools of pull() ask for reading", async () => {
    const one = defineSurface("one", { state: mcpResource(cell({ schema: text })) });
    const both = composeSurfaces("both", { one });
    const runtime = mcp(both)
      .bridge({ connect: () => Promise.reject(new TypeError("this app has no backend")) })
      .tools({ probe: { scopes: ["admin"], handler } })
      .pull()
      .open();
    try {
      expect(runtime.scopes).toEqual({
        read: "both:read",
        write: "both:write",
        all: ["admin", "both:read", "both:write"],
      });
    } finally {
      await runtime.close();
    }
  });
});
