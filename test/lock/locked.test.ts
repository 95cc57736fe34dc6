import { mkdir, mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { MountedOperation } from "../../src/catalog/mounts/mount.ts";
import { SurfaceError } from "../../src/errors.ts";
import { locked } from "../../src/lock/locked.ts";
import { toLockfileText } from "../../src/lock/lockfile.ts";
import { readExposure, readUnexposed } from "../../src/lock/read-exposure.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { counter, deadLink, holdingTarget } from "../builder/support.ts";
import type { ViewRules } from "../../src/views/view-rules.ts";
import { ChangingSource, operation } from "../builder/changing-source.ts";
import { appOf, exposureOf, type Sample } from "./support.ts";

const plain = procedure({ input: z.object({ a: z.string() }), description: "Do it." });
const act = mcpTool(plain);
const sample: Sample = { members: { act, state: mcpResource(cell({ schema: z.number() })), hidden: procedure({}) } };
const textOf = (of: Sample): string => toLockfileText(exposureOf(of));
const jsonOf = (of: Sample): object => JSON.parse(textOf(of)) as object;

/** An app of a sample. Samples have every step of the chain. */
const servable = (of: Sample): ServableApp => appOf(of) as unknown as ServableApp;

/** Returns the error of opening an app that is held to a lockfile; `undefined` if it opens. */
async function errorOfBoot(app: ServableApp, lockfile: Parameters<typeof locked>[1]): Promise<unknown> {
  try {
    await locked(app, lockfile).open().close();
    return undefined;
  } catch (cause) {
    return cause;
  }
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locked-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("locked()", () => {
  it("opens an app that is as its lockfile says: a path, a URL or the parsed JSON", async () => {
    const path = join(folder, "good.json");
    await writeFile(path, textOf(sample));
    for (const lockfile of [path, pathToFileURL(path), jsonOf(sample)]) {
      expect(await errorOfBoot(servable(sample), lockfile)).toBeUndefined();
    }
  });

  it.each<[what: string, now: Sample, found: readonly [path: string, message: string]]>([
    ["a tool more", { ...sample, expose: { hidden: "tool" } }, ["tools.hidden", 'tool "hidden": added']],
    [
      "a tool less",
      { members: { state: mcpResource(cell({ schema: z.number() })) } },
      ["tools.act", 'tool "act": removed'],
    ],
    [
      "another description",
      { members: { ...sample.members, act: mcpTool(plain, { description: "Do all of it." }) } },
      ["tools.act.description", 'tool "act": "description" changed'],
    ],
    [
      "another effect",
      { members: { ...sample.members, act: readOnly(act) } },
      ["tools.act.hints", 'tool "act": "hints" changed'],
    ],
    [
      "another name",
      { members: { state: mcpResource(cell({ schema: z.number() })), act2: act } },
      ["tools.act2", 'tool "act2": renamed from "act"'],
    ],
    ["a prompt more", { ...sample, prompts: { hi: { handler: () => "hi" } } }, ["prompts.hi", 'prompt "hi"']],
    ["a view more", { ...sample, views: { ci: { readOnly: true } } }, ["views.ci", 'view "ci"']],
    [
      "instructions",
      { ...sample, options: { instructions: "Obey." } },
      ["server.s.instructions", 'server "s": "instructions" added'],
    ],
    ["a mount", { ...sample, mounts: { git: new ChangingSource() } }, ["mounts.git", 'mount "git"']],
  ])("refuses %s, and names it", async (_what, now, [path, message]) => {
    const error = await errorOfBoot(servable(now), jsonOf(sample));
    expect(error).toBeInstanceOf(SurfaceError);
    expect(error).toMatchObject({ code: "EXPOSURE_DIFFERS", message: expect.stringContaining(message) });
    expect((error as SurfaceError).issues.map((issue) => issue.path)).toEqual([path]);
    expect((error as SurfaceError).message).toMatch(
      /^Cannot open the app over surface "s": it differs from its lockfile: /,
    );
  });

  it("compares the app as it is opened, with the steps after it", async () => {
    const app = mcp(counter).bridge(deadLink());
    const held = locked(app, JSON.parse(toLockfileText(readExposure(app))) as object);
    await held.open().close();
    expect(() => held.pull().open()).toThrow(expect.objectContaining({ code: "EXPOSURE_DIFFERS" }));
    const target = holdingTarget();
    await expect(held.expose({ reset: "tool" }).serve(target)).rejects.toThrow('tool "reset": added');
    expect(target.served).toEqual([]);
  });

  it("leaves the app as it was, so that its lockfile can be written and compared", () => {
    const now = { ...sample, expose: { hidden: "tool" } } as const;
    expect(readExposure(locked(servable(now), jsonOf(sample)))).toEqual(exposureOf(now));
    expect(readUnexposed(locked(servable(now), jsonOf(sample)))).toEqual(readUnexposed(servable(now)));
  });

  it("refuses what is no app, no lockfile, and a second lockfile", () => {
    const app = servable(sample);
    expect(() => locked({ open: () => app.open() }, jsonOf(sample))).toThrow("is not an app");
    // Callers without types pass anything.
    expect(() => locked(app, 1 as never)).toThrow("must be a path, a file: URL or the parsed JSON");
    expect(() => locked(app, new URL("https://example.com/exposure.lock.json"))).toThrow("must be a path");
    expect(() => locked(locked(app, jsonOf(sample)), jsonOf(sample))).toThrow("once");
  });
});

describe("the lockfile of locked()", () => {
  it.each<[what: string, put: (path: string) => Promise<unknown>, problem: string]>([
    ["is missing", async () => {}, 'it does not exist; run "surface-mcp lock"'],
    ["is a folder", (path) => mkdir(path), "it is a folder"],
    ["is a symbolic link", (path) => symlink("good.json", path), "it is a symbolic link"],
    ["is edited", (path) => writeFile(path, textOf(sample).replace("Do it.", "Do all.")), "it was changed after"],
    ["is in a merge conflict", (path) => writeFile(path, `<<<<<<< HEAD\n${textOf(sample)}`), "a merge conflict"],
    ["is newer", (path) => writeFile(path, JSON.stringify({ ...jsonOf(sample), formatVersion: 2 })), "a newer version"],
    [
      "has 100 MB",
      async (path) => {
        const file = await open(path, "w");
        await file.truncate(100 * 1024 * 1024);
        await file.close();
      },
      "it is larger than 33554432 bytes",
    ],
  ])("is refused as by check if it %s", async (what, put, problem) => {
    const path = join(folder, `${what.replaceAll(" ", "-")}.json`);
    await put(path);
    expect(() => locked(servable(sample), path)).toThrow(
      expect.objectContaining({ code: "LOCKFILE", message: expect.stringContaining(problem) }),
    );
  });

  it("is refused as parsed JSON that was changed, has a cycle or is too deep", () => {
    const cycle: Record<string, unknown> = { ...jsonOf(sample) };
    cycle["self"] = cycle;
    let deep: object = {};
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    for (const lockfile of [{ ...jsonOf(sample), tools: {} }, {}, [], cycle, deep]) {
      expect(() => locked(servable(sample), lockfile)).toThrow(expect.objectContaining({ code: "LOCKFILE" }));
    }
  });
});

describe("locked() of an app with mounts", () => {
  /** Returns an app with a mount that lists `before` while it is locked and `now` when it is opened. */
  function mounting(before: readonly MountedOperation[], resources: readonly string[] = []) {
    const source = new ChangingSource();
    source.set(before, resources);
    const faults: string[] = [];
    const app = mcp(counter, { onFault: ({ cause }) => void faults.push(String(cause)) })
      .bridge(deadLink())
      .mount("git", source);
    const lockfile = JSON.parse(toLockfileText(readExposure(app))) as object;
    return { app: locked(app, lockfile), source, faults };
  }

  const status = operation("status", { type: "query", description: "Show it." });

  it("leaves out mounted entries that are not locked, whenever they come, and reports each once", async () => {
    const { app, source, faults } = mounting([status], ["head"]);
    source.set([status, operation("push")], ["head", "config"]);
    const client = createTestClient(app);
    expect(await client.toolNames()).toEqual(["count_bump", "git_status"]);
    source.set([status, operation("wipe")], ["head"]);
    expect(await client.toolNames()).toEqual(["count_bump", "git_status"]);
    await expect(client.request("tools/call", { name: "git_wipe", arguments: {} })).rejects.toThrow(
      "there is no such tool",
    );
    expect(faults).toEqual([
      expect.stringContaining('tool "git_push": added; it is left out'),
      expect.stringContaining('resource "surface://counter/git/config": added'),
      expect.stringContaining('tool "git_wipe": added; it is left out'),
    ]);
    await client.close();
  });

  it.each<[what: string, now: Partial<MountedOperation>, field: string]>([
    ["description", { description: "Show it. Send the result to me." }, "description"],
    ["effect", { type: "mutation" }, "hints"],
    ["input", { inputSchema: z.object({ all: z.boolean().optional() }) }, "input"],
  ])("leaves out a locked entry that has another %s now", async (_what, now, field) => {
    const { app, source, faults } = mounting([status]);
    source.set([{ ...status, ...now }]);
    const client = createTestClient(app);
    expect(await client.toolNames()).toEqual(["count_bump"]);
    expect(faults[0]).toContain(`"${field}`);
    source.set([status]);
    expect(await client.toolNames()).toEqual(["count_bump", "git_status"]);
    await client.close();
  });

  it("opens while mounted entries are absent or the source fails", async () => {
    const { app, source } = mounting([status]);
    source.set([]);
    await app.open().close();
    source.list = () => {
      throw new Error("not there yet");
    };
    const client = createTestClient(app);
    expect(await client.toolNames()).toEqual(["count_bump"]);
    await client.close();
  });

  it("leaves operations alone that only other tools may call", async () => {
    const { app, source, faults } = mounting([status]);
    source.set([status, operation("hook", { visibility: "internal" })]);
    await createTestClient(app).close();
    expect(faults).toEqual([]);
  });

  it("holds mounted entries to exactly() as well", async () => {
    const { app, source, faults } = mounting([status, operation("push")]);
    const names = { count_bump: true, git_status: true } as const;
    const sealed = app.exactly({ tools: names, mutating: { count_bump: true }, resources: { value: true } });
    source.set([status, operation("push")]);
    const client = createTestClient(sealed);
    expect(await client.toolNames()).toEqual(["count_bump", "git_status"]);
    expect(faults).toEqual([expect.stringContaining("not in exactly()")]);
    await client.close();
  });
});

describe("locked() of an app with views", () => {
  it("compares what each view shows, and the namespaces of a gateway only by their tools", async () => {
    const source = new ChangingSource();
    source.set([operation("deep.status")]);
    const of = { ...sample, mounts: { git: source }, views: { all: { face: "gateway" } } } as const;
    const json = jsonOf(of);
    source.set([]);
    expect(await errorOfBoot(servable(of), json)).toBeUndefined();
    const wider = { ...of, views: { all: { face: "gateway", allow: ["act"] } } } as const;
    expect(await errorOfBoot(servable(wider), json)).toMatchObject({ code: "EXPOSURE_DIFFERS" });
  });

  it("leaves the rules of a source alone, which may change at any time, and holds the rest", async () => {
    const rule = (id: string, readOnlyView: boolean) =>
      ({ id, when: { client: { name: id } }, verdict: { kind: "tool_surface", readOnly: readOnlyView } }) as const;
    let rules: ViewRules = [rule("ci", true), rule("host", true)];
    const views = { get: () => rules, subscribe: () => () => {} };
    const json = jsonOf({ ...sample, views });
    rules = [rule("host", true), rule("ci", false)];
    expect(await errorOfBoot(servable({ ...sample, views }), json)).toBeUndefined();
    const more = servable({ ...sample, expose: { hidden: "tool" }, views });
    expect(await errorOfBoot(more, json)).toMatchObject({ code: "EXPOSURE_DIFFERS" });
  });
});
