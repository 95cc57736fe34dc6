import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Link } from "../../src/links/link.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { cell, collection, procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { badNames } from "../fixtures/bad-names.ts";
import { afterThis, newFolder } from "../links/unix/support.ts";
import { until } from "../surface/support.ts";
import * as z from "zod";

/** A text as JSON carries it: half a character is none. */
const toWellFormed = (text: string): string => Buffer.from(text, "utf8").toString("utf8");

/** Those that come out as they went in. */
const whole = badNames.filter((name) => name === toWellFormed(name));

const Item = z.object({ at: z.int(), version: z.int() });

const named = defineSurface("named", {
  all: mcpResource(collection({ key: z.string(), schema: Item }), { listItems: true }),
  none: mcpResource(collection({ key: z.string(), schema: Item })),
  state: mcpResource(cell({ schema: z.unknown() })),
  echo: mcpTool(procedure({ input: z.object({ text: z.string(), map: z.unknown() }), output: z.unknown() })),
});

type Items = ReadonlyMap<string, z.infer<typeof Item>>;

function implementNamed() {
  const all = cellSource<Items>(new Map(badNames.map((name, at) => [name, { at, version: 0 }])));
  const live = implementSurface(named, {
    all,
    none: cellSource<Items>(new Map()),
    state: cellSource<unknown>(Object.fromEntries(whole.map((name, at) => [name, at]))),
    echo: ({ text, map }) => ({ text, map }),
  });
  afterThis(() => live.close());
  return { live, all };
}

type Live = ReturnType<typeof implementNamed>["live"];

const links: Readonly<Record<string, (live: Live) => Promise<Link>>> = {
  "in process": async (live) => inProcess(live),
  "over a unix socket": async (live) => {
    const path = join(await newFolder(), "s");
    const listener = await listenUnixSocket(live, path);
    afterThis(() => listener.close());
    return unixSocket(path);
  },
};

async function open(link: keyof typeof links) {
  const { live, all } = implementNamed();
  const made = await links[link]?.(live);
  const client = createTestClient(mcp(named, { uriPrefix: "app://", version: "1" }).bridge(made ?? inProcess(live)));
  afterThis(() => client.close());
  return { client, all };
}

/** A name as one segment of a URI; `undefined` where no URI can have it. */
function toSegment(name: string): string | undefined {
  try {
    return encodeURIComponent(name);
  } catch {
    return undefined;
  }
}

const spelled = badNames.flatMap((name, at) => {
  const segment = toSegment(name);
  return segment === undefined ? [] : [{ name, at, segment }];
});

/** Names that a URI can have as one segment of its path, which is what they can be read by. */
const readable = spelled.filter(
  // oxlint-disable-next-line no-control-regex -- control characters are what it is for
  ({ name }) => name.length < 1000 && !/^\.*$|^%2e%2e$|[\u0000-\u001f\u007f-\u009f]/.test(name),
);

describe.each(Object.keys(links))("names that have gone wrong before, %s,", (link) => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    opened = await open(link);
  });

  async function read(uri: string): Promise<unknown> {
    try {
      const { contents } = await opened.client.request("resources/read", { uri });
      return JSON.parse((contents as [{ text: string }])[0].text);
    } catch (cause) {
      return (cause as { code?: unknown }).code;
    }
  }

  it("are all there when the keys are read", async () => {
    expect(await read("app://all")).toEqual(badNames.map(toWellFormed));
    expect(await read("app://none")).toEqual([]);
  });

  it("name each its own item, or nothing, when they stand in a URI", async () => {
    const found = await Promise.all(spelled.map(({ segment }) => read(`app://all/${segment}`)));
    const wanted = spelled.map((each) => (readable.includes(each) ? { at: each.at, version: 0 } : -32_602));
    expect(found).toEqual(wanted);
  });

  it("name nothing when there is nothing", async () => {
    for (const { segment } of spelled) expect(await read(`app://none/${segment}`)).toBe(-32_602);
  });

  it("are listed each once, with a URI that reads as theirs, when a URI can have them", async () => {
    const { resources } = await opened.client.request("resources/list", {});
    // A list of resources has them under these names.
    const listed = (resources as unknown as { uri: string; name: string }[]).filter(({ name }) =>
      name.startsWith("all/"),
    );
    expect(listed.map(({ name }) => name.slice(4)).toSorted()).toEqual(readable.map(({ name }) => name).toSorted());
    for (const { uri, name } of listed) {
      expect([uri, await read(uri)]).toEqual([uri, { at: badNames.indexOf(name.slice(4)), version: 0 }]);
    }
  });

  it("are each told of their own change when they are watched", async () => {
    const told: string[] = [];
    for (const { name } of readable) await opened.client.watch("all", () => void told.push(name), { key: name });
    for (const { name } of readable) {
      told.length = 0;
      const { at } = readable.find((each) => each.name === name) ?? { at: -1 };
      opened.all.set(new Map([...opened.all.get(), [name, { at, version: 1 }]]));
      await until(() => told.length > 0, "a notice");
      expect(told).toEqual([name]);
    }
  });

  it("come through as they are when they are arguments", async () => {
    for (const name of badNames) {
      const answer = await opened.client.tools.echo({ text: name, map: [{ name }] });
      const text = toWellFormed(name);
      expect([name, answer]).toMatchObject([name, { structured: { value: { text, map: [{ name: text }] } } }]);
    }
  });

  it("are fields like any others when they are arguments' own keys", async () => {
    const map = Object.fromEntries(whole.map((name, at) => [name, at]));
    const { text } = await opened.client.tools.echo({ text: "", map });
    // Read from the text: comparing objects would look past a field called __proto__.
    expect(text).toBe(JSON.stringify({ value: { text: "", map } }));
    expect({}).not.toHaveProperty("polluted");
  });

  it("are fields like any others when a value has them", async () => {
    const state = await read("app://state");
    expect(Object.keys(state as object).toSorted()).toEqual(whole.toSorted());
  });
});
