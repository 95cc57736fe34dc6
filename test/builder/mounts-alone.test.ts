import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { appOfMount } from "../../src/builder/app-of-mount.ts";
import type { MountSource } from "../../src/catalog/mount.ts";
import { operationRegistry, type OperationRegistry } from "../../src/catalog/operation-registry.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { expectRefusal } from "../tags/support.ts";

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
});

function hero(): OperationRegistry {
  return operationRegistry([
    [{ name: "heal", type: "query" }, () => "healed"],
    [{ name: "weapon.swing", inputSchema: z.object({ at: z.string() }) }, ({ at }: { at: string }) => ({ hit: at })],
  ]);
}

/** A client of an app, closed behind the test. */
function opened<TClient extends { close(): Promise<void> }>(client: TClient): TClient {
  closing.push(client);
  return client;
}

describe("an app of one source", () => {
  it("lists and runs the operations of its source under their own names when nothing else is there", async () => {
    const client = opened(createTestClient(appOfMount("hero", hero())));
    expect(await client.toolNames()).toEqual(["heal", "weapon_swing"]);
    const answer = await client.tools["weapon_swing"]?.({ at: "orc" });
    expect(answer).toMatchObject({ isError: false, structured: { hit: "orc" } });
  });

  it("finds an operation when it is registered later", async () => {
    const source = hero();
    const client = opened(createTestClient(appOfMount("hero", source)));
    await client.toolNames();
    source.register({ name: "flee" }, () => 1);
    expect(await client.toolNames()).toEqual(["flee", "heal", "weapon_swing"]);
  });

  it("gives way to what is written by hand when that has the same name, and reports both", async () => {
    const faults: Fault[] = [];
    const app = appOfMount("hero", hero(), { onFault: (fault) => void faults.push(fault) })
      .tools({ heal: { handler: () => "mine" }, rest: { handler: () => 1 } })
      .prompts({ tell: { handler: () => "a tale" } });
    const client = opened(createTestClient(app));
    expect(await client.toolNames()).toEqual(["heal", "rest", "weapon_swing"]);
    expect((await client.tools["heal"]?.())?.text).toContain("mine");
    expect(faults.map(({ cause }) => String(cause))).toEqual([
      'SurfaceError: Naming operation "heal": its name on the wire, "heal", is taken by tool "heal"; it is left out',
    ]);
  });

  it("shows by views what it shows of any app, when patterns name what is mounted", () => {
    const app = appOfMount("hero", hero()).views({ calm: { allow: ["heal"] } });
    expect(app.replay({ surface: "calm" }).visible_tools).toEqual(["heal"]);
    expect(app.replay().visible_tools).toEqual(["heal", "weapon_swing"]);
  });

  it("takes any name of a server, when scopes and URIs could not hold it", () => {
    const runtime = (name: string) => {
      const opening = appOfMount(name, hero()).open();
      closing.push(opening);
      return { name: opening.info.name, read: opening.scopes?.read };
    };
    expect(runtime("@my/hero 2")).toEqual({ name: "@my/hero 2", read: "my-hero-2:read" });
    expect(runtime("7")).toEqual({ name: "7", read: "app:read" });
    expect(runtime("x".repeat(100)).name).toBe("x".repeat(100));
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "list(), subscribe() and invoke()"],
    [
      "one whose watch is no method",
      { list: () => [], subscribe: () => () => {}, invoke: () => 1, watch: 1 },
      "a method watch()",
    ],
  ])("is refused when its source is %s", (_what, source, problem) => {
    // As callers who cast do.
    expectRefusal(() => appOfMount("hero", source as MountSource), "INVALID_OPTION", problem);
  });

  it("is refused when it has resources that cannot be read", () => {
    const source: MountSource = { list: () => [], subscribe: () => () => {}, invoke: () => 1, resources: () => [] };
    expectRefusal(() => appOfMount("hero", source), "INVALID_OPTION", "a method read()");
    expectRefusal(() => appOfMount("", source), "INVALID_OPTION", "its name comes first");
  });
});
