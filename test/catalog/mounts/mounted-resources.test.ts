import { afterEach, describe, expect, it } from "vitest";
import { appOfMount, type MountedApp } from "../../../src/builder/app-of-mount.ts";
import { mcp } from "../../../src/builder/mcp.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import type { MountedResource } from "../../../src/catalog/mounts/mount.ts";
import { body } from "../../../src/catalog/content/resource-body.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { isJsonObject } from "../../../src/schema/json.ts";
import { cell, collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { z } from "zod";
import { deadLink } from "../../builder/support.ts";
import { messagesOf, mount } from "./mount-support.ts";
import { Shelf } from "./mount-shelf.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
});

function closed<TClosing extends { close(): Promise<void> }>(made: TClosing): TClosing {
  closing.push(made);
  return made;
}

const quick = { changeWindowMs: 0 };
const hp: MountedResource = { path: "state/hp", title: "Health" };

function shelfOf(...resources: readonly MountedResource[]): Shelf {
  const shelf = new Shelf();
  shelf.show(...resources);
  for (const { path } of resources) shelf.put(path, 1);
  return shelf;
}

function clientOf(app: Parameters<typeof createTestClient>[0]) {
  const client = closed(createTestClient(app));
  const request = client.request.bind(client);
  const first = async (uri: string): Promise<unknown> => {
    const { contents } = await request("resources/read", { uri });
    return Array.isArray(contents) ? contents[0] : undefined;
  };
  const uris = async (): Promise<unknown> => {
    const { resources } = await request("resources/list");
    return Array.isArray(resources) ? resources.map((each) => isJsonObject(each) && each["uri"]) : undefined;
  };
  return { request, first, uris };
}

/** What a client that watches is told. */
function watching(app: MountedApp, uri: string) {
  const runtime: AppRuntime = closed(app.open());
  const told: string[] = [];
  const stop = runtime.resources.watch(anonymous, uri, {
    changed: () => void told.push("changed"),
    opened: (isThere) => void told.push(`opened ${isThere}`),
  });
  runtime.resources.watchList(anonymous, "resources", () => void told.push("list"));
  return { told, stop };
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));

describe("resources that are mounted", () => {
  it("are listed and read under their prefix when there are members beside them", async () => {
    const surface = defineSurface("game", { score: mcpResource(cell({ schema: z.number() })) });
    const app = mcp(surface).bridge(deadLink()).mount("hero", shelfOf(hp));
    const { request, first } = clientOf(app);
    expect(await request("resources/list")).toMatchObject({
      resources: [
        { uri: "surface://game/hero/state/hp", name: "hero/state/hp", title: "Health", mimeType: "application/json" },
        { uri: "surface://game/score" },
      ],
    });
    expect(await first("surface://game/hero/state/hp")).toEqual({
      ...{ uri: "surface://game/hero/state/hp", mimeType: "application/json", text: "1" },
    });
  });

  it("are read as what they are when they hold texts and bytes", async () => {
    const shelf = shelfOf({ path: "a", mimeType: "text/plain" }, { path: "b" }, { path: "c" });
    shelf.put("a", "plain");
    shelf.put("b", body({ mimeType: "image/png", bytes: new Uint8Array([1, 2]) }));
    shelf.put("c", Promise.resolve({ x: [1] }));
    const { first } = clientOf(appOfMount("s", shelf));
    expect(await first("surface://s/a")).toMatchObject({ mimeType: "text/plain", text: "plain" });
    expect(await first("surface://s/b")).toMatchObject({ mimeType: "image/png", blob: "AQI=" });
    expect(await first("surface://s/c")).toMatchObject({ mimeType: "application/json", text: '{"x":[1]}' });
  });

  it("come and go when their source says so, and are then as unknown as what never was", async () => {
    const shelf = shelfOf(hp);
    const { request, uris } = clientOf(appOfMount("s", shelf));
    expect(await uris()).toEqual(["surface://s/state/hp"]);
    shelf.show({ path: "other" });
    expect(await uris()).toEqual(["surface://s/other"]);
    const failing = async (uri: string): Promise<string> => {
      try {
        return JSON.stringify(await request("resources/read", { uri }));
      } catch (cause) {
        return String(cause);
      }
    };
    const gone = await failing("surface://s/state/hp");
    const never = await failing("surface://s/state/xx");
    expect(gone.replace("hp", "xx")).toBe(never);
  });

  it("are not there for readers when nothing is under their path, and masked when reading throws", async () => {
    const faults: Fault[] = [];
    const shelf = shelfOf(hp, { path: "bad" });
    shelf.put("state/hp", undefined);
    shelf.put("bad", new Error("the secret"));
    const { request } = clientOf(appOfMount("s", shelf, { onFault: (fault) => void faults.push(fault) }));
    await expect(request("resources/read", { uri: "surface://s/state/hp" })).rejects.toThrow("nothing");
    await expect(request("resources/read", { uri: "surface://s/bad" })).rejects.not.toThrow("the secret");
    expect(faults.map(({ cause }) => String(cause))).toEqual(["Error: the secret"]);
  });

  it("are told of when they change, and not when what is under them is the same", async () => {
    const shelf = shelfOf(hp);
    const { told, stop } = watching(appOfMount("s", shelf, quick), "surface://s/state/hp");
    await expect.poll(() => told).toEqual(["opened true"]);
    shelf.put("state/hp", 1);
    await settle();
    expect(told).toEqual(["opened true"]);
    shelf.put("state/hp", 2);
    await expect.poll(() => told).toEqual(["opened true", "changed"]);
    stop?.();
    await expect.poll(() => shelf.watchersOf("state/hp")).toBe(0);
  });

  it("are told of once when they go and once when they are there again", async () => {
    const shelf = shelfOf(hp);
    const { told } = watching(appOfMount("s", shelf, quick), "surface://s/state/hp");
    await expect.poll(() => told).toEqual(["opened true"]);
    shelf.show();
    await settle();
    expect(told.toSorted()).toEqual(["changed", "list", "opened true"]);
    shelf.tell();
    await settle();
    expect(told.length).toBe(3);
    shelf.show({ ...hp });
    await settle();
    expect(told.toSorted()).toEqual(["changed", "changed", "list", "list", "opened true"]);
    shelf.put("state/hp", 7);
    await expect.poll(() => told.filter((each) => each === "changed").length).toBe(3);
  });

  it("are told of once when nothing is under them before they go", async () => {
    const shelf = shelfOf(hp);
    const { told } = watching(appOfMount("s", shelf, quick), "surface://s/state/hp");
    await expect.poll(() => told).toEqual(["opened true"]);
    shelf.put("state/hp", undefined);
    await expect.poll(() => told).toContain("changed");
    shelf.show();
    await settle();
    expect(told.filter((each) => each === "changed")).toEqual(["changed"]);
  });

  it("stay quick to watch when ten thousand operations are registered one by one", async () => {
    const shelf = shelfOf(hp);
    const { told } = watching(appOfMount("s", shelf), "surface://s/state/hp");
    await expect.poll(() => told).toEqual(["opened true"]);
    const began = performance.now();
    for (let index = 0; index < 10_000; index++) {
      shelf.operations = index % 100 === 0 ? [...shelf.operations, { name: `op${index}` }] : shelf.operations;
      shelf.tell();
    }
    // A bound on what hangs: a look a change would take minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
    await settle();
    expect(told).toEqual(["opened true"]);
  });

  it("are read anew by each read while they are watched", async () => {
    const shelf = shelfOf(hp);
    const runtime = closed(appOfMount("s", shelf, quick).open());
    const uri = "surface://s/state/hp";
    const told: boolean[] = [];
    runtime.resources.watch(anonymous, uri, { changed: () => {}, opened: (isThere) => void told.push(isThere) });
    await expect.poll(() => told).toEqual([true]);
    for (const n of [2, 3]) {
      shelf.read = () => n;
      const answer = await handlersOf(runtime)["resources/read"]({ uri }, { call: new CallContext({}), era: "legacy" });
      expect(JSON.stringify(answer)).toContain(String.raw`"text\":\"${n}\"`);
    }
  });

  it.each<[string, readonly MountedResource[]]>([
    ["have gone", []],
    ["ask for another scope", [{ ...hp, scopes: ["gold"] }]],
  ])("are answered to nobody when they %s while they are read", async (_what, then) => {
    const shelf = shelfOf(hp);
    let letGo = (): void => {};
    shelf.read = () => new Promise((resolve) => (letGo = () => resolve("the secret")));
    const { request } = clientOf(appOfMount("s", shelf));
    const reading = request("resources/read", { uri: "surface://s/state/hp" });
    const outcome = reading.then(JSON.stringify, String);
    await settle();
    shelf.show(...then);
    letGo();
    expect(await outcome).toContain("There is nothing under this URI now");
  });

  it("are hidden by views and by scopes when those say so", async () => {
    const shelf = shelfOf(hp, { path: "state/gold", scopes: ["gold"] }, { path: "map" });
    const app = appOfMount("s", shelf).views({ default: { disallow: ["map"] } });
    const { request, uris } = clientOf(app);
    expect(await uris()).toEqual(["surface://s/state/hp"]);
    for (const uri of ["surface://s/map", "surface://s/state/gold"]) {
      await expect(request("resources/read", { uri })).rejects.toThrow("Resource not found");
    }
    const runtime = closed(app.open());
    const rich = { ...anonymous, id: "r", isAnonymous: false, scopes: ["s:read", "gold"] };
    expect(runtime.resources.has(rich, "surface://s/state/gold")).toBe(true);
    expect(runtime.resources.has(rich, "surface://s/map")).toBe(false);
  });

  it("are read and waited for by tools when the app pulls", async () => {
    const shelf = shelfOf(hp);
    const client = closed(createTestClient(appOfMount("s", shelf, quick).pull()));
    const uri = "surface://s/state/hp";
    const text = JSON.stringify(await client.listTools());
    expect(text).toContain(`${uri} - Health`);
    expect(await client.tools["read_resource"]?.({ uri })).toMatchObject({ structured: { uri, value: 1 } });
    const waiting = client.tools["wait_for_change"]?.({ uris: [uri], timeout_ms: 5000 });
    await expect.poll(() => shelf.watchersOf("state/hp")).toBe(1);
    await settle();
    shelf.put("state/hp", 5);
    expect(await waiting).toMatchObject({ structured: { changed: [uri] } });
    shelf.show({ ...hp, title: "Wounds" }, { path: "more" });
    shelf.show({ ...hp, title: "Blood" }, { path: "more" });
    const later = JSON.stringify(await client.listTools());
    expect(later).toContain(`${uri} - Blood`);
    expect(later).toContain("surface://s/more");
    shelf.show({ ...hp, title: "Wounds" }, { path: "more" });
    expect(JSON.stringify(await client.listTools())).toContain(`${uri} - Wounds`);
  });

  it("are waited for until they go, and cannot be waited for after that", async () => {
    const shelf = shelfOf(hp, { path: "map" });
    const client = closed(createTestClient(appOfMount("s", shelf, quick).pull()));
    const [uri, map] = ["surface://s/state/hp", "surface://s/map"];
    const wait = (...uris: readonly string[]) => client.tools["wait_for_change"]?.({ uris, timeout_ms: 60_000 });
    const waiting = wait(map, uri);
    await expect.poll(() => shelf.watchersOf("state/hp")).toBe(1);
    await settle();
    shelf.show({ path: "map" });
    expect(await waiting).toMatchObject({ structured: { status: "changed", changed: [uri] } });
    expect(await wait(uri)).toMatchObject({ code: "NOT_FOUND" });
  });

  it("say that their list may change only when their source has resources", () => {
    const changing = (source: Shelf | Pick<Shelf, "list" | "subscribe" | "invoke">) =>
      closed(appOfMount("s", source).open()).changing.has("resources");
    expect(changing(new Shelf())).toBe(true);
    expect(changing({ list: () => [], subscribe: () => () => {}, invoke: () => 1 })).toBe(false);
  });

  it.each<[string, unknown, string]>([
    ["is no object", 1, "it must be an object"],
    ["has no path", {}, '"path" must be a text'],
    ["has an empty segment", { path: "a//b" }, '"path" must be segments'],
    ["climbs", { path: "a/../b" }, '"path" must be segments'],
    ["climbs when it is decoded", { path: "a/%2e%2e/b" }, '"path" must be segments'],
    ["is badly encoded", { path: "a/%ff" }, '"path" must be segments'],
    ["is not encoded", { path: "a b" }, '"path" must be segments'],
    ["holds a control character", { path: "a%0ab" }, '"path" must be segments'],
    ["is too long", { path: "a".repeat(513) }, '"path" must be segments'],
    ["has a key that nobody knows", { path: "a", scope: ["x"] }, '"scope" is not an option; did you mean "scopes"?'],
    ["has a title that is no text", { path: "a", title: 1 }, '"title" must be a text'],
    ["has a type that is none", { path: "a", mimeType: "json" }, '"mimeType" must be'],
    ["asks for scopes that are none", { path: "a", scopes: "x" }, '"scopes"'],
  ])("are left out and reported once when one %s", (_what, given, problem) => {
    const shelf = new Shelf();
    // As sources do that cast.
    shelf.show(given as MountedResource, hp);
    const mounted = mount({ hero: shelf });
    expect(mounted.live.current.resources.map(({ id }) => id)).toEqual(["hero/state/hp"]);
    shelf.tell();
    expect(mounted.live.current.resources.length).toBe(1);
    expect(messagesOf(mounted)).toEqual([expect.stringContaining(problem)]);
  });

  it("are left out and reported with both origins when their URI is taken", () => {
    const faults: Fault[] = [];
    const surface = defineSurface("game", {
      hero: mcpResource(collection({ key: z.string(), schema: z.number() })),
      score: mcpResource(cell({ schema: z.number() })),
    });
    const app = mcp(surface, { onFault: (fault) => void faults.push(fault) })
      .bridge(deadLink())
      .mount("hero", shelfOf({ path: "hp" }, { path: "a/b" }, { path: "a/b" }));
    const runtime = closed(app.open());
    expect(runtime.resources.has(anonymous, "surface://game/hero/a/b")).toBe(true);
    expect(faults.map(({ cause }) => String(cause))).toEqual([
      'SurfaceError: Cannot name resource "hero/hp": its URI "surface://game/hero/hp" is taken by collection "hero"; it is left out',
      'SurfaceError: Cannot name resource "hero/a/b": its URI "surface://game/hero/a/b" is taken by resource "hero/a/b"; it is left out',
    ]);
  });

  it("keep what was listed last when resources() throws or lists nothing, while operations go on", () => {
    const shelf = shelfOf(hp);
    const mounted = mount({ hero: shelf });
    expect(mounted.live.current.resources.length).toBe(1);
    shelf.operations = [{ name: "go" }];
    shelf.resources = () => {
      throw new TypeError("broken");
    };
    shelf.tell();
    expect(mounted.live.current.resources.length).toBe(1);
    expect(mounted.live.current.toolOf("hero.go")).toBeDefined();
    shelf.resources = () => "none" as unknown as [];
    shelf.tell();
    expect(mounted.live.current.resources.length).toBe(1);
    expect(messagesOf(mounted)).toEqual(["broken", expect.stringContaining("resources() must return an array")]);
  });

  it("are the same list to look at when only operations come", () => {
    const shelf = shelfOf(hp);
    const { live } = mount({ hero: shelf });
    const { resources } = live.current;
    shelf.operations = [{ name: "go" }];
    shelf.tell();
    expect(live.current.toolOf("hero.go")).toBeDefined();
    expect(live.current.resources).toBe(resources);
  });

  it.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new TypeError("no watching");
      },
      "no watching",
    ],
    ["returns nothing", () => undefined, "watch() must return a function"],
    ["rejects", () => Promise.reject(new TypeError("later")), "later"],
  ])("are reported and stay readable when watch() %s", async (_what, watch, message) => {
    const faults: Fault[] = [];
    const shelf = shelfOf(hp);
    shelf.watch = watch as Shelf["watch"];
    const app = appOfMount("s", shelf, { onFault: (fault) => void faults.push(fault) });
    watching(app, "surface://s/state/hp");
    await expect.poll(() => faults.map(({ cause }) => String(cause)).join()).toContain(message);
    const { length } = faults;
    // It is opened again meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(faults.filter(({ cause }) => String(cause).includes(message)).length).toBe(1);
    expect(faults.length).toBeLessThanOrEqual(length + 1);
    const { first } = clientOf(app);
    expect(await first("surface://s/state/hp")).toMatchObject({ text: "1" });
  });
});
