import { describe, expect, it } from "vitest";
import { z } from "zod";
import { appOfMount } from "../../src/builder/app-of-mount.ts";
import { mcp } from "../../src/builder/mcp.ts";
import type { MountSource } from "../../src/catalog/mounts/mount.ts";
import { SurfaceError } from "../../src/errors.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { any, errorOfBoot, type AnyApp } from "./any-app.ts";
import { ChangingSource, operation } from "./changing-source.ts";
import { counter, countingHandlers, deadLink } from "./support.ts";

const link = deadLink();

const linked = (): AnyApp => any(mcp(counter).bridge(link));

const names = { tools: { count_bump: true }, resources: { value: true }, mutating: { count_bump: true } };

const handler = (): number => 1;

describe("exactly()", () => {
  it("opens an app that has exactly the names", async () => {
    expect(await errorOfBoot(() => linked().exactly(names))).toBeUndefined();
  });

  it("names every difference in the error of the boot", async () => {
    const error = await errorOfBoot(() => linked().exactly({ tools: { bump: true }, resources: { value: true } }));
    expect(error?.code).toBe("EXPOSURE_DIFFERS");
    expect(error?.message).toBe(
      'Cannot open the app over surface "counter": tool "count_bump" is in the app, and not in exactly(); ' +
        'tool "bump" is in exactly(), and not in the app; ' +
        'mutating tool "count_bump" is in the app, and not in exactly()',
    );
    expect(error?.issues.map(({ path }) => path)).toEqual(["tools.count_bump", "tools.bump", "mutating.count_bump"]);
  });

  it("shows five of many differences in the message, and all in the issues", async () => {
    const tools = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`tool_${index}`, { handler }]));
    const error = await errorOfBoot(() => linked().tools(tools).exactly(names));
    expect(error?.message).toMatch(/; and 13 more$/);
    expect(error?.issues).toHaveLength(18);
  });

  it.each([
    ["no object", undefined, "its argument must be an object"],
    ["an unknown kind", { toools: {} }, 'it takes tools, resources, prompts and mutating, and not "toools"'],
    ["a list of names", { tools: ["bump"] }, '"tools" must be a record of names'],
    ["a name with false", { tools: { bump: false } }, '"tools" must have true under "bump"'],
  ])("refuses %s", (_, given, message) => {
    expect(() => linked().exactly(given)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(message) }),
    );
  });

  it("refuses a second call, and an app without a link", () => {
    expect(() => linked().exactly(names).exactly(names)).toThrow("call it once");
    expect(() => any(mcp(counter)).exactly(names)).toThrow("the app has no link");
  });

  it("compares the keys of collections, streams and hand-written templates once each", async () => {
    const surface = defineSurface("kinds", {
      rows: mcpResource(collection({ key: z.string(), schema: z.string() })),
      log: mcpResource(stream({ input: z.object({ from: z.string() }), output: z.string() })),
      done: mcpTool(event({ output: z.string() })),
    });
    const read = (): string => "";
    const app = any(mcp(surface).bridge(link))
      .resources({ page: { uriTemplate: "pages://s/{id}", variables: z.object({ id: z.string() }), read } })
      .prompts({ hello: { handler: () => "hello" } })
      .pull();
    const tools = { done: true, read_resource: true, wait_for_change: true };
    const resources = { rows: true, log: true, page: true };
    expect(await errorOfBoot(() => app.exactly({ tools, resources, prompts: { hello: true } }))).toBeUndefined();
    const error = await errorOfBoot(() => app.exactly({ tools, resources: { ...resources, rows: true } }));
    expect(error?.issues).toEqual([
      { path: "prompts.hello", message: 'prompt "hello" is in the app, and not in exactly()' },
    ]);
  });
});

describe("exactly() of an app with mounts", () => {
  /** Creates a client of an app with a mount, and lists of its tools and faults. */
  function serving(exact: unknown, source: MountSource) {
    const faults: Fault[] = [];
    const onFault = (fault: Fault): void => void faults.push(fault);
    const app = mcp(counter, { onFault })
      .implement(countingHandlers(cellSource(0)))
      .mount("git", source);
    const client = createTestClient(any(app).exactly(exact) as unknown as typeof app);
    const messages = (): string[] => faults.map(({ cause }) => (cause instanceof Error ? cause.message : "other"));
    return { client, messages };
  }

  const tools = { count_bump: true, git_status: true };
  const mutating = { count_bump: true };

  it("leaves out mounted entries that are not named, whenever they come, and reports each once", async () => {
    const source = new ChangingSource();
    source.set([operation("status", { type: "query" }), operation("push")], ["head"]);
    const { client, messages } = serving({ tools, mutating, resources: { value: true } }, source);
    expect(await client.toolNames()).toEqual(["count_bump", "git_status"]);
    source.set([operation("status", { type: "query" }), operation("wipe")]);
    expect(await client.toolNames()).toEqual(["count_bump", "git_status"]);
    await expect(client.request("tools/call", { name: "git_wipe", arguments: {} })).rejects.toThrow(
      "there is no such tool",
    );
    expect(messages()).toEqual([
      expect.stringContaining('tool "git_push" is in the app, and not in exactly(); it is left out'),
      expect.stringContaining('resource "git/head" is in the app, and not in exactly(); it is left out'),
      expect.stringContaining('tool "git_wipe" is in the app, and not in exactly(); it is left out'),
    ]);
    await client.close();
  });

  it("leaves out a named tool that may change something and is not named as mutating", async () => {
    const source = new ChangingSource();
    source.set([operation("status")]);
    const { client, messages } = serving({ tools, mutating, resources: { value: true } }, source);
    expect(await client.toolNames()).toEqual(["count_bump"]);
    expect(messages()).toEqual([expect.stringContaining('mutating tool "git_status" is in the app')]);
    await client.close();
  });

  it("allows all entries of a mount by a pattern, and entries that are absent", async () => {
    const source = new ChangingSource();
    const all = { tools: { ...tools, "git_*": true }, mutating: { ...mutating, "git_*": true } };
    const { client, messages } = serving({ ...all, resources: { value: true, "git/*": true } }, source);
    expect(await client.toolNames()).toEqual(["count_bump"]);
    source.set([operation("push")], ["head"]);
    expect(await client.toolNames()).toEqual(["count_bump", "git_push"]);
    expect(messages()).toEqual([]);
    await client.close();
  });

  it("does not count operations that only other tools may call", async () => {
    const source = new ChangingSource();
    source.set([operation("hook", { visibility: "internal" })]);
    const { client, messages } = serving({ ...names }, source);
    expect(await client.toolNames()).toEqual(["count_bump"]);
    expect(messages()).toEqual([]);
    await client.close();
  });

  it("compares names outside of the prefix of a mount", async () => {
    const source = new ChangingSource();
    const app = any(mcp(counter).bridge(link).mount("git", source));
    const more = { tools: { ...tools, gitstatus: true, "*": true }, prompts: { git_hello: true } };
    const resources = { value: true, "git/head": true, gitx: true };
    const error = await errorOfBoot(() => app.exactly({ ...names, ...more, resources }));
    expect(error?.issues.map(({ path }) => path)).toEqual([
      "tools.gitstatus",
      "tools.*",
      "resources.gitx",
      "prompts.git_hello",
    ]);
  });

  it("takes any name for one of a mount without a prefix", async () => {
    const app = any(appOfMount("alone", new ChangingSource()));
    expect(await errorOfBoot(() => app.exactly({ tools: { later: true } }))).toBeUndefined();
  });

  it("leaves out an entry whose name begins with a name", async () => {
    const source = new ChangingSource();
    source.set([operation("status", { type: "query" }), operation("statuses", { type: "query" })]);
    const { client } = serving({ tools, mutating, resources: { value: true } }, source);
    expect(await client.toolNames()).toEqual(["count_bump", "git_status"]);
    await client.close();
  });
});

/** One more tool, resource, prompt or effect than an author declares, in a way that the compiler may not see. */
describe("exactly() refuses at boot what types do not see", () => {
  const plain = { run: mcpTool(procedure({})) };
  const exact = { tools: { run: true }, mutating: { run: true } };
  const more = mcpTool(procedure({}));
  const state = mcpResource(cell({ schema: z.number() }));
  const over = (members: object): AnyApp => {
    const app = mcp(defineSurface("s", members as never) as never) as unknown as { bridge(to: unknown): unknown };
    return any(app.bridge(link));
  };
  const wide: Record<string, unknown> = { ...plain };

  /** Ways to bring a hidden key into an object. */
  const hide: Readonly<Record<string, (base: object, key: string, value: unknown) => object>> = {
    spread: (base, key, value) => ({ ...base, [key]: value }),
    alias(base, key, value) {
      const copy = { ...base };
      Reflect.set(copy, key, value);
      return copy;
    },
    assign: (base, key, value) => Object.assign({ ...base }, { [key]: value }),
    "from entries": (base, key, value) => Object.fromEntries([...Object.entries(base), [key, value]]),
    getter: (base, key, value) => Object.defineProperty({ ...base }, key, { enumerable: true, get: () => value }),
    "null prototype": (base, key, value) => Object.assign(Object.create(null), base, { [key]: value }),
    proxy: (base, key, value) => new Proxy(Object.assign({ ...base }, { [key]: value }), {}),
    "computed key": (base, key, value) => Object.assign({ ...base }, { [`${key.slice(0, 1)}${key.slice(1)}`]: value }),
  };

  /** What is hidden: a further entry of each kind. */
  const attacks: Readonly<Record<string, (add: (base: object, key: string, value: unknown) => object) => AnyApp>> = {
    "a tagged procedure": (add) => over(add(plain, "more", more)),
    "a tool that reads": (add) => over(add(plain, "more", readOnly(more))),
    "a tagged cell": (add) => over(add(plain, "more", state)),
    "a tagged collection": (add) =>
      over(add(plain, "more", mcpResource(collection({ key: z.string(), schema: z.string() })))),
    "a tagged stream": (add) => over(add(plain, "more", mcpResource(stream({ output: z.string() })))),
    "a tool of a stream": (add) => over(add(plain, "more", mcpTool(stream({ output: z.string() })))),
    "a tool of an event": (add) => over(add(plain, "more", mcpTool(event({ output: z.string() })))),
    "a resource of an event": (add) => over(add(plain, "more", mcpResource(event({ output: z.string() })))),
    "a tool in an expose map": (add) => over({ ...plain, more: procedure({}) }).expose(add({}, "more", "tool")),
    "a resource in an expose map": (add) =>
      over({ ...plain, more: cell({ schema: z.number() }) }).expose(add({}, "more", "resource")),
    "options in an expose map": (add) =>
      over({ ...plain, more: procedure({}) }).expose(add({}, "more", { tool: { title: "More" } })),
    "a hand-written tool": (add) => over(plain).tools(add({}, "more", { handler })),
    "a hand-written tool that reads": (add) => over(plain).tools(add({}, "more", { mutates: false, handler })),
    "a prompt": (add) => over(plain).prompts(add({}, "more", { handler: () => "text" })),
    "a hand-written resource": (add) => over(plain).resources(add({}, "more", { read: () => "text" })),
    "a hand-written template": (add) =>
      over(plain).resources(
        add({}, "more", {
          ...{ uriTemplate: "more://s/{id}", variables: z.object({ id: z.string() }) },
          read: () => "text",
        }),
      ),
    "a gateway": (add) => over(plain).views(add({}, "more", { face: "gateway" })),
    "a gateway in a rule": (add) =>
      over(plain).views([{ id: "more", verdict: add({ kind: "tool_surface" }, "face", "gateway") }]),
    "the tool of replays": (add) => over(plain).views({ plain: {} }, add({}, "replay", true)),
    "a second spec": (add) => over({ ...wide, ...add({}, "more", more) }),
  };

  const cases = Object.entries(attacks).flatMap(([what, attack]) =>
    Object.entries(hide).map(([way, add]) => [what, way, () => attack(add)] as const),
  );

  it.each(cases)("%s, by %s", async (_what, _way, make) => {
    const error = await errorOfBoot(() => make().exactly(exact));
    expect(error).toBeInstanceOf(SurfaceError);
    // View rules refuse accessors themselves.
    const isAccessor = error?.message.includes("must be plain data, and is an accessor") === true;
    expect(error).toMatchObject({ code: isAccessor ? "INVALID_OPTION" : "EXPOSURE_DIFFERS" });
  });

  /** Other ways: a tag or an effect that differs from the type, and steps behind the seal. */
  const others: Readonly<Record<string, () => AnyApp>> = {
    "a step after it": () => over(plain).exactly(exact).tools({ more: { handler } }),
    "an expose map after it": () =>
      over({ ...plain, more: procedure({}) })
        .exactly(exact)
        .expose({ more: "tool" }),
    "pull() after it": () => over(plain).exactly(exact).pull(),
    "views after it": () =>
      over(plain)
        .exactly(exact)
        .views({ x: { face: "gateway" } }),
    "a source of views": () =>
      over(plain)
        .views({ get: () => ({ plain: {} }), subscribe: () => () => {} })
        .exactly(exact),
    "names that inherit": () =>
      over({ ...plain, more }).exactly({ ...exact, tools: Object.create({ run: true, more: true }) }),
    "a tool that reads by its type": () => over({ run: mcpTool(procedure({})) }).exactly({ tools: { run: true } }),
    "a bivariant handler of a wider tool": () =>
      over({})
        .tools({ run: { ...{ mutates: false, handler }, ...{ mutates: true } } })
        .exactly({ tools: { run: true } }),
    "names of another kind": () =>
      over(plain).exactly({ tools: { run: true }, resources: { run: true }, mutating: { run: true } }),
    "no names": () => over(plain).exactly({}),
  };

  it.each(Object.entries(others))("%s", async (_what, make) => {
    expect((await errorOfBoot(make))?.code).toBe("EXPOSURE_DIFFERS");
  });

  it("opens the app without an attack", async () => {
    expect(await errorOfBoot(() => over(plain).exactly(exact))).toBeUndefined();
    expect(cases.length + Object.keys(others).length).toBeGreaterThanOrEqual(160);
  });
});
