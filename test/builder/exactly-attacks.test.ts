import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { SurfaceError } from "../../src/errors.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { kExposure } from "../../src/tags/tag-of.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import type { LinkedApp } from "../../src/builder/stages.ts";
import type { AppNames } from "../../src/builder/app-names.ts";
import { any, type AnyApp } from "./any-app.ts";
import { ChangingSource, operation } from "./changing-source.ts";
import { deadLink } from "./support.ts";

const run = (): object => mcpTool(procedure({}));
const plain = { run: run() };
const exact = { tools: { run: true }, mutating: { run: true } };
const handler = (): number => 1;
const copyKeys = (to: object, from: object): object => {
  for (const key of Reflect.ownKeys(from)) Reflect.set(to, key, Reflect.get(from, key));
  return to;
};

function over(members: object): AnyApp {
  const app = mcp(defineSurface("s", members as never) as never) as unknown as { bridge(to: unknown): unknown };
  return any(app.bridge(deadLink()));
}

/** Returns the code of the error of an attack, or the names that agents see of the app. */
async function outcomeOf(attack: () => AnyApp): Promise<string | readonly string[]> {
  try {
    const client = createTestClient(attack() as unknown as LinkedApp<AppNames, unknown>);
    const [tools, resources] = [await client.toolNames(), await client.request("resources/list", {})];
    await client.close();
    return [...tools, ...(resources as { resources: { uri: string }[] }).resources.map(({ uri }) => uri)];
  } catch (cause) {
    if (cause instanceof SurfaceError) return cause.code;
    throw cause;
  }
}

const getterOf = (values: readonly unknown[]): PropertyDescriptor => {
  let reads = 0;
  return { enumerable: true, get: () => values[Math.min(reads++, values.length - 1)] };
};

/** A name, an effect or an entry that the author of exactly() did not mean, and the code that refuses it. */
const refused: Readonly<Record<string, readonly [code: string, attack: () => AnyApp]>> = {
  "symbols copied by Object.assign": [
    "EXPOSURE_DIFFERS",
    () => over({ ...plain, more: Object.assign({}, procedure({}), run()) }).exactly(exact),
  ],
  "symbols copied one by one": ["EXPOSURE_DIFFERS", () => over({ ...plain, more: copyKeys({}, run()) }).exactly(exact)],
  "a tag that is inherited": ["EXPOSURE_DIFFERS", () => over({ ...plain, more: Object.create(run()) }).exactly(exact)],
  "a proxy with a tag": [
    "EXPOSURE_DIFFERS",
    () =>
      over({
        ...plain,
        more: new Proxy(
          { ...procedure({}) },
          { get: (to, key) => (key === kExposure ? "tool" : Reflect.get(to, key)) },
        ),
      }).exactly(exact),
  ],
  "a tag by a getter": [
    "EXPOSURE_DIFFERS",
    () =>
      over({
        ...plain,
        more: Object.defineProperty({ ...procedure({}) }, kExposure, getterOf(["tool"])),
      }).exactly(exact),
  ],
  "an effect copied by Object.assign": [
    "EXPOSURE_DIFFERS",
    () => over({ run: Object.assign({}, run(), readOnly(procedure({})), { [kExposure]: "tool" }) }).exactly(exact),
  ],
  "names that are equal on the wire": ["NAME_COLLISION", () => over({ "a.b": run(), a_b: run() }).exactly(exact)],
  "a name that looks like another": ["INVALID_NAME", () => over({ rυn: run() }).exactly(exact)],
  "a name with an invisible character": ["INVALID_NAME", () => over({ "run\u200B": run() }).exactly(exact)],
  "a name in other case": ["EXPOSURE_DIFFERS", () => over({ Run: run() }).exactly(exact)],
  "a pattern over own tools": ["EXPOSURE_DIFFERS", () => over(plain).exactly({ ...exact, tools: { "*": true } })],
  "a pattern with the start of a tool": [
    "EXPOSURE_DIFFERS",
    () => over(plain).exactly({ tools: { "run*": true }, mutating: { "run*": true } }),
  ],
  "a pattern of a mount that is not there": [
    "EXPOSURE_DIFFERS",
    () => over(plain).exactly({ ...exact, tools: { run: true, "git_*": true } }),
  ],
  "__proto__ as a member": [
    "INVALID_NAME",
    () => over(Object.defineProperty({ ...plain }, "__proto__", { enumerable: true, value: run() })).exactly(exact),
  ],
  "a list of names": ["INVALID_OPTION", () => over(plain).exactly({ ...exact, tools: ["run"] })],
  "a truthy value": ["INVALID_OPTION", () => over(plain).exactly({ ...exact, tools: { run: 1 } })],
  "a boxed value": ["INVALID_OPTION", () => over(plain).exactly({ ...exact, tools: { run: Object(true) as object } })],
  "a Map of names": ["EXPOSURE_DIFFERS", () => over(plain).exactly({ ...exact, tools: new Map([["run", true]]) })],
  "names that no loop finds": [
    "EXPOSURE_DIFFERS",
    () => over(plain).exactly({ ...exact, tools: Object.defineProperty({}, "run", { value: true }) }),
  ],
  "names that a proxy has and does not list": [
    "EXPOSURE_DIFFERS",
    () => over({ ...plain, more: run() }).exactly({ ...exact, tools: new Proxy({ run: true }, { has: () => true }) }),
  ],
  "names added to the record after exactly()": [
    "EXPOSURE_DIFFERS",
    () => {
      const tools: Record<string, true> = { run: true };
      const app = over({ ...plain, more: readOnly(mcpTool(procedure({}))) }).exactly({ ...exact, tools });
      tools["more"] = true;
      return app;
    },
  ],
  "a sibling surface": [
    "EXPOSURE_DIFFERS",
    () => {
      const both = composeSurfaces("both", {
        a: defineSurface("a", plain as never),
        b: defineSurface("b", plain as never),
      });
      return any((mcp(both as never) as unknown as { bridge(to: unknown): unknown }).bridge(deadLink())).exactly({
        tools: { a_run: true },
        mutating: { a_run: true },
      });
    },
  ],
  "a number as a name": ["EXPOSURE_DIFFERS", () => over(plain).tools({ 1: { handler } }).exactly(exact)],
  "a key of another kind": [
    "EXPOSURE_DIFFERS",
    () =>
      over({ ...plain, more: mcpResource(cell({ schema: z.number() })) }).exactly({
        ...exact,
        prompts: { more: true },
      }),
  ],
  "an effect by a getter": [
    "EXPOSURE_DIFFERS",
    () =>
      over({})
        .tools({ run: Object.defineProperty({ handler }, "mutates", getterOf([true])) })
        .exactly({ tools: { run: true } }),
  ],
  "a gateway whose call is not mutating": [
    "EXPOSURE_DIFFERS",
    () =>
      over({})
        .views({ all: { face: "gateway" } })
        .exactly({ tools: { list: true, search: true, schema: true, call: true } }),
  ],
};

/** Changes after the chain, and mounts that change: agents see what was declared, and no more. */
const harmless: Readonly<Record<string, () => AnyApp>> = {
  "a member added to the spec later"() {
    const spec: Record<string, object> = { ...plain };
    const app = over(spec).exactly(exact);
    spec["more"] = run();
    return app;
  },
  "a key added to an expose map later"() {
    const map: Record<string, string> = {};
    const app = over({ ...plain, more: procedure({}) })
      .expose(map)
      .exactly(exact);
    map["more"] = "tool";
    return app;
  },
  "a tool added to a record later"() {
    const tools: Record<string, object> = {};
    const app = over(plain).tools(tools).exactly(exact);
    tools["more"] = { handler };
    return app;
  },
  "a prompt and a resource added later"() {
    const [prompts, resources]: Record<string, object>[] = [{}, {}];
    const app = over(plain)
      .prompts(prompts ?? {})
      .resources(resources ?? {})
      .exactly(exact);
    Reflect.set(prompts ?? {}, "more", { handler: () => "text" });
    Reflect.set(resources ?? {}, "more", { read: () => "text" });
    return app;
  },
  "a view that is changed to a gateway later"() {
    const view: Record<string, unknown> = {};
    const app = over(plain).views({ default: view }).exactly(exact);
    view["face"] = "gateway";
    return app;
  },
  "a member that is tagged again later"() {
    const more = procedure({});
    const app = over({ ...plain, more }).exactly(exact);
    Reflect.set(more, kExposure, "tool");
    return app;
  },
  "a mounted operation that is not named"() {
    const source = new ChangingSource();
    const app = over(plain).mount("git", source).exactly(exact);
    source.set([operation("push")], ["head"]);
    return app;
  },
  "a mounted operation that takes the name of a tool"() {
    const source = new ChangingSource();
    source.set([operation("run"), operation("run.more")]);
    return over(plain).mount("git", source).exactly(exact);
  },
  "a mounted operation that is renamed"() {
    const source = new ChangingSource();
    const app = over(plain)
      .mount("git", source)
      .exactly({ ...exact, tools: { run: true, git_status: true } });
    source.set([operation("status", { type: "query" })]);
    source.set([operation("statuses", { type: "query" })]);
    return app;
  },
  "a mounted operation that begins to change things"() {
    const source = new ChangingSource();
    const app = over(plain)
      .mount("git", source)
      .exactly({ ...exact, tools: { run: true, git_status: true } });
    source.set([operation("status", { type: "query" })]);
    source.set([operation("status")]);
    return app;
  },
  "a mounted operation whose getter names another"() {
    const source = new ChangingSource();
    source.set([Object.defineProperty(operation("status", { type: "query" }), "name", getterOf(["push"]))]);
    return over(plain)
      .mount("git", source)
      .exactly({ ...exact, tools: { run: true, git_status: true } });
  },
};

describe("exactly() against what types do not see", () => {
  it.each(Object.entries(refused))("refuses %s", async (_what, [code, attack]) => {
    expect(await outcomeOf(attack)).toBe(code);
  });

  it.each(Object.entries(harmless))("shows no more after %s", async (_what, attack) => {
    expect(await outcomeOf(attack)).toEqual(["run"]);
  });

  it("has enough kinds, with those of exactly.test.ts", () => {
    expect(Object.keys(refused).length + Object.keys(harmless).length).toBeGreaterThanOrEqual(29);
  });
});
