import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { flakyBackend } from "./flaky-backend.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";
import { anonymous } from "../../../src/surface/caller.ts";

const numbers = { key: z.string(), schema: z.number() };

const surface = defineSurface("shop", {
  jobs: mcpResource(collection(numbers), { listItems: true }),
  carts: mcpResource(collection(numbers), { listItems: true }),
  quiet: mcpResource(collection(numbers)),
  hidden: collection(numbers),
});

type Numbers = ReadonlyMap<string, number>;
const of = (...keys: string[]): Numbers => new Map(keys.map((key, index) => [key, index]));

function backend() {
  const sources = {
    jobs: cellSource(of("b", "a")),
    carts: cellSource(of()),
    quiet: cellSource(of("q")),
    hidden: cellSource(of("h")),
  };
  return { ...sources, make: () => implementSurface(surface, sources) };
}

const opened: AppRuntime[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.close()));
});

function serve(changeWindowMs = 0) {
  const { make, ...sources } = backend();
  const flaky = flakyBackend(make());
  const runtime = mcp(surface, { uriPrefix: "shop://", changeWindowMs, onFault: () => {} })
    .bridge(flaky.link)
    .open();
  opened.push(runtime);
  return { runtime, flaky, ...sources };
}

async function list(runtime: AppRuntime): Promise<readonly string[]> {
  const request = { era: "modern", call: new CallContext() } as const;
  const answer = await handlersOf(runtime)["resources/list"]({}, request);
  const body: unknown = answer.kind === "result" ? JSON.parse(`{${answer.body}}`) : answer;
  const found: unknown = Reflect.get(Object(body), "resources");
  return Array.isArray(found) ? found.map((each) => String(each.uri).replace("shop://", "")) : [];
}

/** Listens to the list, and counts. */
function listen(runtime: AppRuntime) {
  const heard = { count: 0, end: (): void => {} };
  heard.end = runtime.resources.watchList(anonymous, "resources", () => void (heard.count += 1));
  return heard;
}

const quiet = (ms = 60): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const patience = { timeout: 10_000 };
const fixed = ["carts", "jobs", "quiet"];

describe("the items of a collection in the list of resources", () => {
  it("are listed for the collections whose author asked for it, and for no other", async () => {
    const { runtime, carts } = serve();
    expect(await list(runtime)).toEqual(["carts", "jobs", "jobs/a", "jobs/b", "quiet"]);
    carts.set(of("z"));
    expect(await list(runtime)).toEqual(["carts", "carts/z", "jobs", "jobs/a", "jobs/b", "quiet"]);
  });

  it("are announced when one comes or goes, and not when values or their order change", async () => {
    const { runtime, jobs } = serve();
    const heard = listen(runtime);
    await list(runtime);
    await quiet();
    expect(heard.count).toBe(0);
    jobs.set(of("a", "b"));
    await quiet();
    jobs.set(
      new Map([
        ["b", 7],
        ["a", 9],
      ]),
    );
    await quiet();
    expect(heard.count).toBe(0);
    jobs.set(of("a", "b", "c"));
    await expect.poll(() => heard.count, patience).toBe(1);
    expect(await list(runtime)).toContain("jobs/c");
    jobs.set(of("b", "c"));
    await expect.poll(() => heard.count, patience).toBe(2);
    expect(await list(runtime)).not.toContain("jobs/a");
  });

  it("are not announced when those of another collection change", async () => {
    const { runtime, quiet: other, hidden } = serve();
    const heard = listen(runtime);
    await list(runtime);
    other.set(of("new"));
    hidden.set(of("new"));
    await quiet();
    expect(heard.count).toBe(0);
    expect(await list(runtime)).toEqual(["carts", "jobs", "jobs/a", "jobs/b", "quiet"]);
  });

  it("are announced at most once a window over all collections, and once more after the last", async () => {
    const { runtime, jobs, carts } = serve(200);
    const heard = listen(runtime);
    await list(runtime);
    await quiet();
    const started = performance.now();
    for (let count = 0; count < 20; count += 1) {
      jobs.set(of(`j${count}`));
      carts.set(of(`c${count}`));
      await quiet(10);
    }
    await quiet(500);
    const windows = Math.ceil((performance.now() - started) / 200);
    expect(heard.count).toBeGreaterThanOrEqual(2);
    expect(heard.count).toBeLessThanOrEqual(1 + windows);
    expect(await list(runtime)).toEqual(["carts", "carts/c19", "jobs", "jobs/j19", "quiet"]);
  });

  it("are announced when others are there than were listed before the watch had its first value", async () => {
    const { runtime, flaky, jobs } = serve();
    // Listed at once when listening begins, changed before the application can be watched.
    expect(await list(runtime)).toContain("jobs/a");
    flaky.down();
    const heard = listen(runtime);
    jobs.set(of("c"));
    await list(runtime);
    flaky.up();
    await expect.poll(() => heard.count, patience).toBeGreaterThanOrEqual(1);
    expect(await list(runtime)).toEqual(["carts", "jobs", "jobs/c", "quiet"]);
  });

  it("are left out while the application is away, and announced to who was shown that when it is back", async () => {
    const { runtime, flaky } = serve();
    const heard = listen(runtime);
    await list(runtime);
    flaky.down();
    await expect.poll(() => list(runtime)).toEqual(fixed);
    expect(heard.count).toBe(0);
    flaky.up();
    await expect.poll(() => heard.count, patience).toBe(1);
    expect(await list(runtime)).toEqual(["carts", "jobs", "jobs/a", "jobs/b", "quiet"]);
    await quiet();
    expect(heard.count).toBe(1);
  });

  it("are not announced when the application was away and nobody has missed them", async () => {
    const { runtime, flaky, jobs } = serve();
    const heard = listen(runtime);
    await list(runtime);
    flaky.down();
    await quiet();
    flaky.up();
    await expect.poll(() => flaky.dials, patience).toBeGreaterThan(1);
    await quiet(200);
    expect(heard.count).toBe(0);
    // And it still listens.
    jobs.set(of("a"));
    await expect.poll(() => heard.count, patience).toBe(1);
  });

  it("are announced when the application came back with others", async () => {
    const { runtime, flaky, jobs } = serve();
    const heard = listen(runtime);
    await list(runtime);
    flaky.down();
    jobs.set(of("a"));
    flaky.up();
    await expect.poll(() => heard.count, patience).toBe(1);
    expect(await list(runtime)).toEqual(["carts", "jobs", "jobs/a", "quiet"]);
  });

  it("are announced to each who listens, and to none who has ended that or listens since", async () => {
    const { runtime, jobs } = serve(400);
    const [one, other] = [listen(runtime), listen(runtime)];
    await list(runtime);
    await quiet();
    jobs.set(of("a"));
    await expect.poll(() => [one.count, other.count], patience).toEqual([1, 1]);
    // Within the window: this one is kept back, and is not for who comes after it.
    jobs.set(of("b"));
    await quiet(20);
    other.end();
    const late = listen(runtime);
    await expect.poll(() => one.count, patience).toBe(2);
    expect([other.count, late.count]).toEqual([1, 0]);
  });

  it("are not announced to who has ended that while a notice was kept back", async () => {
    const { runtime, jobs, carts } = serve(400);
    const [one, other] = [listen(runtime), listen(runtime)];
    await list(runtime);
    await quiet();
    jobs.set(of("x"));
    await expect.poll(() => [one.count, other.count], patience).toEqual([1, 1]);
    // Of another collection: known at once, and told when the window of the list ends.
    carts.set(of("x"));
    await quiet(20);
    other.end();
    await expect.poll(() => one.count, patience).toBe(2);
    expect(other.count).toBe(1);
  });

  it("are not watched any more when nobody listens, and again when somebody does", async () => {
    const { runtime, jobs } = serve();
    const first = listen(runtime);
    await list(runtime);
    first.end();
    first.end();
    jobs.set(of("x"));
    await quiet();
    expect(first.count).toBe(0);
    const second = listen(runtime);
    await list(runtime);
    jobs.set(of("y"));
    await expect.poll(() => second.count, patience).toBe(1);
  });

  it("are found by a read that follows a change at once, watched or not", async () => {
    const { runtime, jobs } = serve();
    for (const key of ["one", "two"]) {
      jobs.set(of(key));
      expect(await list(runtime)).toContain(`jobs/${key}`);
    }
    listen(runtime);
    await list(runtime);
    await quiet();
    jobs.set(of("three"));
    await quiet();
    expect(await list(runtime)).toContain("jobs/three");
  });
});

describe("an app without listed items", () => {
  it("has no list that could be watched", () => {
    const still = defineSurface("still", { quiet: mcpResource(collection(numbers)) });
    const runtime = mcp(still)
      .implement({ quiet: cellSource(of("q")) })
      .open();
    opened.push(runtime);
    expect([...runtime.changing]).toEqual([]);
  });
});
