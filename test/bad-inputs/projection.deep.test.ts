import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { envelope } from "../fixtures/envelope.ts";
import { ServerProcess } from "../fixtures/server-process.ts";
import { afterThis, newFolder } from "../links/unix/support.ts";
import { answer, HostilePlant, refuse, tell, type Held } from "./projection/hostile-plant.ts";
import { prepare } from "./send-input.ts";

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("projection/server.ts", import.meta.url), "bad-projection");
});

interface Body {
  readonly result?: {
    readonly contents?: readonly [{ readonly text: string; readonly _meta?: Readonly<Record<string, unknown>> }];
  };
  readonly error?: { readonly code: number; readonly data?: object };
}

interface Shown {
  readonly value: unknown;
  readonly stale: unknown;
}

const fresh = (value: unknown): Shown => ({ value, stale: undefined });
const stale = (reason: string, value: unknown): Shown => ({
  value,
  stale: { reason, since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown },
});
const low = { n: 1, high: false };
const high = { n: 50, high: true };

describe.each(["modern", "legacy-ready"] as const)("a projection, %s, with a hostile upstream", (precondition) => {
  const meta = precondition === "modern" ? { _meta: envelope } : {};
  let server: ServerProcess;
  let plant: HostilePlant;
  let path = "";
  let lastId = 0;

  beforeEach(async () => {
    path = join(await newFolder(), "s");
    plant = new HostilePlant();
    await plant.listen(path);
    afterThis(() => plant.close());
    server = new ServerProcess(script, [path]);
    afterThis(() => server.kill());
    await prepare(server, precondition);
  });

  async function ask(method: string, params: object): Promise<Body> {
    lastId += 1;
    const frame = await server.request({ id: lastId, method, params: { ...params, ...meta } });
    return frame?.message ?? {};
  }

  async function read(uri: string): Promise<Shown | Body> {
    const body = await ask("resources/read", { uri });
    const content = body.result?.contents?.[0];
    if (content === undefined) return body;
    const { text, _meta: told } = content;
    return { value: JSON.parse(text), stale: told?.["surface-mcp/stale"] };
  }

  /** How often it was told that something under a URI has changed. */
  const notices = (): number =>
    server.frames.filter(({ message }) => message["method"] === "notifications/resources/updated").length;
  const faults = (): number => server.marks.length;
  const noticed = async (count: number): Promise<void> => {
    await server.until(() => notices() >= count);
    expect(notices()).toBeGreaterThanOrEqual(count);
  };

  async function watchLevel(): Promise<Held> {
    const uri = "app://level";
    if (precondition === "modern") {
      const params = { notifications: { resourceSubscriptions: [uri] }, ...meta };
      await server.send(JSON.stringify({ jsonrpc: "2.0", id: "listen", method: "subscriptions/listen", params }));
    } else await ask("resources/subscribe", { uri });
    return plant.use("watch", "level");
  }

  /** Watched, with a good value known. */
  async function open(): Promise<Held> {
    const held = await watchLevel();
    await tell(held, { value: { n: 1 } });
    expect(await read("app://level")).toEqual(fresh(low));
    return held;
  }

  function expectNoLeak(): void {
    const sent = server.frames.map(({ line }) => line).join("\n");
    expect(sent).not.toMatch(/s3cr3t|evil|plant/);
    expect(server.noise).toEqual([]);
    expect(server.stderr).not.toMatch(/unhandled|uncaught/i);
  }

  it("waits with a first read, and invents nothing, when it hangs", async () => {
    const reading = read("app://level");
    const held = await plant.use("get", "level");
    expect(await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 300, "waits"))])).toBe("waits");
    answer(held, { value: { n: 50 } });
    expect(await reading).toEqual(fresh(high));
    expectNoLeak();
  });

  it.each([
    ["does not fit its schema", { value: { n: "evil" } }, 2],
    ["is no object", { value: ["evil"] }, 2],
    ["is not there", {}, 2],
    ["is one that its map does not take", { value: { n: 13 } }, 1],
    ["makes what the projection does not allow", { value: { n: 1000 } }, 1],
    ["has a number that is none", { value: { n: null } }, 2],
  ])("keeps the last good value, marked stale, and tells so, when a frame %s", async (...row) => {
    const [, part, stream] = row;
    const held = await open();
    const before = { notices: notices(), faults: faults() };
    await tell(held, part);
    await noticed(before.notices + 1);
    expect(await read("app://level")).toEqual(stale("invalid", low));
    expect(faults()).toBeGreaterThan(before.faults);
    // What breaks upstream's own word ends its stream, which is opened again; what is ours to refuse does not.
    await tell(await plant.use("watch", "level", stream), { value: { n: 50 } });
    await noticed(before.notices + 2);
    expect(await read("app://level")).toEqual(fresh(high));
    expectNoLeak();
  });

  it("keeps the last good value, marked stale, and opens again, when it throws", async () => {
    const held = await open();
    const before = notices();
    refuse(held, { kind: "surface", code: "INTERNAL", correlationId: "evil" });
    await noticed(before + 1);
    expect(await read("app://level")).toEqual(stale("lost", low));
    await tell(await plant.use("watch", "level", 2), { value: { n: 50 } });
    await noticed(before + 2);
    expect(await read("app://level")).toEqual(fresh(high));
    expectNoLeak();
  });

  it("keeps the last good value, marked stale, when it ends", async () => {
    const held = await open();
    const before = notices();
    answer(held, {});
    await noticed(before + 1);
    expect(await read("app://level")).toMatchObject({ value: low, stale: { since: expect.any(String) as unknown } });
    expectNoLeak();
  });

  it("keeps the last good value, marked stale, until it is back, when its connection breaks", async () => {
    await open();
    const before = notices();
    plant.cut();
    await noticed(before + 1);
    expect(await read("app://level")).toEqual(stale("lost", low));
    // It is dialled again, and now it hangs: that is no newer value either.
    const again = await plant.use("watch", "level", 2);
    expect(await read("app://level")).toEqual(stale("lost", low));
    await tell(again, { value: { n: 50 } });
    await noticed(before + 2);
    expect(await read("app://level")).toEqual(fresh(high));
    expectNoLeak();
  });

  it("fails masked when there is no good value yet", async () => {
    const reading = read("app://level");
    answer(await plant.use("get", "level"), { value: { n: "evil" } });
    expect(await reading).toMatchObject({ error: { code: -32_603 } });
    const second = read("app://level");
    answer(await plant.use("get", "level", 2), { value: { n: 13 } });
    expect(await second).toMatchObject({ error: { code: -32_603 } });
    expect(faults()).toBeGreaterThan(0);
    expectNoLeak();
  });

  it("tells of a stale value what it is told when upstream itself says so, whatever it says", async () => {
    const held = await open();
    const since = "2026-01-02T03:04:05.678Z";
    await tell(held, { value: { n: 50 }, stale: { reason: "lost", since } });
    await noticed(notices() + 1);
    expect(await read("app://level")).toEqual({ value: high, stale: { reason: "lost", since } });
    for (const bad of [
      "evil",
      { reason: "evil <b>", since },
      { reason: "lost", since: "evil".repeat(99) },
      [],
      5,
      null,
    ]) {
      const before = notices();
      await tell(held, { value: { n: 1 }, stale: bad });
      await noticed(before + 1);
      expect(await read("app://level")).toMatchObject({ value: low });
      await tell(held, { value: { n: 50 } });
      await noticed(before + 2);
    }
    expectNoLeak();
  });

  it("answers for a call what is true of it when the answer is bad, or never comes", async () => {
    const call = () => ask("tools/call", { name: "act", arguments: {} });
    const bad = call();
    answer(await plant.use("call", "act"), { value: "evil" });
    expect(await bad).toMatchObject({
      result: { isError: true, _meta: { "surface-mcp/error": { code: "INTERNAL" } } },
    });
    const thrown = call();
    refuse(await plant.use("call", "act", 2), {
      kind: "surface",
      code: "s3cr3t",
      issues: [{ path: "evil", message: "evil" }],
    });
    expect(await thrown).toMatchObject({
      result: { isError: true, _meta: { "surface-mcp/error": { code: "INTERNAL" } } },
    });
    const lost = call();
    await plant.use("call", "act", 3);
    plant.cut();
    expect(await lost).toMatchObject({
      result: { isError: true, _meta: { "surface-mcp/error": { code: "OUTCOME_UNKNOWN" } } },
    });
    expect(plant.uses.filter(({ verb }) => verb === "call")).toHaveLength(3);
    expectNoLeak();
  });

  it("refuses a frame of a stream, and ends with it, when that does not fit", async () => {
    const reading = read("app://log/a");
    const held = await plant.use("open", "log");
    await tell(held, { value: { line: 5, evil: "evil" } });
    expect(await reading).toMatchObject({ error: { code: -32_603 } });
    expectNoLeak();
  });

  it("reads the items and keys that fit when others do not", async () => {
    const keys = read("app://rooms");
    answer(await plant.use("keys", "rooms"), { value: [{ value: "a" }, { value: 5 }] });
    expect(await keys).toMatchObject({ error: { code: -32_603 } });
    const good = read("app://rooms");
    answer(await plant.use("keys", "rooms", 2), { value: [{ value: "a" }] });
    expect(await good).toEqual(fresh(["a"]));
    const item = read("app://rooms/a");
    answer(await plant.use("item", "rooms"), { value: { n: 1, evil: "evil" } });
    expect(await item).toEqual(fresh({ n: 1 }));
    const absent = read("app://rooms/b");
    answer(await plant.use("item", "rooms", 2), {});
    expect(await absent).toMatchObject({ error: { code: expect.any(Number) as unknown } });
    expectNoLeak();
  });
});
